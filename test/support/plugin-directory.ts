import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeZip } from './archives.ts'

/** A server with the API of WordPress' plugin directory, and real archives. */
export interface PluginDirectoryServer {
  readonly base: string
  /** Requested paths, in order. */
  readonly asked: string[]
  /** Publishes a release. @param files content by name in its folder @returns the address of its zip */
  publish(slug: string, version: string, files: Record<string, string>): string
  /** Replaces the response for one path from now on. */
  override(path: string, answer: (request: IncomingMessage, response: ServerResponse) => void): void
  close(): void
}

/** The main file of a plugin. @param php its code */
export const pluginFile = (title: string, version: string, php = ''): string =>
  `<?php\n/*\nPlugin Name: ${title}\nDescription: What ${title} does.\nVersion: ${version}\n*/\n${php}\n`

export async function startPluginDirectory(): Promise<PluginDirectoryServer> {
  const releases = new Map<string, Map<string, Buffer>>()
  const overrides = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>()
  const asked: string[] = []
  let base = ''
  const addressOf = (slug: string, version: string) => `${base}/plugin/${slug}.${version}.zip`

  const answer = (url: URL): { status: number; body: Buffer | object } => {
    const slug = url.searchParams.get('slug') ?? ''
    const known = releases.get(slug)
    if (url.pathname === '/plugins/info/1.2/') {
      const newest = [...(known?.keys() ?? [])].at(-1)
      if (!newest) return { status: 404, body: { error: 'Plugin not found.' } }
      const versions = Object.fromEntries(
        [...(known?.keys() ?? [])].map((version) => [version, addressOf(slug, version)]),
      )
      return {
        status: 200,
        body: { name: slug, slug, version: newest, download_link: addressOf(slug, newest), versions },
      }
    }
    for (const [name, zips] of releases)
      for (const [version, zip] of zips)
        if (url.pathname === new URL(addressOf(name, version)).pathname) return { status: 200, body: zip }
    return { status: 404, body: {} }
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://directory.test')
    asked.push(url.pathname)
    const override = overrides.get(url.pathname)
    if (override) return override(request, response)
    const { status, body } = answer(url)
    response.writeHead(status)
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    base,
    asked,
    publish(slug, version, files) {
      const entries = Object.entries(files).map(([name, content]) => ({ name: `${slug}/${name}`, content }))
      releases.set(slug, (releases.get(slug) ?? new Map()).set(version, makeZip(entries)))
      return addressOf(slug, version)
    },
    override: (path, handler) => void overrides.set(path, handler),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
