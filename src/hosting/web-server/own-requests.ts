import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { readAtMost } from '../../platform/read-at-most.ts'
import type { VisitorRequest } from '../php/pool/pool.ts'
import { PhpBodyTooLarge } from '../php/runtime.ts'
import type { HostedSite, PhpHandler } from './hosted-site.ts'

const mostBodyBytes = 1 << 20

interface OwnRequestOptions {
  readonly php: PhpHandler
  readonly log: { warn(facts: object, message: string): void }
}

/**
 * Accepts a request that a site's PHP sends to itself without waiting for the answer (as `tasks/prepend.php` says). It
 * runs when its turn comes.
 * @throws PhpBodyTooLarge, PhpBusy
 */
export async function acceptOwn(
  { php, log }: OwnRequestOptions,
  site: HostedSite,
  asked: VisitorRequest,
  response: ServerResponse,
): Promise<void> {
  // Read completely before the request is accepted, because the sender leaves then.
  const body = asked.body && (await readBody(asked.body))
  const ran = php.handle(site, { ...asked, body: body && Readable.from([body]), announcedBytes: body?.length })
  ran
    .then(({ body: answer }) => answer.on('error', () => {}).resume())
    .catch((error) => log.warn({ err: error, siteId: site.siteId }, "a site's request to itself did not run"))
  response.writeHead(202, ['X-Stead-Renderer', 'static', 'Content-Length', '0', 'Cache-Control', 'no-store'])
  response.end()
}

async function readBody(stream: Readable): Promise<Buffer> {
  const body = await readAtMost(stream, mostBodyBytes)
  if (!body) throw new PhpBodyTooLarge('a request to itself')
  return body
}
