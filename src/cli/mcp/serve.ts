import { once } from 'node:events'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { clientOf, findConnection } from '../api/api-connection.ts'
import type { CommandContext } from '../api/command-context.ts'
import type { ParsedCall } from '../api/parse-call.ts'
import { UsageError } from '../usage-error.ts'
import { serveHttp } from './http.ts'
import { createServer } from './server.ts'

/** Runs `stead mcp` until its client leaves, or it is stopped. Only the protocol uses standard output. */
export async function serveMcp({ own }: ParsedCall, { environment, err }: CommandContext): Promise<number> {
  const allowChanges = own['allow-changes'] === true
  const wanted = { profile: own.profile as string | undefined, dataDir: own['data-dir'] as string | undefined }
  const tells = allowChanges
    ? 'all operations that its token allows'
    : 'read-only; to allow changes, use --allow-changes'
  if (own.listen !== undefined) {
    const url = environment.STEAD_API_URL ?? (await findConnection(environment, wanted)).url
    const listen = addressOf(own.listen as string)
    const hosts = own.host === undefined ? [] : (own.host as string).split(',')
    const server = await serveHttp({ url, allowChanges, listen, hosts })
    const { address, port, family } = server.address() as { address: string; port: number; family: string }
    err.write(`http://${family === 'IPv6' ? `[${address}]` : address}:${port}/mcp for ${url}: ${tells}\n`)
    await once(server, 'close')
    return 0
  }
  const connection = await findConnection(environment, wanted)
  const server = createServer(clientOf(connection), { allowChanges })
  const ended = once(process.stdin, 'close')
  await server.connect(new StdioServerTransport())
  err.write(`stead mcp for ${connection.url}: ${tells}\n`)
  await ended
  await server.close()
  return 0
}

/** @throws UsageError */
function addressOf(text: string): { host: string; port: number } {
  const [, host, port] = /^(?:(\[[\da-f:.]+\]|[\w.-]+):)?(\d{1,5})$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) throw new UsageError('--listen must be HOST:PORT or PORT')
  return { host: (host ?? '127.0.0.1').replace(/^\[|\]$/g, ''), port: Number(port) }
}
