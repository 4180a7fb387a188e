import { LRUCache } from 'lru-cache'
import type { RemoteCommands } from '../../hosting/sftp/remote-commands.ts'
import type { Database } from '../../platform/db/database.ts'
import { findMembership, hasWpAccess } from '../collaborators/public.ts'
import { changeBy } from '../kit/change.ts'
import { findSftpUser } from '../sftp-users/public.ts'
import { actions } from './actions.ts'

/** How long a repeated command of a user is not logged again: scripts run hundreds. */
const TOLD_EVERY_MS = 60_000

/** Decides who may run commands on a site, and logs them. */
export function createCommandAccess(database: Database): Pick<RemoteCommands, 'mayRun' | 'started'> {
  const told = new LRUCache<string, true>({ max: 10_000, ttl: TOLD_EVERY_MS })
  return {
    async mayRun({ siteId, username }) {
      const user = await findSftpUser(database.read, siteId, username)
      if (!user) return false
      if (user.accountId === user.ownerAccountId) return true
      const membership = await findMembership(database.read, siteId, user.accountId)
      return membership !== undefined && hasWpAccess(membership.roles)
    },

    async started({ siteId, username }, name) {
      const key = `${username} ${name}`
      if (told.has(key)) return
      told.set(key, true)
      await database.transaction(async (tx) => {
        const user = await findSftpUser(tx, siteId, username)
        if (!user) return
        const about = { accountId: user.ownerAccountId, siteId }
        const message = `${username} ran ${name}`
        await changeBy(tx, { actor: 'systems', about, now: Date.now() }).record({
          action: actions['wp_cli.ran'],
          message,
        })
      })
    },
  }
}
