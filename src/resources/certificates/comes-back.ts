import { randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import { HERE, hereText } from '../../edge/rules/leads-here.ts'
import { HERE_PURPOSE } from '../../platform/crypto/edge-keys.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { fetchBuffer } from '../../platform/fetch/fetch-public.ts'

const PATIENCE_MS = 8_000
const MOST_BYTES = 256

export interface ComesBackParts {
  readonly config: Pick<Config, 'allowPrivateFetch'>
  readonly sealer: Sealer
  /** Port of http. Others than 80 are for tests. */
  readonly port?: number
}

/**
 * Creates a function that tests whether an http request for a name comes back to this installation. Through a CDN or a
 * proxy it may, whatever address the name has. An authority that checks a name uses the same path.
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
