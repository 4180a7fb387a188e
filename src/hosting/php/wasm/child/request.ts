import type { RequestHead } from '../frames.ts'
import { credentialEntries, joinHeaders, portOf, queryString, serverEntries } from '../server-variables.ts'
import type { Php } from './loader.ts'
import type { Output } from './php-output.ts'

/**
 * A request body in PHP's own memory. Each chunk is put there as it arrives, because PHP wants the body in one piece.
 */
export interface HeldBody {
  add(chunk: Buffer): void
  readonly pointer: number
}

/** @throws when PHP's memory cannot hold `bytes` */
export function holdBody(php: Php, bytes: number): HeldBody {
  const pointer = php.malloc(bytes + 1)
  if (!pointer) throw new Error('no memory for the request body')
  let used = 0
  return {
    pointer,
    add(chunk) {
      php.HEAPU8.set(chunk.subarray(0, bytes - used), pointer + used)
      used = Math.min(bytes, used + chunk.length)
    },
  }
}

/**
 * Runs one PHP script for one request. Output goes to `output` as it is printed.
 * @returns PHP's exit code
 * @throws when the WebAssembly instance itself failed: it cannot be used again
 */
export async function runScript(php: Php, head: RequestHead, body: HeldBody | null, output: Output): Promise<number> {
  php.onHeaders = (chunk) => output.headers(chunk)
  php.onStdout = (chunk) => output.body(chunk)
  php.onStderr = () => {}
  const openBefore = new Set(php.FS.streams)
  describe(php, head, body)
  try {
    return Number(await php.ccall('wasm_sapi_handle_request', 'number', [], [], { async: true }))
  } catch (error) {
    if ((error as Error)?.name === 'ExitStatus') return (error as unknown as { status: number }).status
    throw error
  } finally {
    if (body) php.free(body.pointer)
    closeOutput(php, openBefore)
  }
}

/**
 * Closes PHP's output and errors, which php-wasm opens again for each request. It leaves two of 4,096 descriptors open.
 * The 2,046th request of a process was an empty page with status 500, and PHP aborted soon after.
 */
function closeOutput(php: Php, openBefore: ReadonlySet<unknown>): void {
  for (const stream of php.FS.streams)
    if (stream?.path.startsWith('/request/') && !openBefore.has(stream)) php.FS.close(stream)
}

function describe(php: Php, head: RequestHead, body: HeldBody | null): void {
  const text = (name: string, value: string) => php.ccall(name, null, ['string'], [value])
  const number = (name: string, value: number) => php.ccall(name, null, ['number'], [value])
  const headers = joinHeaders(head.headers)
  text('wasm_set_request_uri', head.path)
  text('wasm_set_query_string', queryString(head))
  text('wasm_set_request_method', head.method)
  text('wasm_set_request_host', head.host)
  number('wasm_set_request_port', portOf(head))
  // Always set, even if empty, so that nothing of the previous request remains.
  text('wasm_set_cookies', headers.get('cookie') ?? '')
  const type = headers.get('content-type')
  if (type !== undefined) text('wasm_set_content_type', type)
  if (body) number('wasm_set_request_body', body.pointer)
  number('wasm_set_content_length', head.bodyBytes)
  text('wasm_set_path_translated', head.script)
  const entries = [...serverEntries(head, headers), ...credentialEntries(headers.get('authorization'))]
  for (const [name, value] of entries) php.ccall('wasm_add_SERVER_entry', null, ['string', 'string'], [name, value])
}
