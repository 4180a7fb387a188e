import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface LoadOptions {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: 'GET' | 'POST'
  /** Bearer tokens that the requests of the run use in turn. */
  readonly tokens?: readonly string[]
  /** `#` in it becomes a number that no other request of the run has. */
  readonly body?: string
  /** A script for wrk that replaces all this. */
  readonly script?: string
  readonly seconds: number
  readonly connections: number
}

/**
 * Loads an address on this machine for a bounded time with Debian's wrk. It is a separate process, so that the load
 * does not share the server's thread.
 * @returns answers a second
 * @throws when an answer was not 2xx or 3xx, or wrk is not installed
 */
export async function requestsPerSecond(options: LoadOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-bench-'))
  try {
    const script = join(folder, 'load.lua')
    await writeFile(script, options.script ?? luaScript(options))
    const { stdout } = await run('wrk', [
      '-t1',
      `-c${options.connections}`,
      `-d${options.seconds}s`,
      '-s',
      script,
      options.url,
    ])
    if (/Non-2xx/.test(stdout)) throw new Error(`${options.url}: ${stdout}`)
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  } finally {
    await rm(folder, { recursive: true })
  }
}

function luaScript({ method = 'GET', headers = {}, tokens = [], body }: LoadOptions): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  )
  if (body === undefined) return [`wrk.method = "${method}"`, ...lines].join('\n')
  return [
    ...lines,
    `local n, prefix = 0, "${Date.now().toString(36)}"`,
    `local tokens = {${tokens.map((token) => JSON.stringify(token)).join(', ')}}`,
    'request = function()',
    '  n = n + 1',
    '  if #tokens > 0 then wrk.headers["authorization"] = "Bearer " .. tokens[n % #tokens + 1] end',
    `  local body = string.gsub(${JSON.stringify(body)}, "#", prefix .. n)`,
    `  return wrk.format("${method}", nil, nil, body)`,
    'end',
  ].join('\n')
}
