import type { Socket } from 'node:net'

/** The server does not answer: it is stopped, its machine is gone, or a firewall drops packets silently. */
export class DatabaseSilent extends Error {
  override readonly name = 'DatabaseSilent'
  readonly code = 'ETIMEDOUT'

  constructor() {
    super('The database does not respond')
  }
}

/** Returns whether an error means that nothing came back: no answer, and no refusal either. */
export const isSilence = (error: unknown): boolean =>
  /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test((error as { code?: string }).code ?? '')

interface Server {
  readonly sockets: Set<Socket>
  isSilent: boolean
}

/** The open sockets of this process, by the URL of the database. */
const servers = new Map<string, Server>()

function serverOf(url: string): Server {
  let server = servers.get(url)
  if (!server) {
    server = { sockets: new Set(), isSilent: false }
    servers.set(url, server)
  }
  return server
}

function forgetUnused(url: string, { sockets, isSilent: silent }: Server): void {
  if (sockets.size === 0 && !silent) servers.delete(url)
}

/** Registers the socket, which is closed when its server falls silent. */
export function watchSocket(url: string, socket: Socket): void {
  const server = serverOf(url)
  server.sockets.add(socket)
  socket.once('close', () => {
    server.sockets.delete(socket)
    forgetUnused(url, server)
  })
}

/** Returns whether a server does not answer, so that a new connection would wait for nothing. */
export const isSilent = (url: string): boolean => servers.get(url)?.isSilent === true

/** Fails every statement that waits for the server, and every later one until {@link endSilence}. */
export function beginSilence(url: string): void {
  const server = serverOf(url)
  server.isSilent = true
  for (const socket of server.sockets) socket.destroy(new DatabaseSilent())
}

export function endSilence(url: string): void {
  const server = servers.get(url)
  if (!server) return
  server.isSilent = false
  forgetUnused(url, server)
}

const TICK_MS = 500
/** The server is queried every second… */
const TICKS_BETWEEN = 2
/** …and has three seconds to answer. So every caller learns within five seconds that the database is away. */
const TICKS_UNTIL_SILENT = 6

/** The longest time until {@link heartbeat} notices that a server has fallen silent. */
export const NOTICED_MS = (TICKS_BETWEEN + TICKS_UNTIL_SILENT) * TICK_MS

/**
 * Queries a server from time to time to check that it responds. Time is counted in turns of this process. If the
 * process itself was stopped or starved, it does not take the server for silent, because it reads the answer in its
 * first turn.
 * @param onSilent called once; no more queries follow
 * @returns a function that stops it
 */
export function heartbeat(ask: () => Promise<unknown>, onSilent: () => void): () => void {
  let isAsking = false
  let ticks = 0
  const timer = setInterval(() => {
    ticks++
    if (isAsking) {
      if (ticks < TICKS_UNTIL_SILENT) return
      clearInterval(timer)
      onSilent()
      return
    }
    if (ticks < TICKS_BETWEEN) return
    ticks = 0
    isAsking = true
    const answered = () => {
      isAsking = false
      ticks = 0
    }
    // A lost connection reports itself.
    ask().then(answered, () => clearInterval(timer))
  }, TICK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
