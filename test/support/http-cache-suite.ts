/**
 * Runs the suite behind cache-tests.fyi (package `http-cache-tests`) against an edge process with the suite's own
 * origin.
 */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setBaseUrl, setFetch } from 'http-cache-tests/client/config.mjs'
import { makeCacheTest, testResults } from 'http-cache-tests/client/test.mjs'
import handleConfig from 'http-cache-tests/server/handle-config.mjs'
import handleState from 'http-cache-tests/server/handle-state.mjs'
import handleTest from 'http-cache-tests/server/handle-test.mjs'
import { stash } from 'http-cache-tests/server/utils.mjs'
import suites from 'http-cache-tests/tests/index.mjs'
import { startEdgeProcess } from './edge.ts'

/** One of the suite's tests. */
export interface Check {
  readonly id: string
  /** Default `required`. `check` only reports what a cache does. */
  readonly kind?: 'required' | 'optimal' | 'check'
  readonly browser_only?: boolean
}

/** A request as the suite sends it. */
export interface Init {
  readonly method?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
}

export type Handle = (path: string[], request: IncomingMessage, response: ServerResponse) => void

/**
 * All tests that apply to a cache between visitors and a host. Ignores dependencies between tests: each counts
 * separately.
 */
export const checks: readonly Check[] = suites.flatMap(({ tests }) => tests).filter((check) => !check.browser_only)

/** The most tests at once: lifetimes in the suite are two seconds, which a busy machine must not use up. */
const AT_ONCE = 100
const handlers: Record<string, Handle> = { config: handleConfig, state: handleState, test: handleTest }
/**
 * Headers that identify the suite's requests. Visitors do not send them, and the edge would treat them as significant.
 */
const OF_THE_SUITE = new Set(['test-id', 'test-name', 'req-num'])

/** @returns reasons of failures, by test ID */
export async function runChecks(chosen: readonly Check[]): Promise<Map<string, string>> {
  /** The client's current request number of each test, by its UUID. */
  const numbers = new Map<string, string>()
  // one site per test: what an edge learns from one site's responses must not affect the next test
  const names = chosen.map((_check, index) => `t${index}`)
  const edge = await startEdgeProcess(names, originOf(numbers), { STEAD_LOG_LEVEL: 'error' })
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  setFetch(fetchThrough(edge.port, agent, numbers, names))
  setBaseUrl('')
  try {
    for (let from = 0; from < chosen.length; from += AT_ONCE)
      await Promise.all(chosen.slice(from, from + AT_ONCE).map(runCheck))
  } finally {
    agent.destroy()
    await edge.stop()
  }
  const failed = chosen.filter(({ id }) => testResults[id] !== true)
  return new Map(failed.map(({ id }) => [id, String(testResults[id])]))
}

function runCheck(check: Check): Promise<void> {
  delete testResults[check.id]
  return makeCacheTest(structuredClone(check))
}

/**
 * The suite's origin. It learns out of band which request of the client it answers, because the edge drops headers of
 * visitors.
 */
const originOf = (numbers: ReadonlyMap<string, string>) => (message: IncomingMessage, response: ServerResponse) => {
  const [kind = '', ...path] = new URL(message.url as string, 'http://origin').pathname.slice(1).split('/')
  const uuid = path[0] as string
  const number = numbers.get(uuid)
  if (kind === 'test' && number) {
    message.headers['req-num'] = number
    forgetFirstAsk(uuid, Number(number))
  }
  handlers[kind]?.(path, message, response)
}

/**
 * The edge first sends a shareable request; if the response cannot be shared, it asks again for the visitor. The
 * discarded response does not count.
 */
function forgetFirstAsk(uuid: string, number: number): void {
  const state = stash.get(uuid)
  if (state?.at(-1)?.request_num === number) state.pop()
}

/** A `fetch` that follows no redirects, adds nothing, and sends all requests of one test to one site. */
function fetchThrough(port: number, agent: Agent, numbers: Map<string, string>, names: string[]) {
  const hosts = new Map<string, string>()
  return async (url: string, { method = 'GET', headers = [], body }: Init = {}) => {
    const uuid = /^\/\w+\/([\w-]+)/.exec(url)?.[1] as string
    if (!hosts.has(uuid)) hosts.set(uuid, `${names.pop()}.localhost`)
    const number = headers.find(([name]) => name.toLowerCase() === 'req-num')?.[1]
    if (number) numbers.set(uuid, number)
    const own = headers.filter(([name]) => !OF_THE_SUITE.has(name.toLowerCase()))
    const flat = ['host', hosts.get(uuid) as string, ...own.flat()]
    if (body !== undefined) flat.push('content-length', String(Buffer.byteLength(body)))
    const sent = request({ port, host: '127.0.0.1', path: url, method, headers: flat, agent })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    // read at once: the suite leaves some bodies unread, and each would hold a connection
    const whole = await text(response)
    return {
      status: response.statusCode,
      statusText: response.statusMessage,
      headers: readHeaders(response.rawHeaders),
      text: async () => whole,
    }
  }
}

function readHeaders(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i] as string, raw[i + 1] as string)
  return headers
}
