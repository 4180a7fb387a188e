import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ResolvedAddress } from './addresses.ts'
import {
  FetchFailed,
  type FetchOptions,
  FetchRefused,
  FetchTimedOut,
  FetchTooLarge,
  fetchBuffer,
  fetchJson,
  fetchPublic,
  fetchToFile,
} from './fetch-public.ts'

const options: FetchOptions = { allowPrivate: true, maxBytes: 1 << 20, timeoutMs: 20_000, idleTimeoutMs: 10_000 }
const publicOnly: FetchOptions = { ...options, allowPrivate: false, allowHttp: true }
const closers: (() => void)[] = []
let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-fetch-'))
})
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await rm(folder, { recursive: true })
})

async function listening(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  closers.push(() => server.close())
  return (server.address() as AddressInfo).port
}

async function serve(listener: RequestListener): Promise<{ base: string; port: number }> {
  const server = createServer(listener)
  closers.push(() => server.closeAllConnections())
  const port = await listening(server)
  return { base: `http://127.0.0.1:${port}`, port }
}

describe('a fetch', () => {
  test('returns a body, in memory, in a file, and as JSON', async () => {
    const content = randomBytes(300_000)
    const { base } = await serve((request, response) => response.end(request.url === '/json' ? '{"a":1}' : content))
    expect(await fetchBuffer(base, options)).toEqual(content)
    expect(await fetchJson(`${base}/json`, options)).toEqual({ a: 1 })
    const progress: unknown[] = []
    const path = join(folder, 'file')
    const result = await fetchToFile(base, path, { ...options, onProgress: (step) => progress.push(step) })
    expect(result).toMatchObject({ sizeBytes: content.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(await readFile(path)).toEqual(content)
    expect(progress.at(-1)).toEqual({ receivedBytes: content.length, totalBytes: content.length })
  })

  test('decompresses an answer that is compressed without a request for it', async () => {
    const { base } = await serve((_request, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync('plain text')),
    )
    expect(String(await fetchBuffer(base, options))).toBe('plain text')
  })

  test('keeps the body of a POST through 307, and becomes a GET at 303', async () => {
    const seen: string[] = []
    const { base } = await serve(async (request, response) => {
      const body = (await request.toArray()).join('')
      seen.push(`${request.method} ${request.url} ${body}`)
      if (request.url === '/a') response.writeHead(307, { location: '/b' })
      if (request.url === '/b') response.writeHead(303, { location: '/c' })
      response.end('done')
    })
    await fetchBuffer(`${base}/a`, { ...options, method: 'POST', body: 'hello' })
    expect(seen).toEqual(['POST /a hello', 'POST /b hello', 'GET /c '])
  })

  test('fails for an answer that is not JSON', async () => {
    const { base } = await serve((_request, response) => response.end('<html>'))
    await expect(fetchJson(base, options)).rejects.toThrow(FetchFailed)
  })

  test('allows the answer to be left unread', async () => {
    const { base } = await serve((_request, response) => response.end(randomBytes(1 << 20)))
    expect(await fetchPublic(base, { ...options, maxBytes: 2 << 20 }, async ({ status }) => status)).toBe(200)
  })
})

describe('refuses', () => {
  test.each([
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://0x7f.1:1/',
    'http://[::1]:1/',
    'http://169.254.169.254/',
  ])('the private address %s', async (address) => {
    await expect(fetchBuffer(address, publicOnly)).rejects.toThrow(FetchRefused)
  })

  test.each(['ftp://example.com/', 'file:///etc/passwd', 'nonsense', 'https://user:pass@example.com/', 'data:,x'])(
    'the URL %s',
    async (address) => {
      await expect(fetchBuffer(address, options)).rejects.toThrow(FetchRefused)
    },
  )

  test('http unless allowed', async () => {
    await expect(fetchBuffer('http://example.com/', { ...options, allowPrivate: false })).rejects.toThrow('only https')
  })

  test("a change of a name's address: it is resolved once, and only that answer is used", async () => {
    let lookups = 0
    const { port } = await serve((_request, response) => response.end('reached'))
    const resolve = async (): Promise<ResolvedAddress[]> => {
      lookups += 1
      return [{ address: lookups === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
    }
    const address = `http://rebind.example:${port}/`
    expect(String(await fetchBuffer(address, { ...options, resolve }))).toBe('reached')
    expect(lookups).toBe(1)
    await expect(fetchBuffer(address, { ...publicOnly, resolve })).rejects.toThrow(FetchRefused)
  })

  test('a name that points inside at the second connection', async () => {
    let reached = 0
    const { port } = await serve((_request, response) => {
      reached += 1
      response.writeHead(302, { location: '/again', connection: 'close' }).end()
    })
    let lookups = 0
    const resolve = async (): Promise<ResolvedAddress[]> => {
      lookups += 1
      return [{ address: '127.0.0.1', family: 4 }]
    }
    // The first answer of the resolver counts as public, the second as what it is.
    const firstAnswerOutside = {
      ...options,
      allowHttp: true,
      resolve,
      get allowPrivate() {
        return lookups === 1
      },
    }
    await expect(fetchBuffer(`http://rebind.example:${port}/`, firstAnswerOutside)).rejects.toThrow(FetchRefused)
    expect({ lookups, reached }).toEqual({ lookups: 2, reached: 1 })
  })

  test('a redirect from outside to loopback', async () => {
    let reached = 0
    const inner = await serve((_request, response) => {
      reached += 1
      response.end('secret')
    })
    const outer = await serve((_request, response) => response.writeHead(302, { location: `${inner.base}/` }).end())
    // Only the first hop may be private here. The second is checked with the real rule.
    let hops = 0
    const firstHopOnly = {
      ...options,
      allowHttp: true,
      get allowPrivate() {
        hops += 1
        return hops === 1
      },
    }
    await expect(fetchBuffer(outer.base, firstHopOnly)).rejects.toThrow(FetchRefused)
    expect(reached).toBe(0)
  })

  test('a fourth redirect', async () => {
    let hops = 0
    const { base } = await serve((request, response) => {
      hops += 1
      const step = Number(request.url?.slice(1))
      if (step < 1) response.end('there')
      else response.writeHead(302, { location: `/${step - 1}` }).end()
    })
    expect(String(await fetchBuffer(`${base}/3`, options))).toBe('there')
    hops = 0
    await expect(fetchBuffer(`${base}/4`, options)).rejects.toThrow('redirected more than 3 times')
    expect(hops).toBe(4)
  })

  test.each(['file:///etc/passwd', 'http://user:pass@127.0.0.1/', 'gopher://127.0.0.1/'])(
    'a redirect to %s',
    async (location) => {
      const { base } = await serve((_request, response) => response.writeHead(302, { location }).end())
      await expect(fetchBuffer(base, options)).rejects.toThrow(FetchRefused)
    },
  )
})

describe('a redirect does not pass on', () => {
  test('authorization, cookies and other secrets', async () => {
    const seen: IncomingMessage['headers'][] = []
    const { base } = await serve((request, response) => {
      seen.push(request.headers)
      response.setHeader('set-cookie', 'a=b')
      if (request.url === '/') response.writeHead(302, { location: '/next' })
      response.end()
    })
    const headers = { authorization: 'Bearer x', 'x-api-key': 'y', cookie: 'c=d', accept: 'text/plain' }
    await fetchBuffer(`${base}/`, { ...options, headers })
    expect(seen[0]).toMatchObject(headers)
    expect(seen[1]).toMatchObject({ accept: 'text/plain' })
    for (const name of ['authorization', 'x-api-key', 'cookie']) expect(seen[1]).not.toHaveProperty(name)
  })
})

describe('types', () => {
  const zip = { ...options, types: ['application/zip', 'application/octet-stream'] }
  const sending = (type?: string) =>
    serve((_request, response) => {
      if (type !== undefined) response.setHeader('content-type', type)
      response.end('body')
    })

  test.each(['application/zip', 'Application/ZIP; name="a;b"', 'application/octet-stream', undefined])(
    'reads an answer of type %s if zip is requested',
    async (type) => {
      const { base } = await sending(type)
      expect(String(await fetchBuffer(base, zip))).toBe('body')
    },
  )

  test.each([
    ['text/html; charset=utf-8', 'sent text/html, not application/zip or application/octet-stream'],
    ['application/zip2', 'sent application/zip2, not'],
    ['<b>application/zip</b>', 'sent something else, not'],
    ['', 'sent something else, not'],
  ])('does not read an answer of type %j, and creates no file', async (type, message) => {
    const { base } = await sending(type)
    const thrown = await fetchToFile(base, join(folder, 'file'), zip).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(FetchFailed)
    expect((thrown as FetchFailed).message).toContain(message)
    expect((thrown as FetchFailed).status).toBe(200)
    expect(await readdir(folder)).toEqual([])
  })
})

describe('limits', () => {
  test('apply in total to a resolver that never answers', async () => {
    const resolve = () => new Promise<never>(() => {})
    const silent = { ...publicOnly, resolve, timeoutMs: 200 }
    await expect(fetchBuffer('http://silent.example/', silent)).rejects.toThrow(FetchTimedOut)
    const gaveUp = { ...silent, timeoutMs: 20_000, signal: AbortSignal.abort(new Error('enough')) }
    await expect(fetchBuffer('http://silent.example/', gaveUp)).rejects.toThrow('enough')
  })

  test('refuse an answer that announces too much, without reading it', async () => {
    const { base } = await serve((_request, response) => response.writeHead(200, { 'content-length': 2 << 20 }).end())
    await expect(fetchBuffer(base, options)).rejects.toThrow(FetchTooLarge)
  })

  test('break off an answer that never ends, and remove its file', async () => {
    const { base } = await serve((_request, response) => {
      const block = Buffer.alloc(65_536)
      const more = () => {
        while (!response.destroyed && response.write(block));
      }
      response.on('drain', more)
      more()
    })
    await expect(fetchToFile(base, join(folder, 'endless'), options)).rejects.toThrow(FetchTooLarge)
    expect(await readdir(folder)).toEqual([])
  })

  test('apply to a small answer that decompresses to a large one', async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20))
    expect(bomb.length).toBeLessThan(options.maxBytes)
    const { base } = await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb))
    await expect(fetchBuffer(base, options)).rejects.toThrow(FetchTooLarge)
  })

  test('do not apply to invalid or unknown compression, which fails', async () => {
    const { base } = await serve((request, response) =>
      response.setHeader('content-encoding', request.url === '/gzip' ? 'gzip' : 'zstd').end('not compressed'),
    )
    await expect(fetchBuffer(`${base}/gzip`, options)).rejects.toThrow('cannot be decompressed')
    await expect(fetchBuffer(`${base}/zstd`, options)).rejects.toThrow(FetchFailed)
  })

  test('apply in total to a server that drips forever', async () => {
    const { base } = await serve((_request, response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    await expect(fetchBuffer(base, { ...options, timeoutMs: 500 })).rejects.toThrow(FetchTimedOut)
  })

  test.each(['before the answer', 'within the body'])('apply to a server that falls silent %s', async (when) => {
    const { base } = await serve((_request, response) => {
      if (when === 'within the body') response.write('x')
    })
    const error = await fetchBuffer(base, { ...options, idleTimeoutMs: 300 }).catch((thrown) => thrown)
    expect([error.name, error.message]).toEqual(['FetchTimedOut', `${base}/: the server did not respond in time`])
  })

  test('do not prevent the caller from aborting earlier', async () => {
    const caller = new AbortController()
    const { base } = await serve(() => caller.abort(new Error('enough')))
    await expect(fetchBuffer(base, { ...options, signal: caller.signal })).rejects.toThrow('enough')
  })
})

describe('failures', () => {
  test('include a status other than success, shown without the query', async () => {
    const { base } = await serve((_request, response) => response.writeHead(503).end('no'))
    const error: FetchFailed = await fetchBuffer(`${base}/x?token=secret`, options).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(FetchFailed)
    expect(error.status).toBe(503)
    expect(error.message).toBe(`${base}/x: the server responded with status 503`)
  })

  test('include a body that is too short', async () => {
    const { base } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('part')
      setImmediate(() => response.destroy())
    })
    await expect(fetchToFile(base, join(folder, 'short'), options)).rejects.toThrow(FetchFailed)
    expect(await readdir(folder)).toEqual([])
  })

  test('include a closed port, a server without HTTP, and an unknown name', async () => {
    const server = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'))
    const port = await listening(server)
    await expect(fetchBuffer(`http://127.0.0.1:${port}/`, options)).rejects.toThrow('not valid HTTP')
    await expect(fetchBuffer(`https://127.0.0.1:${port}/`, options)).rejects.toThrow(FetchFailed)
    server.close()
    await expect(fetchBuffer(`http://127.0.0.1:${port}/`, options)).rejects.toThrow('refused the connection')
    const resolve = () => Promise.reject(new Error('ENOTFOUND'))
    await expect(fetchBuffer('http://gone.example/', { ...options, resolve })).rejects.toThrow('could not be resolved')
  })
})
