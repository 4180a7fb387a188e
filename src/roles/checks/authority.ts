import { readFile } from 'node:fs/promises'
import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'
import { readAtMost } from '../../platform/read-at-most.ts'
import type { CheckContext } from './check.ts'

const PATIENCE_MS = 8000
const MOST_BYTES = 64 << 10

/** The answer of the certificate authority's directory. */
export interface AuthorityAnswer {
  readonly isDirectory: boolean
  readonly status: number
  /** The time of its clock in milliseconds UTC, to the second. */
  readonly date: number | undefined
}

/** Returns whether certificates of a public authority are wanted. */
export const wantsAuthority = ({ config }: CheckContext): boolean =>
  config.acmeTermsAgreed && (config.edgeTlsListen !== 'off' || config.apiTlsListen !== 'off')

/**
 * Reads the directory.
 * @returns undefined when no certificate is to be ordered, or checks must not contact other machines
 */
export async function askAuthority(context: CheckContext): Promise<AuthorityAnswer | undefined> {
  if (!context.asksOutside || !wantsAuthority(context)) return undefined
  const { acmeDirectory, acmeRoots } = context.config
  const ca = acmeRoots === undefined ? undefined : await readFile(acmeRoots, 'utf8')
  const signal = AbortSignal.timeout(PATIENCE_MS)
  return new Promise((resolve, reject) => {
    const get = acmeDirectory.startsWith('https:') ? getSecure : getPlain
    get(acmeDirectory, { signal, agent: false, ...(ca !== undefined && { ca }) }, (response) => {
      const date = Date.parse(response.headers.date ?? '')
      const { statusCode: status = 0 } = response
      readAtMost(response, MOST_BYTES).then((body) => {
        const isDirectory = status === 200 && body?.includes('"newOrder"') === true
        resolve({ isDirectory, status, date: Number.isNaN(date) ? undefined : date })
      }, reject)
    }).on('error', reject)
  })
}
