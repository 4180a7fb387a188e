import { chmod } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'

const lengthBytes = 4
/** The longest message of a site. */
const mostTextBytes = 1 << 18
/** Each request of a site sends one message at a time. */
const mostConnections = 16
/** Time limit for sending the message. The answer has none. */
const sayingMs = 10_000
/** Messages with this prefix are questions. All others are notes. */
const questionStart = '{"ask":'

/** Receives the messages of a site. */
export interface SiteListener {
  /** Nothing is received before this resolves, while PHP waits. */
  readonly isReady: () => Promise<unknown>
  readonly onNote: (text: string) => void
  readonly onAsk: (text: string) => Promise<string>
}

/**
 * Listens for messages from a site's PHP to the host (`tasks/native.php`). Answers all of them, notes with nothing: PHP
 * continues once the host has received the message, so none of its later output can arrive first.
 */
export async function listenToSite(path: string, listener: SiteListener): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.setTimeout(sayingMs, () => socket.destroy())
    hear(socket, listener)
  })
  server.maxConnections = mostConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  // The folder's permissions control access.
  await chmod(path, 0o666)
  return server
}

function hear(socket: Socket, listener: SiteListener): void {
  const read = () => {
    const head = socket.readableLength >= lengthBytes && expected < 0 ? (socket.read(lengthBytes) as Buffer) : null
    if (head) expected = head.readUInt32BE()
    if (expected > mostTextBytes) return void socket.destroy()
    if (expected < 0) return
    // Calling read() also makes room in the buffer.
    const text: Buffer | null = expected > 0 ? socket.read(expected) : Buffer.alloc(0)
    if (!text) return
    socket.off('readable', read)
    socket.setTimeout(0)
    socket.resume()
    void answer(socket, text.toString(), listener)
  }
  let expected = -1
  socket.on('readable', read)
}

async function answer(socket: Socket, text: string, { isReady, onNote, onAsk }: SiteListener): Promise<void> {
  await isReady()
  const isQuestion = text.startsWith(questionStart)
  // An empty message only waits for the answer.
  if (!isQuestion && text !== '') onNote(text)
  const bytes = Buffer.from(isQuestion ? await onAsk(text).catch(() => '') : '')
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(bytes.length)
  socket.end(Buffer.concat([length, bytes]))
}
