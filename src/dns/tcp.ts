import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { addressKey } from '../platform/budgets/address-key.ts'
import type { Budget } from '../platform/budgets/budget.ts'
import type { Responder } from './responder.ts'

/** RFC 7766 §6.2.3: a client may keep its connection for further questions, but not idle. */
const IDLE_MS = 10_000
/** The longest question, signed or not. */
const MOST_QUESTION_BYTES = 4096
const LENGTH_BYTES = 2
/** After this many answers to questions that arrived together, other clients get a turn. */
const ANSWERS_IN_A_ROW = 64

export interface TcpOptions {
  readonly responder: Responder
  readonly connections: Budget
  readonly idleMs?: number
}

export interface TcpServer {
  readonly server: Server
  /** Accepts no further connections, and ends the existing ones. */
  close(): Promise<void>
}

/** Answers messages over TCP (RFC 7766), any number per connection, one after the other. */
export function createTcp({ responder, connections, idleMs = IDLE_MS }: TcpOptions): TcpServer {
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const address = socket.remoteAddress
    const share = connections.share(addressKey(address ?? ''))
    socket.on('error', () => {})
    if (address === undefined || !share.take(1)) {
      socket.destroy()
      return
    }
    open.add(socket)
    // RFC 7766 §6.2.4: closes connections without a complete message in either direction for this long.
    const deadline = setTimeout(() => socket.destroy(), idleMs)
    socket.once('close', () => {
      clearTimeout(deadline)
      open.delete(socket)
      share.free()
    })
    converse(socket, responder, () => deadline.refresh()).then(
      () => socket.end(),
      () => socket.destroy(),
    )
  })
  return {
    server,
    async close() {
      const closed = server.listening ? once(server, 'close') : undefined
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** @param progressed called when a whole message was read or sent */
async function converse(socket: Socket, responder: Responder, progressed: () => void): Promise<void> {
  const client = { address: socket.remoteAddress as string, transport: 'tcp' as const }
  let rest: Buffer = Buffer.alloc(0)
  // Answers must still reach a client that has ended its side.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer])
    let answered = 0
    for (;;) {
      const message = firstOf(rest)
      if (!message) break
      rest = rest.subarray(LENGTH_BYTES + message.length)
      progressed()
      const reply = responder.respond(message, client)
      if (reply === undefined) continue
      for await (const each of Buffer.isBuffer(reply) ? [reply] : reply) await send(socket, each, progressed)
      if (++answered % ANSWERS_IN_A_ROW === 0) await new Promise(setImmediate)
    }
  }
}

/**
 * Returns the first message, if it is complete.
 * @throws RangeError when it is too long for a question
 */
function firstOf(bytes: Buffer): Buffer | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined
  const length = bytes.readUInt16BE(0)
  if (length > MOST_QUESTION_BYTES) throw new RangeError('too long for a question')
  return bytes.length < LENGTH_BYTES + length ? undefined : bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length)
}

/** Resolves when there is room for the next message. */
async function send(socket: Socket, message: Buffer, progressed: () => void): Promise<void> {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16BE(message.length)
  if (socket.destroyed) throw new Error('the connection is gone')
  if (socket.write(Buffer.concat([length, message]))) return
  const gone = new AbortController()
  const onClose = () => gone.abort()
  socket.once('close', onClose)
  try {
    await once(socket, 'drain', { signal: gone.signal })
  } finally {
    socket.off('close', onClose)
  }
  progressed()
}
