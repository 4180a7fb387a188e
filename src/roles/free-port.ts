import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { ListenAddress } from '../config.ts'

/** A predecessor whose supervisor died closes its ports at once, before it finishes what is under way. */
const PREDECESSOR_CLOSES_MS = 3000
const RETRY_MS = 100

const reasons: Record<string, string> = {
  EADDRINUSE: 'is in use by another program',
  EACCES: 'may not be used by this user (ports below 1024 need a right of their own)',
  EADDRNOTAVAIL: 'is no address of this machine',
}

/** An address on which nobody can listen as the settings stand. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

/**
 * Resolves when a part can listen on its address.
 * @param variable the setting to change, for the message
 * @throws CannotListen
 */
export async function untilFree({ host, port }: ListenAddress, variable: string): Promise<void> {
  const giveUpAt = performance.now() + PREDECESSOR_CLOSES_MS
  for (;;) {
    const code = await tryToListen(host, port)
    if (!code) return
    if (code !== 'EADDRINUSE' || performance.now() > giveUpAt) {
      const reason = reasons[code] ?? `cannot be listened on (${code})`
      throw new CannotListen(`${host}:${port} ${reason}. Choose another with ${variable}.`)
    }
    await pause(RETRY_MS)
  }
}

/** @returns the code of what is in the way, if anything */
async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  } finally {
    if (server.listening) {
      server.close()
      await once(server, 'close')
    }
  }
}
