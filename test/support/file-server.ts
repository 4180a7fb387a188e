import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of a few files, which tests change. */
export interface FileServer {
  readonly base: string
  /** Content by path. A number is sent as a status. */
  readonly files: Map<string, string | number | Buffer>
  /** Requested paths, in order. */
  readonly asked: string[]
  close(): void
}

export async function startFileServer(): Promise<FileServer> {
  const files = new Map<string, string | number | Buffer>()
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const file = files.get(url.replace(/\?.*/, '')) ?? 404
    response.statusCode = typeof file === 'number' ? file : 200
    response.end(typeof file === 'number' ? '' : file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // tests need not close it
  server.unref()
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    asked,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
