import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasPhpFpm, startFpm, type TestFpm } from '../../../../test/support/php-fpm.ts'
import { PhpCrashed } from '../runtime.ts'
import { callFastCgi, encodeParams, encodeRecord } from './fastcgi.ts'

const [endKind, outKind, errorKind] = [3, 6, 7]
const end = encodeRecord(endKind, Buffer.alloc(8))
const out = (content: string) => encodeRecord(outKind, Buffer.from(content))

describe('params', () => {
  it('are sent in records that end between pairs', () => {
    const pairs = Array.from({ length: 20 }, (_, index) => [`NAME_${index}`, 'x'.repeat(9000 + index)] as const)
    const bytes = encodeParams(pairs)
    const read: [string, string][] = []
    let records = 0
    for (let at = 0; at < bytes.length; ) {
      const length = bytes.readUInt16BE(at + 4)
      read.push(...pairsIn(bytes.subarray(at + 8, at + 8 + length)))
      records++
      at += 8 + length
    }
    expect(read).toEqual(pairs)
    expect(records).toBeGreaterThan(3)
    expect(bytes.subarray(-8)).toEqual(encodeRecord(4, Buffer.alloc(0)))
  })

  it('are rejected when a pair does not fit into a record', () => {
    expect(() => encodeParams([['HTTP_COOKIE', 'x'.repeat(65_530)]])).toThrow('HTTP_COOKIE is too long')
  })
})

function pairsIn(bytes: Buffer): [string, string][] {
  const pairs: [string, string][] = []
  let at = 0
  const length = () => {
    const first = bytes[at] as number
    if (first < 128) {
      at++
      return first
    }
    at += 4
    return bytes.readUInt32BE(at - 4) & 0x7f_ff_ff_ff
  }
  while (at < bytes.length) {
    const [name, value] = [length(), length()]
    pairs.push([bytes.toString('utf8', at, at + name), bytes.toString('utf8', at + name, at + name + value)])
    at += name + value
  }
  return pairs
}

describe('a FastCGI peer', () => {
  let folder: string
  const servers: { close(): void }[] = []
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-fastcgi-'))
  })
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function call(serve: (socket: Socket) => void) {
    const path = join(folder, `s${Math.random()}`)
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
      serve(socket)
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(path, resolve))
    return callFastCgi(path, { params: [['A', 'b']], body: null, bodyBytes: 0 })
  }

  it('may split its records anywhere', async () => {
    const padded = Buffer.from([1, outKind, 0, 1, 0, 3, 5, 0, ...Buffer.from('def'), 9, 9, 9, 9, 9])
    const bytes = Buffer.concat([out('Status: 404 Not'), out(' Found\r\nX-A: 1\r\n\r'), out('\nabc'), padded, end])
    const { head, finished } = await call((socket) => {
      socket.setNoDelay(true)
      let sent = 0
      const next = () => {
        if (sent < bytes.length) socket.write(bytes.subarray(sent, ++sent), () => setImmediate(next))
      }
      next()
    })
    const { status, headers, body } = await head
    expect([status, headers, await text(body)]).toEqual([404, ['X-A', '1'], 'abcdef'])
    await finished
  })

  it('may send records that are not part of the answer, and may omit headers', async () => {
    const unknown = encodeRecord(11, Buffer.from('what is that'))
    const said = [encodeRecord(errorKind, Buffer.from('PHP Warning')), unknown, out('\r\n'), out('abc'), out('')]
    const { head, finished } = await call((socket) => socket.end(Buffer.concat([...said, end])))
    const { status, headers, body } = await head
    expect([status, headers, await text(body)]).toEqual([200, [], 'abc'])
    await finished
  })

  it('may send a head of a hundred thousand bytes in as many records, but not an endless one', async () => {
    const long = 'x'.repeat(100_000)
    const records = [...`X-A: ${long}\r\n\r\n`].map(out)
    const { head } = await call((socket) => socket.end(Buffer.concat([...records, end])))
    expect((await head).headers).toEqual(['X-A', long])
    const endless = await call((socket) => {
      const more = () => {
        let isTaken = true
        while (isTaken && !socket.destroyed) isTaken = socket.write(out('x'.repeat(60_000)))
      }
      socket.on('drain', more)
      more()
    })
    await expect(endless.head).rejects.toThrow('too long')
  })

  it.each([
    ['ends early', Buffer.concat([out('X-A: 1\r\n\r\nabc')]), 'ended in the middle'],
    ['ends before it has said a word', Buffer.alloc(0), 'ended in the middle'],
    ['ends without a head', Buffer.concat([encodeRecord(errorKind, Buffer.from('why')), end]), 'without a header why'],
    ['speaks HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'invalid FastCGI message'],
    ['refuses', encodeRecord(endKind, Buffer.from([0, 0, 0, 0, 2, 0, 0, 0])), 'refused'],
    ['sends a bad end', encodeRecord(endKind, Buffer.alloc(9)), 'a bad end'],
  ])('fails the request when it %s', async (_what, bytes, message) => {
    const { head, finished } = await call((socket) => socket.end(bytes))
    await expect(finished).rejects.toThrow(message)
    const whole = head.then(({ body }) => text(body))
    await expect(whole).rejects.toThrow(PhpCrashed)
  })

  it('fails the request when it is not there', async () => {
    const { head } = callFastCgi(join(folder, 'nobody'), { params: [], body: null, bodyBytes: 0 })
    await expect(head).rejects.toThrow(PhpCrashed)
  })

  it('is read no faster than its answer, and to the end when nobody reads it', async () => {
    let sent = 0
    const isFull = Promise.withResolvers<void>()
    const { head, finished } = await call((socket) => {
      socket.write(out('\r\n'))
      const more = () => {
        while (sent < 2000) {
          sent++
          if (!socket.write(out('x'.repeat(60_000)))) return isFull.resolve()
        }
        socket.end(end)
      }
      socket.on('drain', more)
      more()
    })
    const { body } = await head
    await isFull.promise
    expect(sent).toBeLessThan(2000)
    body.destroy()
    await finished
    expect(sent).toBe(2000)
  })

  it('is disconnected when the body is shorter than announced', async () => {
    const path = join(folder, 'short')
    const server = createServer((socket) => socket.resume())
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const { head } = callFastCgi(path, { params: [], body: Readable.from([Buffer.from('abc')]), bodyBytes: 4 })
    await expect(head).rejects.toThrow('fewer bytes than announced')
  })
})

