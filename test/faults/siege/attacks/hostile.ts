/**
 * Building blocks of attacks: connections from many addresses of the loopback network, at a rate that leaves the
 * machine its cores.
 */
import { type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Target } from './attack.ts'

/** The attackers' addresses: as many as a small botnet has, without the measurer's address (127.0.0.1). */
const addressOf = (number: number): string => `127.66.${1 + (Math.floor(number / 8) % 200)}.${1 + (number % 8)}`

/** Counts of attempts: a siege in which nobody attacked would stay within every limit. */
export const tried = { connections: 0, requests: 0, calls: 0 }

/** Waits. Ends early, without an error, with the signal. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal }).catch(() => {})

/** Calls `each` at the given rate, with at most `most` calls in flight. */
export async function atRate(
  perSecond: number,
  most: number,
  signal: AbortSignal,
  each: (n: number) => Promise<unknown>,
): Promise<void> {
  let open = 0
  for (let n = 0; !signal.aborted; n++) {
    if (open < most) {
      open++
      each(n)
        .catch(() => {})
        .finally(() => open--)
    }
    await pause(1000 / perSecond, signal)
  }
}

/** Keeps this many connections open with `hold`. Opens a closed one again after a second. */
export async function keepOpen(
  count: number,
  signal: AbortSignal,
  hold: (n: number) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      // spread out over time
      await pause(n * 20, signal)
      while (!signal.aborted) {
        await hold(n).catch(() => {})
        await pause(1000, signal)
      }
    }),
  )
}

/** Opens a connection to the edge. @param n selects its address */
export async function hostileSocket({ edgePort }: Target, n: number, signal: AbortSignal): Promise<Socket> {
  tried.connections++
  const socket = connect({ host: '127.0.0.1', port: edgePort, localAddress: addressOf(n) })
  socket.on('error', () => {})
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('close', () => reject(new Error('closed')))
  })
  return socket
}

export const untilClosed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())))

export interface HostileRequest {
  readonly host: string
  readonly path: string
  readonly n: number
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The part of the response that is read. */
  readonly mostBytes?: number
  readonly timeoutMs?: number
}

/** Sends one request to the edge and discards its response. @returns its status, 0 without one */
export function hostileRequest(target: Target, asked: HostileRequest, signal: AbortSignal): Promise<number> {
  tried.requests++
  const { host, path, n, method = 'GET', headers = {}, mostBytes = 1 << 20, timeoutMs = 70_000 } = asked
  return new Promise((resolve) => {
    const sent = request({
      host: '127.0.0.1',
      port: target.edgePort,
      localAddress: addressOf(n),
      path,
      method,
      headers: { host: `${host}:${target.edgePort}`, ...headers },
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    sent.on('error', () => resolve(0))
    sent.on('response', (response: IncomingMessage) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > mostBytes) response.destroy()
      })
      response.on('error', () => {})
      response.on('close', () => resolve(response.statusCode ?? 0))
    })
    sent.end()
  })
}

/** Calls the API with the hostile token, whatever the result. */
export async function hostileCall(
  target: Target,
  method: string,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<number> {
  tried.calls++
  const response = await fetch(`${target.apiUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${target.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(30_000)]),
  })
  await response.arrayBuffer()
  return response.status
}

/** The host name of a hostile site. Any number maps to one of the eight. */
export const siteOf = (target: Target, site: number): string => target.sites[site % target.sites.length]?.host as string
