import type { FastifyInstance, FastifyRequest } from 'fastify'
import { httpProblems, Problem } from '../problem.ts'

/**
 * Accepts JSON bodies on every method, GET included. Like real clients, it treats an empty body, `[]` and `null` as no
 * body. Anything else that is not JSON is a 415.
 */
export function takeJsonBodies(app: FastifyInstance): void {
  for (const method of ['GET', 'DELETE']) app.addHttpMethod(method, { hasBody: true, overrideExisting: true })
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const {
      'content-encoding': coding = 'identity',
      'content-length': length,
      'transfer-encoding': transfer,
    } = request.headers
    const hasBody = transfer !== undefined || Number(length ?? 0) > 0
    if (!hasBody || coding.trim().toLowerCase() === 'identity') return done()
    // See RFC 9110 §12.5.3.
    done(new Problem(httpProblems.unsupported_media_type, {}, { headers: { 'accept-encoding': 'identity' } }))
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(/^application\/(.+\+)?json\b/i, { parseAs: 'string' }, parseJson)
  app.addContentTypeParser('*', { parseAs: 'string' }, async (request: FastifyRequest, body: string) => {
    if (body.trim() === '' || request.routeOptions.config.takesAnyBody) return undefined
    throw new Problem(httpProblems.unsupported_media_type, {})
  })
}

export async function parseJson(request: FastifyRequest, body: string): Promise<unknown> {
  if (body.trim() === '') return undefined
  try {
    // JSON must not begin with a byte order mark (RFC 8259 §8.1), but receivers may skip one.
    return JSON.parse(body.charCodeAt(0) === 0xfeff ? body.slice(1) : body)
  } catch (error) {
    if (request.routeOptions.config.takesAnyBody) return undefined
    throw new Problem(httpProblems.invalid_json, faultPlace(body, error as Error), { cause: error })
  }
}

function faultPlace(body: string, { message }: Error): { reason: string; line: number; column: number } {
  const before = body.slice(0, faultPosition(body, message)).split('\n')
  const reason = message.replace(/ in JSON at position.*$| \(line .*$|, (\.\.\.)?".*is not valid JSON$/s, '')
  return { reason, line: before.length, column: (before.at(-1) as string).length + 1 }
}

/** How many characters V8 quotes on each side of an unexpected token, whose position it does not report. */
const QUOTED = 10

function faultPosition(body: string, message: string): number {
  const said = /at position (\d+)/.exec(message)?.[1]
  if (said) return Number(said)
  const [, before, quoted = ''] =
    /^Unexpected token .*?, (\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON$/s.exec(message) ?? []
  if (before) return body.indexOf(quoted) + QUOTED
  if (quoted && quoted.length < body.length) return quoted.length - QUOTED
  // V8 quotes a short body in full.
  for (let length = 1; quoted && length <= body.length; length++)
    if (isUnexpectedAtEnd(body.slice(0, length))) return length - 1
  return body.length
}

function isUnexpectedAtEnd(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token')
  }
}

/** Returns the effective body. PHP clients send `[]` and `null` for no body. */
export function bodyOf(request: FastifyRequest): unknown {
  const { body } = request
  return body === undefined || body === null || (Array.isArray(body) && body.length === 0) ? {} : body
}
