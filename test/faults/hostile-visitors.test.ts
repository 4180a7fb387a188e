/** Visitors who request a lot and send or read little: the host stays within its limits, and others are served. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()
const MB = 1 << 20

describe.skipIf(!core)('hostile visitors', () => {
  let stead: Stead
  const sockets: Socket[] = []
  showOutputOfFailures(() => stead)

  beforeAll(async () => {
    stead = await startStead()
    await stead.createSite({ name: 'target' })
    await stead.createSite({ name: 'neighbour' })
    const page = "<?php header('Cache-Control: no-store'); for ($i = 0; $i < 400; $i++) echo str_repeat('x', 65536);"
    await writeFile(join(stead.directoryOf('target'), 'web/large.php'), page)
    await writeFile(
      join(stead.directoryOf('target'), 'web/small.php'),
      "<?php header('Cache-Control: no-store'); echo 'small';",
    )
    await stead.visit('target')
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  afterAll(() => stead?.remove())

  /** Opens a connection to the edge and sends something on it. */
  const open = (head: string, body?: Buffer) => {
    const socket = connect(stead.edgePort, '127.0.0.1').on('error', () => {})
    socket.write(`${head.replaceAll('\n', '\r\n')}\r\nHost: target.localhost\r\n\r\n`)
    if (body) socket.write(body)
    sockets.push(socket)
    return socket
  }
  /** Memory of the host's own process, without PHP. */
  const hostBytes = () => {
    const status = readFileSync(`/proc/${stead.role('host')?.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
  }
  /** @returns the most memory that the host had while `work` ran */
  async function mostDuring(work: () => Promise<void>): Promise<number> {
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, hostBytes())
    }, 50)
    try {
      await work()
    } finally {
      clearInterval(watch)
    }
    return most
  }

  test('80 that stop reading a page of 25 MB do not block the site’s PHP or its neighbor', async () => {
    const before = hostBytes()
    const most = await mostDuring(async () => {
      // a listener that never takes data: Node reads no more than fits into the socket's own buffer
      const readers = Array.from({ length: 80 }, () => open('GET /large.php HTTP/1.1').on('readable', () => {}))
      await until('PHP has come to each of them', () => readers.every((each) => each.readableLength > 0), 200_000)
      expect((await stead.visit('target', '/small.php')).text).toBe('small')
      expect((await stead.visit('neighbour')).status).toBe(200)
    })
    expect(most - before).toBeLessThan(200 * MB)
  })

  test('500 that announce a body of 1 MB and do not finish it are mostly refused or cut off, and pages are served', async () => {
    const before = hostBytes()
    const statuses: string[] = []
    const most = await mostDuring(async () => {
      const part = Buffer.alloc(MB - 1000, 'x')
      for (let i = 0; i < 500; i++)
        open(`POST /small.php HTTP/1.1\nContent-Type: text/plain\nContent-Length: ${MB}`, part).on('data', (text) => {
          if (text.toString('latin1').startsWith('HTTP/1.1 ')) statuses.push(text.toString('latin1', 9, 12))
        })
      await until('what is too much is refused', () => statuses.length >= 240)
      await until('a page is served', async () => (await stead.visit('target', '/small.php')).text === 'small')
    })
    // refused for lack of room, or cut off in favor of others
    expect(statuses.filter((status) => status !== '503' && status !== '408')).toEqual([])
    expect(most - before).toBeLessThan(150 * MB)
  })
})
