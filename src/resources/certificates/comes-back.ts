import { randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import { HERE, HERE_PURPOSE, hereText } from '../../edge/rules/leads-here.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { fetchBuffer } from '../../platform/fetch/fetch-public.ts'

const PATIENCE_MS = 8_000
const MOST_BYTES = 256

export interface ComesBackParts {
  readonly config: Pick<Config, 'allowPrivateFetch'>
  readonly sealer: Sealer
  /** Of http; others than 80 are for tests. */
  readonly port?: number
}

/**
 * Makes what asks whether a request for a name over http comes back to this installation: through a CDN or a proxy it may, whatever address the
 * name has. An authority that proves a name takes the same way.
 */
export const createComesBack =
  ({ config, sealer, port = 80 }: ComesBackParts) =>
  async (hostName: string): Promise<boolean> => {
    const nonce = randomBytes(16).toString('base64url')
    try {
      const answer = await fetchBuffer(`http://${hostName}:${port}${HERE}${nonce}`, {
        allowPrivate: config.allowPrivateFetch,
        allowHttp: true,
        maxBytes: MOST_BYTES,
        timeoutMs: PATIENCE_MS,
      })
      return answer.toString() === sealer.mark(hereText(hostName, nonce), HERE_PURPOSE)
    } catch {
      return false
    }
  }
