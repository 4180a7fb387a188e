import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import {
  aboutSite,
  besideSite,
  change,
  closedBy,
  deleteDirectory,
  deleteSite,
  directoryOf,
  isClosed,
  isPurged,
  loseBackups,
  loseRights,
  OLD,
  rows,
  sendAway,
} from '../../../test/support/job-worlds.ts'
import {
  at,
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  unique,
} from '../../../test/support/samples.ts'
import {
  fillOperations,
  friend,
  friendHas,
  isProvisioning,
  operationThatHas,
  siteIs,
} from '../../../test/support/scenes.ts'
import { putRoute } from '../sites/addresses/route.store.ts'
import { changeSite, findSite } from '../sites/site.store.ts'
import { insertBackup, markDeleting } from './backup.store.ts'
import { MOST_ON_DEMAND, siteOwner } from './backup.ts'
import { backupIn, deletedByControl, nameIn, storedFiles, storedIn, storeTree } from './backups.fixture.ts'
import { previewIn, restoredIn } from './restore/restore.fixture.ts'
import { takeBackup } from './take/take-backup.ts'

/** Creates a backup that a queued restore is about to read. */
async function neededBackup(scene: Scene): Promise<Example> {
  const { api, owner, siteId } = scene
  const example = await backedUp(scene)
  const more = { databaseId: Number(example.params?.id) }
  await restoredIn(api, { siteId, accountId: owner.accountId }, { kept: false, state: 'running', more })
  return example
}

/**
 * Creates another site of the owner, which is a network.
 * @returns its ID
 */
async function network({ api, owner, number }: Scene): Promise<number> {
  const id = await api.site(owner, `network-${number}`)
  await api.database.transaction((tx) => tx.updateTable('sites').set({ multisite: 1 }).where('id', '=', id).execute())
  return id
}

/** From a site on which the friend has no right. */
async function toFriendsSite({ api, owner, friend: to, siteId, number }: Scene): Promise<Example> {
  const source = await api.site(owner, `barred-${number}`)
  await api.collaborate(to, source, [])
  return { body: { from_site_id: source, to_site_id: siteId, database: true } }
}

async function fillBackups({ api, siteId }: Scene): Promise<void> {
  for (let index = 0; index < MOST_ON_DEMAND; index++) await backupIn(api, siteId, { kind: 'fs' })
}

/**
 * Files and a database that are also in the storage.
 * @returns the IDs of the backups
 */
async function backedUpSite(world: JobWorld): Promise<{ filesId: number; databaseId: number }> {
  const { api, host, site } = world
  const directory = await host.giveDirectory(site)
  await change(world, (tx) => changeSite(tx, site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1))
  await writeFile(join(directory, 'web/page.txt'), 'old')
  host.setTitle(directory, 'old')
  const ids = { fs: 0, db: 0 }
  for (const kind of ['fs', 'db'] as const) {
    ids[kind] = await backupIn(api, site, { kind })
    const order = { siteId: site, name: await nameIn(api, ids[kind]), kind, signal: new AbortController().signal }
    await takeBackup(host.services, order)
  }
  return { filesId: ids.fs, databaseId: ids.db }
}

async function backupOrder(world: JobWorld, kind: 'fs' | 'db', origin: 'ondemand' | 'scheduled') {
  await world.host.giveDirectory(world.site)
  const values = { siteId: world.site, kind, origin, createdBy: null, deleteAt: 9e15, now: 1 }
  const { id } = await world.api.database.transaction((tx) => insertBackup(tx, values))
  return { input: { siteId: world.site, backupId: id } }
}

/**
 * In the control database and in the storage.
 * @returns its ID
 */
async function writtenBackup({ api, site }: JobWorld): Promise<number> {
  const id = await backupIn(api, site)
  async function* content() {
    yield Buffer.from('content')
  }
  await api.backups.repository(siteOwner(site)).writeStream(content(), { name: await nameIn(api, id) })
  return id
}

