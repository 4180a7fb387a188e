import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servePages } from './serve-panel.ts'

const script = 'export const same = 1;\n'.repeat(500)

describe('files of the panel', () => {
  let folder: string
  let app: FastifyInstance
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-pages-'))
    await mkdir(join(folder, 'assets'))
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>Here</title>')
    await writeFile(join(folder, 'assets/index-1.js'), script)
    app = fastify()
    await servePages(app, folder)
  })
  afterAll(async () => {
    await app.close()
    await rm(folder, { recursive: true })
  })
  const get = (codings?: string, url = '/assets/index-1.js') =>
    app.inject({ url, headers: codings === undefined ? {} : { 'accept-encoding': codings } })

  test.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ])('are compressed for clients that accept %s', async (codings, coding, unpack) => {
    for (let time = 0; time < 2; time++) {
      const answer = await get(codings)
      expect(answer.headers['content-encoding']).toBe(coding)
      expect(answer.headers.vary).toBe('Accept-Encoding')
      expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
      expect(unpack(answer.rawPayload).toString()).toBe(script)
    }
  })

  test.each([undefined, '', 'identity', 'zstd'])('are sent uncompressed to clients that accept %s', async (codings) => {
    const answer = await get(codings)
    expect(answer.headers['content-encoding']).toBeUndefined()
    expect(answer.headers.vary).toBe('Accept-Encoding')
    expect(answer.body).toBe(script)
  })

  test('are those that existed at startup, and no others', async () => {
    for (const url of ['/assets/index-2.js', '/assets/..%2findex.html', '/assets/%2e%2e/index.html'])
      expect((await get('br', url)).statusCode).toBe(404)
  })
})
