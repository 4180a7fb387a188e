import type { PhpPool } from '../../hosting/php/pool/pool.ts'
import type { HostedSite } from '../../hosting/web-server/hosted-site.ts'
import type { LoggedIn, LoginRefusal, LoginVisit } from '../../hosting/web-server/login-links.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import type { Log } from '../../platform/log/log.ts'
import { stillAllowed } from '../access/still-allowed.ts'
import { aboutSite, changeBy } from '../kit/change.ts'
import { findSite } from '../sites/public.ts'
import { actions } from './actions.ts'
import { type LoginLink, openLoginLink } from './login-link.store.ts'

export interface Parts {
  readonly database: Database
  readonly pool: Pick<PhpPool, 'runTask'>
  readonly log: Pick<Log, 'warn'>
  /** Milliseconds UTC. */
  readonly now?: () => number
}

/**
 * Handles a visit to a link. The first visit uses the link up, even if it fails: a link that a thief has tried is
 * useless to the thief.
 */
export async function redeemLoginLink(
  { database, pool, log, now = Date.now }: Parts,
  hosted: HostedSite,
  { token, userAgent, remoteAddress, https }: LoginVisit,
): Promise<LoggedIn | LoginRefusal> {
  const { siteId } = hosted
  const link = await database.transaction(async (tx) => {
    const opened = await openLoginLink(tx, { siteId, token, now: now() })
    const refusal = refusalOf(opened, userAgent, now())
    if (refusal !== undefined) return refusal
    const site = await findSite(tx, siteId)
    // A site that is off lets nobody in, even through its host directly.
    if (!opened || site?.state !== 'live' || !(await mayStill(tx, siteId, opened))) return 'unknown' as const
    await changeBy(tx, { actor: 'systems', about: aboutSite(site), now: now() }).record({
      action: actions['one_time_login.used'],
      message: `${opened.login} logged in to WordPress with a link from ${remoteAddress}`,
    })
    return opened
  })
  if (typeof link === 'string') return link
  try {
    const input = { login: link.login, userAgent, remoteAddress, https }
    const { cookies, dropIn } = await pool.runTask(hosted, 'log-in', input)
    // The site's object cache does not know the new session.
    if (dropIn) await pool.runTask(hosted, 'flush-object-cache', {})
    return { cookies }
  } catch (error) {
    log.warn({ err: error, siteId }, 'a login link for WordPress failed')
    return 'failed'
  }
}

/** Checks again, because the creator or the person logged in may have lost their rights since. */
async function mayStill(tx: Tx, siteId: number, { madeById, accountId }: LoginLink): Promise<boolean> {
  const claims = [madeById, accountId].map(
    (each) => ({ siteId, accountId: each, capability: 'administer the CMS' }) as const,
  )
  return (await stillAllowed(tx, claims)).every(Boolean)
}

function refusalOf(link: LoginLink | undefined, userAgent: string, now: number): LoginRefusal | undefined {
  if (!link) return 'unknown'
  if (link.usedAt !== null) return 'used'
  if (link.expiresAt <= now) return 'late'
  return link.userAgent === userAgent ? undefined : 'browser'
}
