import { Readable } from 'node:stream'
import type { TestApi } from '../../../test/support/api.ts'
import {
  at,
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  unique,
} from '../../../test/support/samples.ts'
import type { SourceEntry } from '../../backups/backup-store.ts'
import { completeBackup, insertBackup } from './backup.store.ts'
import { CORE_BACKUP, coreOwner, type Kind, nameOf, type Origin, siteOwner } from './backup.ts'
import { previewIn, restoredIn } from './restore/restore.fixture.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listOndemandBackups', path: onSite('/ondemand-backups'), roles: ['download_backups'] },
  { endpoint: 'createOndemandBackup', path: onSite('/ondemand-backups'), body: () => ({ backup_type: 'db' }), roles: ['download_backups'] },
  { endpoint: 'deleteOndemandBackup', path: (world) => onSite(`/ondemand-backups/${world.backup}`)(world), roles: ['download_backups'] },
  { endpoint: 'getOndemandBackup', path: (world) => onSite(`/ondemand-backups/${world.backup}`)(world), roles: ['download_backups'] },
  { endpoint: 'downloadOndemandBackup', path: (world) => onSite(`/ondemand-backups/${world.backup}/download`)(world), roles: ['download_backups'] },
  { endpoint: 'listBackups', path: onSite('/backups'), roles: ['download_backups'] },
  { endpoint: 'listFilesystemBackups', path: onSite('/backups/fs'), roles: ['download_backups'] },
  { endpoint: 'listDatabaseBackups', path: onSite('/backups/db'), roles: ['download_backups'] },
  { endpoint: 'downloadBackup', path: (world) => onSite(`/backups/${world.backup}`)(world), roles: ['download_backups'] },
  { endpoint: 'restoreSite', path: onSite('/restores'), body: ({ backup }) => ({ database_id: backup }), roles: ['restore_site'] },
  { endpoint: 'restoreSite', path: onSite('/restores'), body: ({ backup }) => ({ database_id: backup, dry_run: true }), roles: ['restore_site'] },
  { endpoint: 'getRestorePreview', path: (world) => onSite(`/restores/${world.preview}`)(world), roles: ['restore_site'] },
  { endpoint: 'undoOperation', path: ({ restored }) => `/v1/operations/${restored}/undo`, roles: ['restore_site'] },
  { endpoint: 'syncSites', path: at('/v1/sites/sync'), body: (world) => ({ from_site_id: world.hidden, to_site_id: world.site, themes_directory: true }), isPrivate: true },
]

export const examples: Examples = {
  createOndemandBackup: () => ({ body: { backup_type: 'fs' } }),
  getOndemandBackup: backedUp,
  deleteOndemandBackup: backedUp,
  downloadOndemandBackup: stored,
  downloadBackup: stored,
  restoreSite: async ({ api, siteId }) => ({ body: { database_id: await backupIn(api, siteId) } }),
  getRestorePreview: async ({ api, siteId, owner }) => ({
    params: { operation_id: await previewIn(api, { siteId, accountId: owner.accountId }) },
  }),
  undoOperation: async ({ api, siteId, owner }) => ({
    params: { id: await restoredIn(api, { siteId, accountId: owner.accountId }) },
  }),
  syncSites: async ({ api, owner, siteId, number }) => {
    const source = await api.site(owner, `source-${number}-${unique()}`)
    return { body: { from_site_id: source, to_site_id: siteId, uploads_directory: true, database: true } }
  },
}

/** The shortest valid dump. */
export const DUMP = `-- Dump\n${'-- nothing\n'.repeat(100)}-- Complete\n`

/** Returns the name in the storage that such records refer to. */
export async function nameIn({ database }: Pick<TestApi, 'database'>, backupId: number): Promise<string> {
  const row = database.read.selectFrom('backups').select(['id', 'name']).where('id', '=', backupId)
  return nameOf(await row.executeTakeFirstOrThrow())
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

async function stored({ api, siteId }: Scene) {
  const id = await storedIn(api, siteId)
  return { params: { id, backup_id: id } }
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
  { kind = 'db' as Kind, origin = 'ondemand' as Origin, takenAt = Date.now() } = {},
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

export async function backedUp({ api, siteId }: Scene): Promise<Example> {
  const id = await backupIn(api, siteId)
  return { params: { id, backup_id: id } }
}
