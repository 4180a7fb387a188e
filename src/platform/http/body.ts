import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from './problem.ts'

/**
 * Takes JSON bodies on every method, GET included, and treats an empty body, `[]` and `null` as no body, as real clients
 * send them. Anything else that is not JSON is a 415.
 */
export function takeJsonBodies(app: FastifyInstance): void {
  for (const method of ['GET', 'DELETE']) app.addHttpMethod(method, { hasBody: true, overrideExisting: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(/^application\/(.+\+)?json\b/i, { parseAs: 'string' }, parseJson)
  app.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) => {
    if (body.trim() === '') return undefined
    throw new Problem('unsupported_media_type', {})
  })
}

export async function parseJson(_request: FastifyRequest, body: string): Promise<unknown> {
  if (body.trim() === '') return undefined
  try {
    // a byte order mark is no JSON (RFC 8259 §8.1), but receivers may skip it
    return JSON.parse(body.charCodeAt(0) === 0xfeff ? body.slice(1) : body)
  } catch (error) {
    throw new Problem('invalid_json', faultPlace(body, error as Error), { cause: error })
  }
}

function faultPlace(body: string, error: Error): { reason: string; line: number; column: number } {
  const position = Number(/at position (\d+)/.exec(error.message)?.[1] ?? body.length)
  const before = body.slice(0, position).split('\n')
  const reason = error.message.replace(/ in JSON.*$| \(line .*$|,? "?.*is not valid JSON$/s, '').trim()
  return {
    reason: reason || 'unexpected token',
    line: before.length,
    column: (before.at(-1) as string).length + 1,
  }
}

/** What counts as a body: `[]` and `null` are what PHP clients send for none. */
export function bodyOf(request: FastifyRequest): unknown {
  const { body } = request
  return body === undefined || body === null || (Array.isArray(body) && body.length === 0) ? {} : body
}
