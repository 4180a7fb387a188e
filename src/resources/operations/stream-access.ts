import type { Database } from '../../platform/db/database.ts'
import { stillAllowed } from '../access/still-allowed.ts'
import { liveTokens } from '../authentication/public.ts'

/** The credentials and the operation of an open event stream. */
export interface StreamFacts {
  readonly tokenHash: string
  /** The account of the token. */
  readonly accountId: number
  /** The operation's site and account. */
  readonly ownerId: number | null
  readonly siteId: number | null
}

/** PostgreSQL does not announce every change, and notifications can be late. */
const LOOK_ANYWAY_MS = 2000

/**
 * Checks whether open streams are still allowed: their tokens are valid, and operations of other accounts belong to
 * sites that the caller collaborates on. It takes two statements for all streams, and none while nothing has changed.
 */
export function createStreamAccess(database: Database, clock: () => number) {
  let known: { tokens: ReadonlyMap<string, number>; pairs: ReadonlySet<string>; mark: string; at: number } | undefined
  return async (streams: readonly StreamFacts[]): Promise<boolean[]> => {
    const hashes = [...new Set(streams.map(({ tokenHash }) => tokenHash))]
    const guests = streams.filter(({ accountId, ownerId }) => accountId !== ownerId)
    const mark = `${database.changes.version('tokens')} ${hashes.join()} ${guests.map(pairOf).join()}`
    const isOld = database.dialect === 'postgres' && performance.now() - (known?.at ?? 0) > LOOK_ANYWAY_MS
    if (!known || isOld || known.mark !== mark) {
      const at = performance.now()
      const tokens = await liveTokens(database.read, hashes)
      const claims = guests.flatMap(({ accountId, siteId }) =>
        siteId === null ? [] : [{ accountId, siteId, capability: 'read the site' } as const],
      )
      const allowed = await stillAllowed(database.read, claims)
      known = { tokens, pairs: new Set(claims.filter((_, at) => allowed[at]).map(pairOf)), mark, at }
    }
    const { tokens, pairs } = known
    const now = clock()
    return streams.map((stream) => {
      const isOwn = stream.accountId === stream.ownerId
      return (tokens.get(stream.tokenHash) ?? 0) > now && (isOwn || pairs.has(pairOf(stream)))
    })
  }
}

const pairOf = ({ accountId, siteId }: { accountId: number; siteId: number | null }) => `${accountId} ${siteId}`
