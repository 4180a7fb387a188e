import { Readable } from 'node:stream'
import type { TestApi } from '../../../test/support/api.ts'
import type { Scene } from '../../../test/support/samples.ts'
import type { SourceEntry } from '../../backups/backup-store.ts'
import { completeBackup, insertBackup } from './backup.store.ts'
import { type BackupKind, CORE_BACKUP, coreOwner, nameInRepository, type Origin, siteOwner } from './backup.ts'

/** The shortest valid dump. */
export const DUMP = `-- Dump\n${'-- nothing\n'.repeat(100)}-- Complete\n`

/** Returns the name in the storage that such records refer to. */
export async function nameIn({ database }: Pick<TestApi, 'database'>, backupId: number): Promise<string> {
  const row = database.read.selectFrom('backups').select(['id', 'name']).where('id', '=', backupId)
  return nameInRepository(await row.executeTakeFirstOrThrow())
}

/** Puts the dump for such records into the storage. */
export async function store(api: TestApi, siteId: number, backupId: number): Promise<void> {
  const content = Readable.from([Buffer.from(DUMP)])
  const name = await nameIn(api, backupId)
  await api.backups.repository(siteOwner(siteId)).writeStream(content, { name })
}

/**
 * Creates a database backup that can be read.
 * @returns its id
 */
export async function storedIn(api: TestApi, siteId: number): Promise<number> {
  const id = await backupIn(api, siteId)
  await store(api, siteId, id)
  return id
}

/** Creates a file backup in the storage, with its core. */
export async function storedFiles({ api, siteId }: Pick<Scene, 'api' | 'siteId'>) {
  const id = await backupIn(api, siteId, { kind: 'fs' })
  await storeTree(api, siteId, id, Buffer.from('<?php'))
  return { params: { id, backup_id: id } }
}

/** Puts one file for such records, and one file of the core, into the storage. */
export async function storeTree(api: TestApi, siteId: number, backupId: number, content: Buffer) {
  const core = Readable.from([file('wp-admin.php', Buffer.from('<?php'))])
  await api.backups.repository(coreOwner('6.8')).writeTree(core, { name: CORE_BACKUP })
  const own = Readable.from([file('index.php', content)])
  await api.backups.repository(siteOwner(siteId)).writeTree(own, { name: await nameIn(api, backupId) })
}

export const file = (path: string, content: Buffer): SourceEntry => ({
  kind: 'file',
  path,
  mode: 0o644,
  mtimeMs: 1.7e12,
  sizeBytes: content.length,
  stamp: '1',
  open: async () => Readable.from([content]),
})

/**
 * Creates the records of a completed backup without any content in the storage.
 * @returns its id
 */
export async function backupIn(
  api: TestApi,
  siteId: number,
  { kind = 'db' as BackupKind, origin = 'ondemand' as Origin, takenAt = Date.now() } = {},
): Promise<number> {
  return api.database.transaction(async (tx) => {
    const values = {
      siteId,
      kind,
      origin,
      createdBy: 'Owner (owner@example.com)',
      deleteAt: takenAt + 1e9,
      now: takenAt,
    }
    const backup = await insertBackup(tx, values)
    await completeBackup(
      tx,
      backup,
      { takenAt, bytes: DUMP.length, coreVersion: kind === 'fs' ? '6.8' : null },
      takenAt,
    )
    return backup.id
  })
}

/** Records that a control has deleted a site. */
export const deletedByControl = ({ database }: Pick<TestApi, 'database'>, siteId: number): Promise<unknown> =>
  database.transaction((tx) =>
    tx
      .insertInto('operations')
      .values({
        ...{ type: 'site.remove', runner: 'host', site_id: siteId, input: '{}', state: 'succeeded' },
        ...{ created_at: 1, run_at: 1, finished_at: 1, attempts: 0, cancel_requested: 0, progress: 0 },
      } as never)
      .execute(),
  )
