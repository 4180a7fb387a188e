import { ApiError, ConnectionError, OperationFailed, type Stead } from '../../sdk/index.ts'
import { type ApiTool, type Arguments, CONFIRM } from './tools.ts'

type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

/** The result of a tool: https://modelcontextprotocol.io/specification/2025-06-18/server/tools#tool-result */
export interface ToolResult {
  [key: string]: unknown
  readonly content: Content[]
  readonly isError?: boolean
}

/** The longest answer, because a model has to read all of it. */
const MOST_CHARACTERS = 60_000
/** The largest picture. */
const MOST_BYTES = 2 << 20

/**
 * Characters that a model reads and a person does not see: Unicode's tags, zero-width characters, and those that change
 * the direction.
 */
const UNSEEN = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]|\p{Variation_Selector}/gu

/** Escapes invisible characters as JSON does, so that no instructions can hide in a name. */
const visible = (text: string): string =>
  text.replace(UNSEEN, (each) =>
    Array.from({ length: each.length }, (_, at) => `\\u${each.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )

export const says = (text: string): ToolResult => ({ content: [{ type: 'text', text }] })
export const refuses = (text: string): ToolResult => ({ ...says(visible(text)), isError: true })

/** Runs a tool. A refusal of the API is a result as well, because the caller can correct the request. */
export async function callTool(stead: Stead, tool: ApiTool, args: Arguments, signal: AbortSignal): Promise<ToolResult> {
  const fault = faultOf(tool, args)
  if (fault) return refuses(fault)
  const given = (place: 'path' | 'query' | 'body') =>
    Object.fromEntries(
      tool.fields
        .filter((field) => field.in === place && args[field.name] !== undefined)
        .map(({ name }) => [name, args[name]]),
    )
  const { command } = tool
  const params = { path: given('path'), query: given('query') }
  try {
    const unsure = await notConfirmed(stead, tool, args, signal)
    if (unsure) return refuses(unsure)
    if (command.answers === 'file') return await fileAnswer(stead, tool, params, signal)
    const init = { params, ...(command.hasBody && { body: given('body') }), signal }
    const { data, page, operationId, ignored } = await stead.call(command.method, command.path, init)
    return says(textOf(data, { operation_id: operationId, page, ignored: ignored ?? undefined }))
  } catch (error) {
    return refusal(error)
  }
}

/**
 * Describes an error of the API.
 * @throws errors of this program
 */
export function refusal(error: unknown): ToolResult {
  if (error instanceof ApiError) {
    const { errors, code, status, requestId, retryAfterSeconds } = error
    const after = retryAfterSeconds ? ` Try again in ${retryAfterSeconds} s.` : ''
    const about = [`status ${status}`, `code ${code}`, ...(requestId ? [`request ${requestId}`] : [])].join(', ')
    return refuses(`${errors.join('\n')}${after}\n(${about})`)
  }
  if (error instanceof OperationFailed) return refuses(JSON.stringify(error.operation))
  if (error instanceof ConnectionError) return refuses(`${error.message} Check that Stead runs there.`)
  throw error
}

/** Returns the answer as JSON. Of a list that is too long, it keeps the first entries and reports the rest. */
export function textOf(data: unknown, about: Readonly<Record<string, unknown>>): string {
  const text = (value: unknown, more: object = {}) => visible(JSON.stringify({ data: value, ...about, ...more }))
  const all = text(data)
  if (all.length <= MOST_CHARACTERS) return all
  if (Array.isArray(data)) {
    const kept: unknown[] = []
    for (let length = 0; kept.length < data.length; ) {
      length += visible(JSON.stringify(data[kept.length])).length + 1
      if (length > MOST_CHARACTERS) break
      kept.push(data[kept.length])
    }
    const left = data.length - kept.length
    if (kept.length > 0)
      return text(kept, { left_out: `${left} more entries. Request a page (per_page, page) or one entry` })
  }
  return `${all.slice(0, MOST_CHARACTERS)}… (${all.length - MOST_CHARACTERS} characters omitted, so this is not complete JSON)`
}

/** Refuses parameters that the API would ignore, so that a misspelled name does not go unnoticed. */
function faultOf({ fields, inputSchema }: ApiTool, args: Arguments): string | undefined {
  const known = Object.keys(inputSchema.properties)
  const unknown = Object.keys(args).filter((name) => !known.includes(name))
  if (unknown.length > 0) return `Unknown parameters: ${unknown.join(', ')}. Available: ${known.join(', ') || 'none'}`
  const missing = inputSchema.required.filter((name) => args[name] === undefined)
  if (missing.length > 0) return `Needed: ${missing.join(', ')}`
  const inPath = fields.filter((field) => field.in === 'path').map(({ name }) => name)
  const odd = inPath.filter((name) => !['string', 'number'].includes(typeof args[name]) || args[name] === '')
  return odd.length > 0 ? `${odd.join(', ')}: must be a number or text` : undefined
}

/** @returns the reason to refuse, if the name of the site was not confirmed */
async function notConfirmed(
  stead: Stead,
  { losers }: ApiTool,
  args: Arguments,
  signal: AbortSignal,
): Promise<string | undefined> {
  const site = await losers?.(stead, args, signal)
  if (site === undefined || site === null) return undefined
  const said = args[CONFIRM]
  const ids = Array.isArray(site) ? site : [site]
  const names = Array.isArray(site) ? (Array.isArray(said) ? said : []) : [said]
  for (const [index, id] of ids.entries()) {
    const { data } = await stead.get('/v1/sites/{id}', { params: { path: { id: Number(id) } }, signal })
    if (names[index] !== data.name)
      return `Nothing was changed: ${CONFIRM} must be the name of the site ${id}. Ask your user.`
  }
  return names.length === ids.length ? undefined : `Nothing was changed: ${CONFIRM} contains more names than sites.`
}

/** Returns a picture as it is. Anything larger is left on the server. */
async function fileAnswer(
  stead: Stead,
  { command }: ApiTool,
  params: { path: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
): Promise<ToolResult> {
  const at = command.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params.path[name])))
  const leave = new AbortController()
  const response = await stead.download(
    command.path as never,
    { params, signal: AbortSignal.any([signal, leave.signal]) } as never,
  )
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  const length = Number(response.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  if (type.startsWith('image/') && length <= MOST_BYTES) {
    const data = Buffer.from(await response.arrayBuffer()).toString('base64')
    return { content: [{ type: 'image', data, mimeType: type }] }
  }
  leave.abort()
  const words = command.words.filter((field) => field.in === 'path').map(({ name }) => params.path[name])
  return says(
    JSON.stringify({
      path: at,
      type,
      bytes: Number.isFinite(length) ? length : null,
      how: `Send GET with the bearer token of the API, or run stead ${command.name} ${words.join(' ')} --output=FILE`,
    }),
  )
}
