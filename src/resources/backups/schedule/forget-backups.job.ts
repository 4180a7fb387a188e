import Type from 'typebox'
import type { BackupStore } from '../../../backups/backup-store.ts'
import { KEPT_FROM_HOSTS_MS } from '../../../backups/removable.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { durableWith } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { forgetBackupsOf } from '../backup.store.ts'
import { siteOwner } from '../backup.ts'

interface Services {
  readonly backups: BackupStore
  readonly database: Pick<Database, 'read'>
}

/**
 * Removes everything of a purged site from the storage. A host requests it, and one that was taken over requests it for
 * its own sites. So without a deletion, which only a control requests, the backups of the last days stay until then.
 */
export const forgetBackupsJob = durableWith<Services>()({
  name: 'backups.forget_site',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'control',
  changeableBy: 'account',
  mustEnd: true,
  steps: {
    remove: {
      async run({ services, input: { siteId }, now }) {
        const { backups, database } = services
        const waitMs = (await wasDeleted(database.read, siteId)) ? 0 : await restOf(backups, siteId, now())
        if (waitMs === 0) await backups.removeOwner(siteOwner(siteId))
        return { waitMs }
      },
    },
    again: {
      async commit(tx, { input, results }) {
        const { waitMs } = (results as { remove: { waitMs: number } }).remove
        if (waitMs > 0) await enqueue(tx, forgetBackupsJob, input, { afterMs: waitMs })
      },
    },
  },
})

/** Returns whether a control has deleted the site. Hosts cannot request `site.remove`, nor change what it is about. */
async function wasDeleted(tx: Tx, siteId: number): Promise<boolean> {
  const found = tx.selectFrom('operations').select('id').where('site_id', '=', siteId).where('type', '=', 'site.remove')
  return (await found.limit(1).executeTakeFirst()) !== undefined
}

/** Returns how long the backups of a site stay, in milliseconds. */
async function restOf(backups: BackupStore, siteId: number, now: number): Promise<number> {
  const newest = await backups.repository(siteOwner(siteId)).newestAt()
  return newest === undefined ? 0 : Math.max(0, newest + KEPT_FROM_HOSTS_MS - now)
}

/** Deletes the rows, without which the content cannot be found. */
export async function forgetBackupsOfSite(tx: Tx, siteId: number): Promise<void> {
  await forgetBackupsOf(tx, siteId)
  await enqueue(tx, forgetBackupsJob, { siteId })
}
