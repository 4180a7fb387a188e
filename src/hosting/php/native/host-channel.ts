import { chmod } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'

const lengthBytes = 4
/** What a site may say at once. */
const mostTextBytes = 1 << 18
/** Each request of a site says one thing at a time. */
const mostConnections = 16
/** To say it. The answer takes as long as it takes. */
const sayingMs = 10_000
/** What begins so is answered; everything else is a note. */
const questionStart = '{"ask":'

/** Who hears what a site says. */
export interface Listener {
  /** Nothing is heard before: PHP waits. */
  readonly isReady: () => Promise<unknown>
  readonly onNote: (text: string) => void
  readonly onAsk: (text: string) => Promise<string>
}

/**
 * Listens to what a site's PHP says to the host (`tasks/native.php`). All of it is answered, notes by nothing: PHP goes on when the
 * host has heard it, so that nothing that it prints afterwards is here before.
 */
export async function listenToSite(path: string, listener: Listener): Promise<Server> {
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
  // the folder that it is in decides who gets here
  await chmod(path, 0o666)
  return server
}

function hear(socket: Socket, listener: Listener): void {
  const read = () => {
    const head = socket.readableLength >= lengthBytes && expected < 0 ? (socket.read(lengthBytes) as Buffer) : null
    if (head) expected = head.readUInt32BE()
    if (expected > mostTextBytes) return void socket.destroy()
    if (expected < 0) return
    // to ask for it makes room for it
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

async function answer(socket: Socket, text: string, { isReady, onNote, onAsk }: Listener): Promise<void> {
  await isReady()
  const isQuestion = text.startsWith(questionStart)
  // nothing is said by who only waits
  if (!isQuestion && text !== '') onNote(text)
  const bytes = Buffer.from(isQuestion ? await onAsk(text).catch(() => '') : '')
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(bytes.length)
  socket.end(Buffer.concat([length, bytes]))
}