describe.skipIf(!hasPhpFpm)('php-fpm', () => {
  let fpm: TestFpm
  beforeAll(async () => {
    fpm = await startFpm()
  })
  afterAll(() => fpm?.stop())

  async function ask(code: string, { params = {}, body = null as Buffer | null } = {}) {
    const script = await fpm.script(`s${Math.random()}.php`, code)
    const described = {
      SCRIPT_FILENAME: script,
      REQUEST_METHOD: body ? 'POST' : 'GET',
      CONTENT_LENGTH: String(body?.length ?? 0),
      ...params,
    }
    const sent = body ? Readable.from([body.subarray(0, 100_000), body.subarray(100_000)]) : null
    return callFastCgi(fpm.socket, { params: Object.entries(described), body: sent, bodyBytes: body?.length ?? 0 })
  }

  it('accepts large headers and a large body, and answers with status, headers, and body', async () => {
    const params = { HTTP_COOKIE: `a=${'b'.repeat(60_000)}`, HTTP_X: 'c'.repeat(5000), QUERY_STRING: 'ü=1' }
    const code = `http_response_code(418); header('X-A: 1'); setcookie('a', '1'); setcookie('b', '2');
      echo strlen($_SERVER['HTTP_COOKIE']), ' ', strlen($_SERVER['HTTP_X']), ' ', $_SERVER['QUERY_STRING'], ' ', md5(file_get_contents('php://input'));`
    const sent = Buffer.alloc(20 << 20, 'abcdefg')
    const { head, finished } = await ask(code, { params, body: sent })
    const { status, headers, body } = await head
    expect(await text(body)).toBe(`60002 5000 ü=1 ${createHash('md5').update(sent).digest('hex')}`)
    await finished
    expect(status).toBe(418)
    expect(headers.filter((each) => each === 'Set-Cookie')).toHaveLength(2)
  })

  it('sends output before the script has finished', async () => {
    const { head } = await ask(
      "echo 'early'; flush(); while (!file_exists(__FILE__ . '.go')) { clearstatcache(); usleep(5000); } echo 'late';",
    )
    const body = (await head).body[Symbol.asyncIterator]()
    expect(String((await body.next()).value)).toBe('early')
  })

  it('answers many concurrent requests, and scripts that do not read their body', async () => {
    const all = Array.from({ length: 12 }, () => ask("echo 'done';", { body: Buffer.alloc(3 << 20) }))
    for (const call of await Promise.all(all)) expect(await text((await call.head).body)).toBe('done')
  })

  it('stops when the connection is closed', async () => {
    const { head, fail } = await ask("for (;;) { echo str_repeat('x', 65536); flush(); }").then((call) => ({
      head: call.head,
      fail: (error: Error) => call.fail(error),
    }))
    const { body } = await head
    fail(new PhpCrashed('given up'))
    await expect(text(body)).rejects.toThrow('given up')
  })
})
