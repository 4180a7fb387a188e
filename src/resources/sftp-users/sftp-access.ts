import type { SftpAccess, SftpLogin } from '../../hosting/sftp/sftp-access.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import { isInProgress } from '../../platform/operations/is-in-progress.ts'
import { changeBy } from '../kit/change.ts'
import { actions } from './actions.ts'

/** Logins of a user within this time count as one. */
const ACCESS_EVERY_MS = 60_000
/** The shortest time between two log entries for logins of a user. */
const TOLD_EVERY_MS = 86_400_000

/** Users of live sites on a host that no operation works on. */
const admitted = (tx: Tx, hostId: number) =>
  tx
    .selectFrom('sftp_users')
    .innerJoin('sites', 'sites.id', 'sftp_users.site_id')
    .where('sites.host_id', '=', hostId)
    .where('sites.state', '=', 'live')
    .where('sites.deleted_at', 'is', null)
    .select(isInProgress('sites.closed_by').as('closed'))

/** The records as a host's SFTP server needs them. */
export function createSftpAccess({ database, hostId }: { database: Database; hostId: number }): SftpAccess {
  return {
    async find(username) {
      const user = await admitted(database.read, hostId)
        .select(['sftp_users.id', 'sftp_users.site_id', 'sftp_users.epoch', 'sftp_users.password_hash'])
        .where('sftp_users.username', '=', username)
        .executeTakeFirst()
      if (!user || user.closed) return undefined
      const keys = database.read.selectFrom('sftp_keys').select('public_key').where('user_id', '=', user.id)
      return {
        userId: user.id,
        siteId: user.site_id,
        username,
        epoch: user.epoch,
        passwordHash: user.password_hash,
        publicKeys: (await keys.execute()).map((key) => key.public_key),
      }
    },

    async standing(userIds) {
      if (userIds.length === 0) return new Map()
      const users = admitted(database.read, hostId).select(['sftp_users.id', 'sftp_users.epoch'])
      const found = await users.where('sftp_users.id', 'in', [...userIds]).execute()
      return new Map(found.filter(({ closed }) => !closed).map(({ id, epoch }) => [id, epoch]))
    },

    async loggedIn(login, address) {
      const now = Date.now()
      const user = database.read.selectFrom('sftp_users').select('accessed_at').where('id', '=', login.userId)
      const { accessed_at: before } = (await user.executeTakeFirst()) ?? { accessed_at: now }
      if (before !== null && now - before < ACCESS_EVERY_MS) return
      await database.transaction((tx) => recordLogin(tx, login, { address, now }))
    },

    subscribe(listener) {
      const ends = (['sftp', 'routes'] as const).map((topic) => database.changes.subscribe(topic, listener))
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

async function recordLogin(tx: Tx, { userId, siteId, username }: SftpLogin, by: { address: string; now: number }) {
  const { address, now } = by
  const before = await tx
    .selectFrom('sftp_users')
    .innerJoin('sites', 'sites.id', 'sftp_users.site_id')
    .select(['sftp_users.accessed_at', 'sites.account_id'])
    .where('sftp_users.id', '=', userId)
    .executeTakeFirst()
  // The user was removed meanwhile.
  if (!before) return
  await tx.updateTable('sftp_users').set({ accessed_at: now }).where('id', '=', userId).execute()
  if (before.accessed_at !== null && now - before.accessed_at < TOLD_EVERY_MS) return
  const about = { accountId: before.account_id, siteId }
  const message = `${username} logged in by SFTP, from ${address}`
  await changeBy(tx, { actor: 'systems', about, now }).record({ action: actions['sftp_user.logged_in'], message })
}
