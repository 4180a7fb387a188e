import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { Negotiator } from '@fastify/accept-negotiator'
import type { FastifyInstance } from 'fastify'

/** Allows only files from this address, and no frame around it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const headers = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Best first. Each file is compressed once, at the first request. */
const compressors = { br: promisify<Buffer, Buffer>(brotliCompress), gzip: promisify<Buffer, Buffer>(gzip) }
const negotiator = new Negotiator({ supportedValues: ['br', 'gzip', 'identity'] })

const NOT_BUILT =
  '<!doctype html><title>Stead</title><p>The control panel is not built. Run npm run panel in the Stead directory, then restart Stead.'

/**
 * Serves the pages of the control panel at `/`. All files are read at startup, so an attacker cannot choose a file
 * name.
 * @param folder the output of `npm run panel`: `index.html` and `assets/`, whose names change with their content
 */
export async function servePages(app: FastifyInstance, folder: string): Promise<void> {
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch(() => NOT_BUILT)
  const names = await readdir(join(folder, 'assets')).catch(() => [])
  const assets = new Map<string, Buffer>()
  for (const name of names) assets.set(name, await readFile(join(folder, 'assets', name)))
  const compressed = new Map<string, Promise<Buffer>>()
  const packed = (name: string, content: Buffer, coding: keyof typeof compressors): Promise<Buffer> => {
    const key = `${coding} ${name}`
    const made = compressed.get(key) ?? compressors[coding](content)
    compressed.set(key, made)
    return made
  }
  const hidden = { schema: { hide: true } }
  app.get('/', hidden, (_request, reply) =>
    reply
      .headers({ ...headers, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(page),
  )
  app.get<{ Params: { name: string } }>('/assets/:name', hidden, async (request, reply) => {
    const { name } = request.params
    const content = assets.get(name)
    const type = types[extname(name)]
    if (!content || !type) return reply.callNotFound()
    const coding = negotiator.negotiate(request.headers['accept-encoding'] ?? '')
    // A font in this format is already compressed.
    const isPacked = type !== types['.woff2'] && (coding === 'br' || coding === 'gzip')
    return reply
      .headers({ ...headers, 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' })
      .headers(isPacked ? { 'content-encoding': coding } : {})
      .type(type)
      .send(isPacked ? await packed(name, content, coding) : content)
  })
}
