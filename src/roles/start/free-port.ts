import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config, ListenAddress } from '../../config.ts'
import { lockFile, type Unlock } from '../../platform/files/lock-file.ts'
import type { Log } from '../../platform/log/log.ts'
import { OperatorError } from '../../platform/operator-error.ts'

/** A predecessor whose supervisor died closes its ports at once, before it finishes its work. */
const PREDECESSOR_CLOSES_MS = 3000
/** A paused predecessor (SIGSTOP, a machine that swaps) closes them when it resumes. */
const PREDECESSOR_STANDS_MS = 40_000
const RETRY_MS = 100

const reasons: Record<string, string> = {
  EADDRINUSE: 'is in use by another program',
  EACCES: 'is not allowed for this user (ports below 1024 require a special permission)',
  EADDRNOTAVAIL: 'is not an address of this server',
}

/** An address on which it is impossible to listen with the current settings. */
export class CannotListen extends OperatorError {
  override readonly name = 'CannotListen'
}

/**
 * Resolves when a role can listen on its address.
 * @param variable the setting to change, for the message
 * @throws CannotListen
 */
export async function untilFree({ host, port, ipv6Only = false }: Listening, variable: string): Promise<void> {
  const giveUpAt = performance.now() + PREDECESSOR_CLOSES_MS
  for (;;) {
    const code = await tryToListen({ host, port, ipv6Only })
    if (!code) return
    if (code !== 'EADDRINUSE' || performance.now() > giveUpAt) throw cannotListen({ host, port }, code, variable)
    await pause(RETRY_MS)
  }
}

/**
 * Returns why it is impossible to listen on an address now.
 * @param variable the setting to change
 */
export async function portFault(address: ListenAddress, variable: string): Promise<CannotListen | undefined> {
  const code = await tryToListen(address)
  return code === undefined ? undefined : cannotListen(address, code, variable)
}

/** Returns the lock that is held as long as `stead serve` runs on a data folder. */
export const serveLock = (dataDir: string): string => join(dataDir, 'serve.lock')

/** The time for which `stead doctor` holds the lock at most, to see whether it is free. */
export const GLANCE_MS = 300

const portsLock = (dataDir: string) => join(dataDir, 'ports.lock')

/**
 * Takes the lock that a supervised process holds as long as it may listen. The successor of its supervisor waits for
 * it.
 */
export const holdPorts = (dataDir: string): Promise<Unlock | undefined> =>
  lockFile(portsLock(dataDir), { shared: true, patienceMs: PREDECESSOR_CLOSES_MS })

/**
 * Resolves when no process of a killed supervisor listens any longer.
 * @throws OperatorError
 */
export async function untilPredecessorsListenNoMore(dataDir: string, log: Log): Promise<void> {
  const file = portsLock(dataDir)
  let unlock = await lockFile(file)
  if (!unlock) {
    log.warn('waiting for processes of a killed Stead on this data folder to end')
    unlock = await lockFile(file, { patienceMs: PREDECESSOR_STANDS_MS })
  }
  if (!unlock)
    throw new OperatorError(
      `Processes of a killed Stead still run on this data folder and block their ports: ${dataDir}\n` +
        `They do not stop automatically. Stop them (fuser -v ${file} lists them), then start Stead again.`,
    )
  unlock()
}

/** The address on which a server listens. With `ipv6Only`, another server may use the same port for IPv4. */
type Listening = ListenAddress & { readonly ipv6Only?: boolean }

/**
 * Makes a server listen on an address that no other process may have.
 * @throws CannotListen
 */
export async function listenAlone(server: Server, address: Listening, variable: string): Promise<void> {
  await untilFree(address, variable)
  const listening = once(server, 'listening')
  server.listen(address)
  await listening
}

/**
 * Makes a server listen on an address that several processes share (SO_REUSEPORT). The system gives each new connection
 * to one of them. Does not test the address first, because the test would receive connections too.
 * @throws CannotListen
 */
export async function listenTogether(server: Server, address: Listening, variable: string): Promise<void> {
  const listening = once(server, 'listening')
  server.listen({ ...address, reusePort: true })
  await listening.catch((error) => {
    throw cannotListen(address, error.code ?? 'unknown', variable)
  })
}

/** @param code the system's error code */
export function cannotListen({ host, port }: ListenAddress, code: string, variable: string): CannotListen {
  const reason = reasons[code] ?? `cannot be used (${code})`
  return new CannotListen(`${host}:${port} ${reason}. Choose another with ${variable}.`)
}

/**
 * Returns the number of edges that run here: one if they cannot share an address (a port that the system chooses, a
 * system other than Linux).
 */
export const edgeProcesses = ({ edgeProcesses: wanted, edgeListen, edgeTlsListen }: Config): number =>
  edgeListen.port === 0 || (edgeTlsListen !== 'off' && edgeTlsListen.port === 0) || process.platform !== 'linux'
    ? 1
    : wanted

/** Returns the number of name servers that run here, by the same rules as for edges. */
export const dnsProcesses = ({ dnsProcesses: wanted, dnsListen }: Config): number => {
  if (dnsListen === 'off') return 0
  return dnsListen.some(({ port }) => port === 0) || process.platform !== 'linux' ? 1 : wanted
}

/** @returns the error code of the obstacle, if any */
async function tryToListen(address: Listening): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen(address)
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
