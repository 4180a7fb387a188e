import { randomBytes } from 'node:crypto'
import type { AdminRefusal, AdminVisit, DatabaseAdmin } from '../../hosting/web-server/database-admin.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import { stillAllowed } from '../access/still-allowed.ts'
import { findAccount } from '../account/public.ts'
import { aboutSite, changeBy } from '../kit/change.ts'
import { findSite, type Site } from '../sites/public.ts'
import { actions } from './actions.ts'
import { beginSession, findDatabaseLink, findDatabaseSession } from './link.store.ts'

const SESSION_MS = 60 * 60_000

interface Parts {
  readonly database: Database
  /** Milliseconds UTC. */
  readonly now?: () => number
}

/**
 * Decides who reaches the database of a site: the first browser that opens a link, for an hour, while the person who
 * got the link still has the right.
 */
export const createDatabaseAdmin = ({ database, now = Date.now }: Parts): DatabaseAdmin => ({
  open: (siteId, token, visit) => database.transaction((tx) => open(tx, { siteId, token, visit, now: now() })),
  async mayEnter(siteId, session, { userAgent }) {
    const { read } = database
    const link = await findDatabaseSession(read, siteId, session)
    if (!link || link.endsAt === null || link.userAgent !== userAgent) return 'unknown'
    if (link.endsAt <= now()) return 'over'
    const site = await findSite(read, siteId)
    return site && (await mayStill(read, site, link.accountId)) ? undefined : 'unknown'
  },
})

interface Opening {
  readonly siteId: number
  readonly token: string
  readonly visit: AdminVisit
  readonly now: number
}

async function open(tx: Tx, { siteId, token, visit, now }: Opening): Promise<{ session: string } | AdminRefusal> {
  const [link, site] = [await findDatabaseLink(tx, siteId, token), await findSite(tx, siteId)]
  if (!link || !site || !(await mayStill(tx, site, link.accountId))) return 'unknown'
  if (link.endsAt !== null) return 'used'
  if (link.expiresAt <= now) return 'late'
  const session = randomBytes(32).toString('base64url')
  const begun = { session, userAgent: visit.userAgent, endsAt: now + SESSION_MS }
  if (!(await beginSession(tx, link.id, begun))) return 'used'
  const account = await findAccount(tx, link.accountId)
  await changeBy(tx, { actor: 'systems', about: aboutSite(site), now }).record({
    action: actions['wordpress.phpmyadmin_accessed'],
    message: `${account?.email} opened the database with a link from ${visit.remoteAddress}`,
  })
  return { session }
}

/**
 * Checks again, because rights may have been removed since the link was created. A site that is off shows nothing, even
 * to requests that reach its host directly.
 */
async function mayStill(tx: Tx, site: Site, accountId: number): Promise<boolean> {
  const [isAllowed] = await stillAllowed(tx, [{ siteId: site.id, accountId, capability: 'administer the database' }])
  return site.state === 'live' && isAllowed === true
}
