import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type MadeEntry, makeZip } from './archives.ts'

/**
 * The minimum that counts as a WordPress release, packed like the real ones. `extra` adds entries, or replaces them by
 * name.
 */
export function madeRelease(version: string, extra: readonly MadeEntry[] = []): MadeEntry[] {
  const files: Record<string, string> = {
    'wp-includes/version.php': `<?php\n$wp_version = '${version}';\n`,
    'wp-content/themes/twentytwentyfive/style.css': '/* Theme Name: Twenty Twenty-Five */',
    'wp-content/index.php': '<?php // Silence is golden.',
  }
  for (const name of ['index', 'wp-load', 'wp-login', 'wp-settings', 'wp-admin/index', 'wp-includes/load'])
    files[`${name}.php`] = `<?php // ${name} of ${version}`
  const entries = Object.entries(files).map(([name, content]) => ({ name: `wordpress/${name}`, content }))
  const replaced = new Set(extra.map((entry) => entry.name))
  return [...entries.filter((entry) => !replaced.has(entry.name)), ...extra]
}

/** Packs a release with the files of a core, like the real ones. @throws Error for anything except files and folders */
export async function packedRelease(corePath: string, name = ''): Promise<MadeEntry[]> {
  const entries: MadeEntry[] = []
  for (const part of (await readdir(join(corePath, name))).sort()) {
    const inner = name ? `${name}/${part}` : part
    const stats = await lstat(join(corePath, inner))
    if (stats.isDirectory()) entries.push(...(await packedRelease(corePath, inner)))
    else if (stats.isFile())
      entries.push({ name: `wordpress/${inner}`, content: await readFile(join(corePath, inner)) })
    else throw new Error(`${inner} is neither a file nor a folder`)
  }
  return entries
}

/** A server with WordPress' release API that counts its requests. */
export interface ReleaseApi {
  readonly base: string
  /** Requested paths, in order. */
  readonly asked: string[]
  /** Offers a release. @param entries replaces the default content */
  publish(version: string, entries?: readonly MadeEntry[]): void
  /** Replaces the response for one path from now on. */
  override(path: string, answer: (request: IncomingMessage, response: ServerResponse) => void): void
  close(): void
}

export async function startReleaseApi(): Promise<ReleaseApi> {
  const releases = new Map<string, { zip: Buffer; md5s: Record<string, string> }>()
  const overrides = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>()
  const asked: string[] = []
  let base = ''
  const download = (version: string) => `/release/wordpress-${version}.zip`
  const hash = (algorithm: string, content: string | Buffer) => createHash(algorithm).update(content).digest('hex')

  const offers = (beta: boolean) =>
    [...releases.keys()]
      .filter((version) => beta || !version.includes('-'))
      .map((version) => ({
        response: 'upgrade',
        version,
        current: version,
        download: base + download(version),
        packages: { full: base + download(version), no_content: `${base}/none.zip` },
      }))

  const answer = (url: URL): unknown => {
    if (url.pathname === '/core/version-check/1.7/')
      return { offers: offers(url.searchParams.get('channel') === 'beta'), translations: [] }
    if (url.pathname === '/core/checksums/1.0/')
      return { checksums: releases.get(url.searchParams.get('version') ?? '')?.md5s ?? false }
    for (const [version, { zip }] of releases) {
      if (url.pathname === download(version)) return zip
      for (const algorithm of ['sha1', 'md5'])
        if (url.pathname === `${download(version)}.${algorithm}`) return Buffer.from(hash(algorithm, zip))
    }
    return undefined
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://api.test')
    asked.push(url.pathname)
    const override = overrides.get(url.pathname)
    if (override) return override(request, response)
    const body = answer(url)
    if (body === undefined) return void response.writeHead(404).end()
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    base,
    asked,
    publish(version, entries = madeRelease(version)) {
      const md5s = Object.fromEntries(
        entries.map((entry) => [entry.name.replace('wordpress/', ''), hash('md5', entry.content ?? '')]),
      )
      releases.set(version, { zip: makeZip(entries), md5s })
    },
    override: (path, handler) => void overrides.set(path, handler),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
