import { createServer, isIP, type Server, type Socket } from 'node:net'

/** Opens a connection for a page. Returns undefined if the target is forbidden. */
export type Reach = (host: string, port: number) => Promise<Socket | undefined>

/** The limit for one measurement. Further connections of a page are closed at once. */
const MOST_CONNECTIONS = 128
const HELLO_MS = 10_000

const [SUCCESS, REFUSED, UNREACHABLE, UNSUPPORTED] = [0, 2, 4, 7]
const reply = (code: number) => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0])

/** Creates a SOCKS5 proxy (RFC 1928) that supports only CONNECT: no UDP, and no listening. */
export function createSocks(reach: Reach): Server {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.setTimeout(HELLO_MS, () => socket.destroy())
    serve(socket, reach).catch(() => socket.end(reply(UNREACHABLE)))
  })
  server.maxConnections = MOST_CONNECTIONS
  return server
}

async function serve(socket: Socket, reach: Reach): Promise<void> {
  const read = reader(socket)
  const [version, methods = 0] = await read(2)
  if (version !== 5) return void socket.destroy()
  await read(methods)
  socket.write(Buffer.from([5, 0]))
  const [, command, , kind] = await read(4)
  const host = await readHost(kind, read)
  const port = (await read(2)).readUInt16BE()
  if (command !== 1 || host === undefined) return void socket.end(reply(UNSUPPORTED))
  const outside = await reach(host, port)
  if (!outside) return void socket.end(reply(REFUSED))
  outside.on('error', () => socket.destroy())
  outside.on('close', () => socket.destroy())
  socket.on('close', () => outside.destroy())
  if (socket.destroyed) return void outside.destroy()
  socket.setTimeout(0)
  socket.write(reply(SUCCESS))
  socket.pipe(outside).pipe(socket)
}

type Read = (bytes: number) => Promise<Buffer>

async function readHost(kind: number | undefined, read: Read): Promise<string | undefined> {
  if (kind === 1) return (await read(4)).join('.')
  if (kind === 3) return (await read((await read(1))[0] as number)).toString('latin1')
  if (kind !== 4) return undefined
  const groups = (await read(16)).toString('hex').match(/.{4}/g) as string[]
  const host = groups.join(':')
  return isIP(host) ? host : undefined
}

/** Reads a number of bytes, and leaves the rest to the next reader. */
function reader(socket: Socket): Read {
  const closed = new Promise<never>((_, reject) => socket.once('close', () => reject(new Error('closed'))))
  closed.catch(() => {})
  return async (bytes) => {
    if (bytes === 0) return Buffer.alloc(0)
    for (;;) {
      const piece = socket.read(bytes) as Buffer | null
      if (piece) return piece
      const more = Promise.withResolvers<void>()
      socket.once('readable', more.resolve)
      await Promise.race([more.promise, closed])
    }
  }
}
