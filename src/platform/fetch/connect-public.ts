import { connect, type Socket } from 'node:net'
import { lookupPublic } from './addresses.ts'
import { FetchTimedOut, fetchErrorFrom } from './fetch-errors.ts'

export interface ConnectOptions {
  /** See `FetchOptions`. */
  readonly allowPrivate: boolean
  /** The time limit for each address of the name. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Limits the time of a connection attempt to a name with many addresses. */
const MOST_ADDRESSES = 4

/**
 * Connects to a machine that a user named. Connects only to public addresses, as `fetchPublic` does.
 * @throws FetchRefused, FetchFailed, FetchTimedOut; the signal's reason
 */
export async function connectPublic(host: string, port: number, options: ConnectOptions): Promise<Socket> {
  const place = `${host}:${port}`
  let fault: unknown
  try {
    const addresses = await lookupPublic(host, options)
    for (const { address } of addresses.slice(0, MOST_ADDRESSES)) {
      options.signal.throwIfAborted()
      try {
        return await connected(address, port, place, options)
      } catch (error) {
        fault ??= error
      }
    }
  } catch (error) {
    fault ??= error
  }
  options.signal.throwIfAborted()
  throw fetchErrorFrom(fault, place)
}

function connected(address: string, port: number, place: string, options: ConnectOptions): Promise<Socket> {
  const { timeoutMs, signal } = options
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true })
    const end = (error: unknown) => {
      socket.destroy()
      reject(error)
    }
    const stop = () => end(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    socket.setTimeout(timeoutMs, () => end(new FetchTimedOut(`${place}: the server did not respond in time`)))
    socket.once('error', end)
    socket.once('connect', () => {
      signal.removeEventListener('abort', stop)
      socket.setTimeout(0).removeAllListeners('timeout').off('error', end)
      resolve(socket)
    })
  })
}
