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
  /** Marks a text as an answer of this installation. Edges do the same. */
  readonly markHere: (text: string) => string
  /** Port of http. Others than 80 are for tests. */
  readonly port?: number
}

/**
 * Creates a function that tests whether an http request for a name comes back to this installation. Through a CDN or a
 * proxy it may, whatever address the name has. An authority that checks a name uses the same path.
 */
export const createComesBack =
  ({ config, markHere, port = 80 }: ComesBackParts) =>
  async (hostName: string): Promise<boolean> => {
    const nonce = randomBytes(16).toString('base64url')
    try {
      const answer = await fetchBuffer(`http://${hostName}:${port}${HERE}${nonce}`, {
        allowPrivate: config.allowPrivateFetch,
        allowHttp: true,
        maxBytes: MOST_BYTES,
        timeoutMs: PATIENCE_MS,
      })
      return answer.toString() === markHere(hereText(hostName, nonce))
    } catch {
      return false
    }
  }

/** Returns how a process with the master key marks such a text. Edges without it get the key for that alone. */
export const marksHere =
  (sealer: Sealer) =>
  (text: string): string =>
    sealer.mark(text, HERE_PURPOSE)
