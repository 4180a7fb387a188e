import { request as askPlain, type ClientRequest, type OutgoingHttpHeaders } from 'node:http'
import { request as askSecurely } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { peerOptions } from '../../platform/mtls/connect-to-role.ts'
import type { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { readAtMost } from '../../platform/read-at-most.ts'
import { type Taken, UPLOAD_HEADER, type UploadPart } from './upload-parts.ts'

/** The host is unreachable, or closed the connection. */
export class HostAway extends Error {
  override readonly name = 'HostAway'
}

/**
 * Passes a part of an upload on to a host.
 * @throws HostAway, or the error of reading the content
 */
export type SendPart = (
  host: string,
  part: UploadPart,
  content: AsyncIterable<Uint8Array> & { readonly bytes: number | undefined },
) => Promise<Taken>

/** The longest time without a byte in either direction. */
const IDLE_MS = 30_000
const MOST_ANSWER_BYTES = 4096

/**
 * @param key the key that edges present to hosts
 * @param trust required for hosts whose address begins with `https`
 */
export const createSendPart =
  (key: string, trust?: RoleTrust | undefined): SendPart =>
  async (host, part, content) => {
    let failure: unknown
    async function* read() {
      try {
        yield* content
      } catch (error) {
        failure = error
        throw error
      }
    }
    const request = ask(host, trust, {
      'x-stead-key': key,
      [UPLOAD_HEADER]: JSON.stringify(part),
      'content-type': 'application/octet-stream',
      ...(content.bytes !== undefined && { 'content-length': content.bytes }),
    })
    request.setTimeout(IDLE_MS, () => request.destroy(new Error(`nothing for ${IDLE_MS / 1000} s`)))
    const answered = new Promise<Taken>((resolve, reject) => {
      request.once('error', reject)
      request.once('response', (response) => {
        readAtMost(response, MOST_ANSWER_BYTES)
          .then((text) => {
            if (response.statusCode !== 200) throw new Error(`the host answers ${response.statusCode}`)
            resolve(JSON.parse(String(text)) as Taken)
          })
          .catch(reject)
      })
    })
    // The host may answer before all is sent. Its answer counts, even if it stops reading.
    const sent = pipeline(Readable.from(read(), { objectMode: false }), request).catch(() => {})
    try {
      return await answered
    } catch (error) {
      if (failure !== undefined) throw failure
      throw new HostAway(`The host ${host} does not take a part of an upload`, { cause: error })
    } finally {
      request.destroy()
      await sent
    }
  }

function ask(host: string, trust: RoleTrust | undefined, headers: OutgoingHttpHeaders): ClientRequest {
  const options = { method: 'PUT', agent: false, headers }
  const url = new URL(host)
  if (url.protocol !== 'https:') return askPlain(url, options)
  if (!trust) throw new HostAway(`The host ${host} requires TLS, and this control has no certificate`)
  // The name in the address is not a password.
  return askSecurely(new URL(`https://${url.host}`), { ...options, ...peerOptions(url, trust, 'host') })
}