const backupRows = ({ api, site }: JobWorld) =>
  api.database.read.selectFrom('backups').selectAll().where('site_id', '=', site).orderBy('id').execute()

/** What a sweep marked, which another sweep removes a day later. */
const unneededPacks = async ({ api, site }: JobWorld) =>
  (await api.backupStorage.list(`${siteOwner(site)}/marks/`)).filter(({ name }) => name.endsWith('-unneeded')).length

const storedBackups = ({ api, site }: JobWorld) => api.backups.repository(siteOwner(site)).list()

const replaceContent = (world: JobWorld, id: number) =>
  change(world, (tx) =>
    tx
      .updateTable('sites')
      .set(({ eb }) => ({ content_changes: eb('content_changes', '+', 1) }))
      .where('id', '=', id)
      .execute(),
  )

const deleteBackup = (world: JobWorld, id: number) =>
  change(world, (tx) => tx.deleteFrom('backups').where('id', '=', id).execute())

async function stored({ api, siteId }: Scene) {
  const id = await storedIn(api, siteId)
  return { params: { id, backup_id: id } }
}

async function backedUp({ api, siteId }: Scene): Promise<Example> {
  const id = await backupIn(api, siteId)
  return { params: { id, backup_id: id } }
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
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

const examples: Examples = {
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

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createOndemandBackup', 'syncSites'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['createOndemandBackup'], code: 'backup_limit_reached', prepare: fillBackups },
  { of: ['syncSites'], code: 'sync_needs_slot', prepare: fillBackups },
  { of: ['syncSites'], code: 'sync_unlike_sites', prepare: siteIs({ multisite: 1 }) },
  { of: ['syncSites'], code: 'forbidden', example: toFriendsSite, by: friend },
  { of: ['createOndemandBackup'], code: 'operation_limit_reached', prepare: fillOperations },
  { of: ['deleteOndemandBackup'], code: 'operation_limit_reached', prepare: fillOperations },
  { of: ['deleteOndemandBackup'], code: 'backup_in_use', example: neededBackup },
  { of: ['deleteOndemandBackup'], code: 'backup_not_completed', prepare: ({ api, siteId }) => api.database.transaction((tx) => tx.updateTable('backups').set({ state: 'creating' }).where('site_id', '=', siteId).execute()) },
  { of: ['restoreSite'], code: 'restore_of_nothing', example: () => ({ body: { dry_run: true } }) },
  { of: ['restoreSite'], code: 'restore_unknown_backup', example: () => ({ body: { filesystem_id: 999_999 } }) },
  { of: ['restoreSite'], code: 'restore_parts_of_nothing', example: async ({ api, siteId }) => ({ body: { database_id: await backupIn(api, siteId), paths: ['wp-content'] } }) },
  { of: ['restoreSite'], code: 'restore_unlike_site', example: async (scene) => ({ body: { database_id: await backupIn(scene.api, scene.siteId), restore_on_site_id: await network(scene) } }) },
  { of: ['restoreSite', 'undoOperation'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['undoOperation'], code: 'operation_not_undoable', example: operationThatHas('succeeded') },
  { of: ['undoOperation'], code: 'forbidden', prepare: friendHas('[]'), by: friend },
  { of: ['undoOperation'], code: 'operation_not_yours', prepare: isProvisioning, by: friend },
  { of: ['downloadOndemandBackup', 'downloadBackup'], code: 'too_many_downloads', on: 'strict' },
  { of: ['downloadOndemandBackup', 'downloadBackup'], code: 'range_not_satisfiable', headers: { range: 'bytes=99999-' } },
  { of: ['downloadOndemandBackup', 'downloadBackup'], code: 'backup_damaged', example: backedUp },
  { of: ['downloadOndemandBackup', 'downloadBackup'], code: 'archive_length_unknown', example: storedFiles, headers: { range: 'bytes=1-', prefer: 'wait=0' } },
]

const causes: Contract['causes'] = {
  site_restored: { cause: 'site.restore' },
  site_restore_failed: { cause: 'site.restore' },
  site_sync_success: { cause: 'site.sync' },
  site_sync_failed: { cause: 'site.sync' },
  ondemand_backup_created: { cause: 'backup.take' },
  ondemand_backup_deleted: { cause: 'backup.delete' },
}

/** A site, and the source of its themes and database. */
async function syncSample(world: JobWorld) {
  const { api, host, owner, site } = world
  const source = await api.site(owner, `source-of-${site}`)
  for (const id of [source, site]) {
    const web = join(await host.giveDirectory(id), 'web')
    await mkdir(join(web, 'wp-content/themes'), { recursive: true })
    await writeFile(join(web, 'wp-content/themes/theme.css'), `of ${id}`)
    await writeFile(join(web, 'other.txt'), `of ${id}`)
    await change(world, (tx) =>
      changeSite(tx, id, { writtenAddress: id === site ? 'to.example.com' : 'old.example.com' }, 1),
    )
  }
  const order = { parts: ['themes'], database: true, skipHttpCheck: false, environmentType: 'local', backups: [] }
  return { input: { siteId: site, sourceId: source, ...order } }
}

const jobs: Record<string, JobSample> = {
  'site.sync': {
    prepare: syncSample,
    async done(world) {
      const { api, host, site } = world
      const path = (await directoryOf(world))?.path as string
      const source = (
        await api.database.read
          .selectFrom('sites')
          .select('id')
          .where('name', '=', `source-of-${site}`)
          .executeTakeFirstOrThrow()
      ).id
      expect(readFileSync(join(path, 'web/wp-content/themes/theme.css'), 'utf8')).toBe(`of ${source}`)
      expect(readFileSync(join(path, 'web/other.txt'), 'utf8')).toBe(`of ${site}`)
      expect(host.option(path, 'siteurl')).toBe('http://to.example.com')
      expect(await host.services.siteDatabase.state({ siteId: site, siteDirectory: path, uid: null })).toMatchObject({
        hasPrevious: false,
      })
      expect(await closedBy(world)).toBe(null)
      expect(host.held.has(site)).toBe(false)
      expect(await findSite(api.database.read, site)).toMatchObject({ environmentType: 'local' })
      // Once, even on a retry after only the cleanup had failed.
      expect(await rows(world, 'activity', 'action', 'site.synced', site)).toBe(1)
      expect(await rows(world, 'events', 'type', 'site_sync_success', site)).toBe(1)
      expect(await isPurged(world)).toBe(true)
      expect(await rows(world, 'operations', 'type', 'site.configure', site)).toBeGreaterThan(0)
    },
    async left(world) {
      const { host, site } = world
      const path = (await directoryOf(world))?.path as string
      expect(await closedBy(world)).toBe(null)
      expect(host.held.has(site)).toBe(false)
      // If only the cleanup failed, the change stays.
      if ((await rows(world, 'events', 'type', 'site_sync_success', site)) === 1) return
      expect(readFileSync(join(path, 'web/wp-content/themes/theme.css'), 'utf8')).toBe(`of ${site}`)
      expect(host.option(path, 'siteurl')).toBe('http://old.example.com')
      expect(await rows(world, 'events', 'type', 'site_sync_failed', site)).toBe(1)
    },
  },

  'site.preview_sync': {
    async prepare(world) {
      const { input } = await syncSample(world)
      await writeFile(join((await directoryOf(world))?.path as string, 'web/wp-content/themes/own.css'), 'own')
      const { siteId, sourceId, parts } = input
      return { input: { siteId, sourceId, parts, database: true, backups: [], since: Date.UTC(2026, 0, 31) } }
    },
    async done(world) {
      const directory = (await directoryOf(world))?.path as string
      expect(existsSync(join(directory, 'web/wp-content/themes/own.css'))).toBe(true)
      const steps = world.api.database.read.selectFrom('operation_steps').select('result').where('name', '=', 'report')
      const reports = (await steps.execute()).map(({ result }) => JSON.parse(result ?? '{}'))
      expect(reports.find(({ siteId }) => siteId === world.site)).toMatchObject({
        files: {
          added: { count: 0 },
          changed: { count: 1, first: ['wp-content/themes/theme.css'] },
          removed: { count: 1, first: ['wp-content/themes/own.css'] },
        },
        database: {
          since: '2026-01-31T00:00:00.000Z',
          tables: [
            { table: 'wp_options', rows: 5, fromRows: 5 },
            { table: 'wp_posts', rows: 3, fromRows: 3 },
          ],
          counts: [{ kind: 'post', new: 2, changed: 1 }],
          newest: [{ title: 'newer than 2026-01-30 23:59:59' }],
        },
      })
    },
  },

  'site.restore': {
    async prepare(world) {
      const { api, site, owner, host } = world
      const ids = await backedUpSite(world)
      const directory = (await directoryOf(world))?.path as string
      await writeFile(join(directory, 'web/page.txt'), 'new')
      await writeFile(join(directory, 'web/new.txt'), 'new')
      host.setTitle(directory, 'new')
      host.running.add(site)
      await change(world, (tx) => putRoute(tx, site, `restored-${site}.test`, 1))
      expect(await isClosed(api, site)).toBe(false)
      return { input: { siteId: site, sourceId: site, ...ids, askedById: owner.accountId } }
    },
    async done(world) {
      const { api, site, host } = world
      const directory = (await directoryOf(world))?.path as string
      expect(await readFile(join(directory, 'web/page.txt'), 'utf8')).toBe('old')
      expect(host.title(directory)).toBe('old')
      expect(await besideSite(world)).toEqual([])
      expect(existsSync(join(directory, 'web/new.txt'))).toBe(false)
      expect(await readdir(join(directory, 'private/database'))).toEqual(['site.sqlite'])
      expect([await isClosed(api, site), host.held.has(site)]).toEqual([false, false])
      expect(await rows(world, 'events', 'type', 'site_restored', site)).toBe(1)
      expect(await rows(world, 'activity', 'action', 'site.restored', site)).toBe(1)
      expect(await isPurged(world)).toBe(true)
      const kept = api.database.read.selectFrom('backups').select('state').where('origin', '=', 'undo')
      const states = (await kept.where('site_id', '=', site).execute()).map(({ state }) => state)
      expect(states.length).toBeGreaterThan(1)
      expect(states.filter((state) => state !== 'completed')).toEqual([])
    },
    async left(world) {
      const { api, site, host } = world
      const directory = (await directoryOf(world))?.path as string
      expect([await isClosed(api, site), host.held.has(site)]).toEqual([false, false])
      expect(await besideSite(world)).toEqual([])
      const isDone = (await rows(world, 'events', 'type', 'site_restored', site)) === 1
      expect(await readFile(join(directory, 'web/page.txt'), 'utf8')).toBe(isDone ? 'old' : 'new')
      expect(host.title(directory)).toBe(isDone ? 'old' : 'new')
      expect(await rows(world, 'events', 'type', 'site_restore_failed', site)).toBe(isDone ? 0 : 1)
      const kept = api.database.read.selectFrom('backups').select('state').where('site_id', '=', site)
      expect((await kept.where('state', '!=', 'completed').execute()).length).toBe(0)
    },
  },

  'site.preview_restore': {
    async prepare(world) {
      const ids = await backedUpSite(world)
      const directory = (await directoryOf(world))?.path as string
      await writeFile(join(directory, 'web/new.txt'), 'new')
      return { input: { siteId: world.site, sourceId: world.site, ...ids, askedById: world.owner.accountId } }
    },
    async done(world) {
      const directory = (await directoryOf(world))?.path as string
      expect(existsSync(join(directory, 'web/new.txt'))).toBe(true)
      const steps = world.api.database.read.selectFrom('operation_steps').select('result').where('name', '=', 'report')
      const reports = (await steps.execute()).map(({ result }) => JSON.parse(result ?? '{}'))
      expect(reports.at(-1)).toMatchObject({
        files: { written: { count: 0 }, removed: { count: 1, first: ['new.txt'] } },
        database: { counts: [{ kind: 'post', new: 2, changed: 1 }] },
      })
    },
  },

  'backup.take': {
    prepare: (world) => backupOrder(world, 'fs', 'ondemand'),
    async done(world) {
      expect(await backupRows(world)).toMatchObject([{ state: 'completed', core_version: '6.8', error: null }])
      expect(await storedBackups(world)).toHaveLength(1)
      expect(await world.api.backups.repository('core-6.8').find('core')).toBeDefined()
      expect(await rows(world, 'events', 'type', 'ondemand_backup_created', world.site)).toBe(1)
    },
    async left(world) {
      expect(await backupRows(world)).toMatchObject([{ state: 'failed' }])
      expect(await storedBackups(world)).toEqual([])
      expect(await rows(world, 'activity', 'action', 'backup.failed', world.site)).toBe(1)
      expect(await rows(world, 'events', 'type', 'ondemand_backup_created', world.site)).toBe(0)
    },
  },

  'backup.take_scheduled': {
    prepare: (world) => backupOrder(world, 'db', 'ondemand'),
    async done(world) {
      expect(await backupRows(world)).toMatchObject([{ state: 'completed', core_version: null }])
      expect(await storedBackups(world)).toHaveLength(1)
    },
    async left(world) {
      expect(await storedBackups(world)).toEqual([])
    },
  },

  'backup.measure': {
    async prepare(world) {
      const backupId = await backupIn(world.api, world.site, { kind: 'fs' })
      await storeTree(world.api, world.site, backupId, Buffer.from('<?php'))
      return { input: { siteId: world.site, backupId }, options: { siteId: null } }
    },
    async done(world) {
      expect(await backupRows(world)).toMatchObject([{ archive_bytes: expect.any(Number) }])
    },
  },

  'backup.delete': {
    async prepare(world) {
      const id = await writtenBackup(world)
      await change(world, (tx) => markDeleting(tx, id, Date.now()))
      return { input: { siteId: world.site, backupId: id } }
    },
    async done(world) {
      expect(await backupRows(world)).toEqual([])
      expect(await storedBackups(world)).toEqual([])
      expect(await rows(world, 'events', 'type', 'ondemand_backup_deleted', world.site)).toBe(1)
      expect(await unneededPacks(world)).toBe(1)
    },
  },

  'backup.expire': {
    async prepare(world) {
      const id = await writtenBackup(world)
      await change(world, (tx) => tx.updateTable('backups').set({ delete_at: OLD }).where('id', '=', id).execute())
      return aboutSite(world)
    },
    async done(world) {
      expect(await backupRows(world)).toEqual([])
      expect(await storedBackups(world)).toEqual([])
      expect(await rows(world, 'events', 'type', 'ondemand_backup_deleted', world.site)).toBe(1)
      expect(await unneededPacks(world)).toBe(1)
    },
  },

  'backup.prove': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      return { input: { siteId: world.site }, options: { siteId: null } }
    },
    async done(world) {
      expect(world.host.directoriesOnDisk()).toHaveLength(1)
      expect(await rows(world, 'activity', 'action', 'backup.proof_failed', world.site)).toBe(0)
    },
  },

  'backups.plan': {
    async prepare({ api, site }) {
      const due = { files_at: 1, database_at: 1, proof_at: 1, told_at: null }
      const row = { site_id: site, ...due }
      await api.database.transaction((tx) => tx.insertInto('backup_schedules').values(row).execute())
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      const backups = (await backupRows(world)).map(({ kind, state }) => [kind, state])
      expect(backups).toEqual([
        ['db', 'creating'],
        ['fs', 'creating'],
      ])
      expect(await rows(world, 'operations', 'type', 'backup.take_scheduled', world.site)).toBe(2)
      const proofs = world.api.database.read.selectFrom('operations').select('input').where('type', '=', 'backup.prove')
      const asked = (await proofs.execute()).filter(({ input }) => JSON.parse(input).siteId === world.site)
      expect(asked).toHaveLength(1)
    },
  },

  'backups.forget_site': {
    async prepare(world) {
      await writtenBackup(world)
      await deletedByControl(world.api, world.site)
      return aboutSite(world)
    },
    async done({ api, site }) {
      expect(await api.backups.repository(siteOwner(site)).storedBytes()).toBe(0)
    },
  },
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'site.sync', says: 'Backup 987654 of site', wrong: (world, input) => input.backups.push({ siteId: world.site, backupId: 987654 }) },
  { type: 'site.sync', says: 'One of the two sites was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.sync', says: 'One of the two sites was deleted', wrong: (world, { sourceId }) => deleteSite(world, sourceId) },
  { type: 'site.sync', says: 'is on another host', wrong: (world) => sendAway(world) },
  { type: 'site.sync', says: 'has no site directory on this host', wrong: (world) => deleteDirectory(world) },
  { type: 'site.sync', says: 'has no site directory on this host', wrong: (world, { sourceId }) => deleteDirectory(world, sourceId) },
  { type: 'site.sync', says: 'Stead has no backup of the source for this copy', wrong: (world, { sourceId }) => sendAway(world, sourceId) },
  { type: 'site.sync', says: 'The source was overwritten during the copy', after: 'database', wrong: (world, { sourceId }) => replaceContent(world, sourceId) },
  { type: 'site.sync', says: 'no longer has the role download_backups', after: 'check', wrong: loseRights },
  { type: 'site.sync', says: 'no longer has the role download_backups', after: 'switch', wrong: loseRights },
  { type: 'site.sync', says: 'no longer has the role download_backups', after: 'answer', wrong: loseRights },
  { type: 'site.preview_sync', says: 'One of the two sites was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.preview_sync', says: 'is on another host', wrong: (world) => sendAway(world) },
  { type: 'site.preview_sync', says: 'Backup 987654 of site', wrong: (world, input) => input.backups.push({ siteId: world.site, backupId: 987654 }) },
  { type: 'site.preview_sync', says: 'Stead has no backup of the source for this copy', wrong: (world, { sourceId }) => sendAway(world, sourceId) },
  { type: 'site.preview_sync', says: 'no longer has the role download_backups', after: 'check', wrong: loseRights },
  { type: 'site.restore', says: 'no longer has the role restore_site', after: 'check', wrong: loseRights },
  { type: 'site.restore', says: 'no longer has the role restore_site', after: 'switch', wrong: loseRights },
  { type: 'site.restore', says: 'no longer has the role restore_site', after: 'answer', wrong: loseRights },
  { type: 'site.preview_restore', says: 'no longer has the role restore_site', after: 'check', wrong: loseRights },
  { type: 'site.restore', says: 'The site does not exist or is not installed', wrong: (world) => deleteSite(world) },
  { type: 'site.restore', says: 'The site does not exist or is not installed', wrong: (world) => deleteDirectory(world) },
  { type: 'site.restore', says: 'no longer exists', wrong: (world, { filesId }) => deleteBackup(world, filesId) },
  { type: 'site.restore', says: 'no longer exists', wrong: (world, { databaseId }) => deleteBackup(world, databaseId) },
  { type: 'site.restore', says: 'no longer exists', wrong: loseBackups },
  { type: 'site.preview_restore', says: 'no longer exists', wrong: loseBackups },
  { type: 'backup.take', says: 'This backup was canceled. Create another backup', wrong: (world, { backupId }) => deleteBackup(world, backupId) },
  { type: 'backup.take', says: 'This backup was canceled', after: 'take', wrong: (world, { backupId }) => deleteBackup(world, backupId) },
  { type: 'backup.take', says: 'The site has no site directory on this host', wrong: (world) => deleteDirectory(world) },
]

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
