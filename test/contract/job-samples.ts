/**
 * One sample of each type of background work: its input, what must hold after success, and what is left after failure.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { generate } from 'selfsigned'
import { expect } from 'vitest'
import { loadRoute } from '../../src/edge/routing/routes.store.ts'
import type { SiteDirectory } from '../../src/hosting/site-directories/site-directory.ts'
import { jobs } from '../../src/jobs.ts'
import { dayOf } from '../../src/platform/log-store/days.ts'
import { cancelOperation } from '../../src/platform/operations/control.ts'
import type { EnqueueOptions } from '../../src/platform/operations/enqueue.ts'
import { ensureAccount } from '../../src/resources/account/account.ts'
import { insertRemoval } from '../../src/resources/account/removal.store.ts'
import { completeBackup, insertBackup, markDeleting } from '../../src/resources/backups/backup.store.ts'
import { nameOf, siteOwner } from '../../src/resources/backups/backup.ts'
import { backupIn, nameIn, storeTree } from '../../src/resources/backups/samples.fixture.ts'
import { takeBackup } from '../../src/resources/backups/take/take-backup.ts'
import { changeName, findName, insertName } from '../../src/resources/certificates/certificate.store.ts'
import { knownReleases, replaceReleases } from '../../src/resources/cms-version/release.store.ts'
import { madeOffer } from '../../src/resources/cms-version/samples.fixture.ts'
import { putAccountAccess } from '../../src/resources/collaborators/account-access.store.ts'
import { sourceOfRequest } from '../../src/resources/collaborators/batch/batch.job.ts'
import { COLLABORATOR_PASSWORD_PURPOSE } from '../../src/resources/collaborators/reset-collaborator-password.job.ts'
import { zoneIn } from '../../src/resources/dns/samples.fixture.ts'
import { setDue } from '../../src/resources/dnssec/key.store.ts'
import { signZone } from '../../src/resources/dnssec/samples.fixture.ts'
import { expectCheck } from '../../src/resources/domains/check.store.ts'
import { insertClaim } from '../../src/resources/domains/claim.store.ts'
import { insertLicense } from '../../src/resources/extension-license/license.store.ts'
import { listImportsOf } from '../../src/resources/imports/import.store.ts'
import { importIn, madePlan } from '../../src/resources/imports/samples.fixture.ts'
import {
  listRecordsBackups,
  recordsRepository,
  verifyRecords,
} from '../../src/resources/installation/records-backup.ts'
import { keepContent, useContent } from '../../src/resources/must-use-plugins/content.store.ts'
import { addAllSites } from '../../src/resources/must-use-plugins/member.store.ts'
import { changeMuPlugin, insertMuPlugin } from '../../src/resources/must-use-plugins/mu-plugin.store.ts'
import { FOLDER } from '../../src/resources/must-use-plugins/mu-plugin.ts'
import { latestReport } from '../../src/resources/performance-reports/report.store.ts'
import { storedPlugins } from '../../src/resources/plugins/plugin.store.ts'
import { insertLink } from '../../src/resources/sign-in/credentials.store.ts'
import { putRoute } from '../../src/resources/sites/addresses/route.store.ts'
import { changeSite, findSite, markDeleted, writtenAddressOf } from '../../src/resources/sites/site.store.ts'
import { hostOfAddress, type Site, stagingAddress } from '../../src/resources/sites/site.ts'
import { switchSetting } from '../../src/resources/sites/switches/switches.store.ts'
import { PASSWORD_PURPOSE } from '../../src/resources/sites/wordpress/reset-admin-password.job.ts'
import type { Person, TestApi } from '../support/api.ts'
import type { FakeHost } from '../support/fake-host.ts'
import { startFileServer } from '../support/file-server.ts'
import { archivesOf, contentFiles, makeDump } from '../support/hosted-archives.ts'

/** Created again for each run. */
export interface World {
  readonly api: TestApi
  readonly host: FakeHost
  readonly owner: Person
  readonly mate: Person
  /** Live in the control database only. */
  readonly site: number
  /** Message-IDs that the mail server has. */
  readonly mails: Set<string>
  /** The times of log maintenance. */
  readonly maintained: number[]
}

export interface JobSample {
  /**
   * Creates the subject of the work.
   * @returns its input, and additional options to enqueue it with
   */
  prepare(world: World): Promise<{ input: object; options?: EnqueueOptions }>
  /** Checks what must hold after it succeeded, however often it was interrupted. */
  done(world: World): Promise<void>
  /** Required if a step has an undo: what must hold after it failed. */
  left?(world: World): Promise<void>
}

const SECRET = 'correct horse battery'
const OLD = 1_000_000

const rows = async (
  { api }: World,
  table: 'activity' | 'events' | 'operations',
  column: 'action' | 'type',
  value: string,
  site: number,
) => {
  const found = await api.database.read.selectFrom(table).selectAll().where('site_id', '=', site).execute()
  return found.filter((row) => (row as unknown as Record<string, unknown>)[column] === value).length
}
const ofWorld = ({ site }: World) => `s${site}.example.com`
const wantName = (world: World) => {
  const now = Date.now()
  return change(world, (tx) => insertName(tx, { hostName: ofWorld(world), siteId: world.site, dueAt: now, now }))
}
/** The stored pages are from before the change. */
const isPurged = async ({ api, site }: World): Promise<boolean> => {
  const purges = api.database.read.selectFrom('cache_purges').select('page_epoch').where('site_id', '=', site)
  return (await purges.execute()).length === 1
}
const aboutSite = async ({ site }: World) => ({ input: { siteId: site } })
export const change = (world: World, work: Parameters<TestApi['database']['transaction']>[0]) =>
  world.api.database.transaction(work)
const directoryOf = ({ host, site }: World) => host.services.siteDirectories.ofSite(site)
const cloneOf = async ({ api, site }: World) => {
  const row = api.database.read.selectFrom('sites').select('id').where('cloned_from_id', '=', site)
  return (await findSite(api.database.read, (await row.executeTakeFirstOrThrow()).id)) as Site
}
const closedBy = async ({ api, site }: World) => {
  const row = api.database.read.selectFrom('sites').select('closed_by').where('id', '=', site)
  return (await row.executeTakeFirstOrThrow()).closed_by
}
const usage = ({ api, site }: World) =>
  api.database.read
    .selectFrom('site_statistics')
    .select('database_bytes')
    .where('site_id', '=', site)
    .executeTakeFirst()

/** A backup of files and database, complete in the control database. */
async function backUpSite({ api, host, site: siteId }: World): Promise<void> {
  const directory = await host.services.siteDirectories.ofSite(siteId)
  const core = host.services.siteDirectories.corePath(directory as NonNullable<typeof directory>)
  for (const folder of ['wp-admin', 'wp-includes']) await mkdir(join(core, folder), { recursive: true })
  for (const kind of ['fs', 'db'] as const) {
    const now = Date.now()
    const backup = await api.database.transaction((tx) =>
      insertBackup(tx, { siteId, kind, origin: 'scheduled', createdBy: null, deleteAt: now + 1e9, now }),
    )
    const order = { siteId, name: nameOf(backup), kind, signal: AbortSignal.timeout(60_000) }
    const taken = await takeBackup(host.services, order)
    await api.database.transaction((tx) => completeBackup(tx, backup, taken, now))
  }
}

/** A plugin `forms` in a site directory, as the WordPress of this test has it. */
async function withPlugin(
  { host, api, site }: World,
  plugin: { version: string; isActive: boolean } | undefined,
): Promise<void> {
  const directory = await host.giveDirectory(site)
  await api.database.transaction((tx) =>
    changeSite(tx, site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1),
  )
  if (!plugin) return
  await mkdir(join(directory, 'web/wp-content/plugins/forms'), { recursive: true })
  await writeFile(join(directory, 'web/wp-content/plugins/forms/forms.php'), plugin.version)
  if (plugin.isActive) host.wordpress(site).activePlugins.add('forms/forms.php')
}

/** Work on the plugin `forms`: its state before, the requested release, and its state afterwards. */
function pluginChange(
  { before, release }: { before: { version: string; isActive: boolean } | undefined; release?: string },
  { done, action }: { done: [string, string] | undefined; action: string },
): JobSample {
  const installed = async ({ host, site }: World) => {
    const folder = join(
      (await host.services.siteDirectories.ofSite(site))?.path as string,
      'web/wp-content/plugins/forms',
    )
    if (!existsSync(folder)) return undefined
    const version = await readFile(join(folder, 'forms.php'), 'utf8')
    return [version, host.wordpress(site).activePlugins.has('forms/forms.php') ? 'active' : 'inactive']
  }
  const wanted = release === undefined ? null : { url: `https://example.com/forms.${release}.zip`, version: release }
  return {
    async prepare(world) {
      await withPlugin(world, before)
      return {
        input: { siteId: world.site, plugins: [{ path: 'forms', version: release ?? null, package: wanted }] },
      }
    },
    async done(world) {
      expect(await installed(world)).toEqual(done)
      expect(await rows(world, 'activity', 'action', action, world.site)).toBe(1)
      expect(await isPurged(world)).toBe(true)
      const staged = join((await directoryOf(world))?.path as string, 'web/wp-content/upgrade')
      expect(existsSync(staged) ? readdirSync(staged) : []).toEqual([])
    },
    async left(world) {
      // It failed before it changed anything, or after it had changed everything.
      const was = before && [before.version, before.isActive ? 'active' : 'inactive']
      expect([was, done]).toContainEqual(await installed(world))
      expect(await world.api.database.read.selectFrom('plugin_changes').selectAll().execute()).toEqual([])
    },
  }
}

/**
 * Work that deletes old rows and keeps new ones.
 * @param young a time at which a row must stay
 * @param insert inserts a row with a time
 * @param left returns the times of the remaining rows
 */
const forgets = (
  young: () => number,
  insert: (world: World, at: number) => Promise<unknown>,
  left: (world: World) => Promise<{ at: number }[]>,
): JobSample => {
  const times = async (world: World) => [...new Set((await left(world)).map(({ at }) => at))].sort((a, b) => a - b)
  let kept: number
  return {
    async prepare(world) {
      kept = young()
      await insert(world, OLD)
      await insert(world, kept)
      expect(await times(world)).toEqual([OLD, kept])
      return { input: {} }
    },
    async done(world) {
      expect(await times(world)).toEqual([kept])
    },
  }
}
const DAY_MS = 86_400_000
const daysAgo = (days: number) => () => Date.now() - days * DAY_MS
const inAnHour = () => Date.now() + 3_600_000

/** A site with 6.8 that changes to another release, which a source offers. */
const updateOfRelease = (version: string): JobSample => ({
  async prepare(world) {
    const path = await world.host.giveDirectory(world.site)
    await writeFile(join(path, 'web/index.php'), 'of 6.8')
    await writeFile(join(path, 'web/own.php'), 'of the owner')
    await change(world, (tx) =>
      changeSite(tx, world.site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1),
    )
    await change(world, (tx) => replaceReleases(tx, [madeOffer(version)], Date.now()))
    return { input: { siteId: world.site, version, channel: 'stable' } }
  },
  async done(world) {
    const { path, coreVersion } = (await directoryOf(world)) as SiteDirectory
    expect(readFileSync(join(path, 'web/index.php'), 'utf8')).toBe(`<?php // of ${version}`)
    expect(readFileSync(join(path, 'web/own.php'), 'utf8')).toBe('of the owner')
    expect([coreVersion, (await findSite(world.api.database.read, world.site))?.coreVersion]).toEqual([
      version,
      version,
    ])
    expect([world.host.title(path), world.host.option(path, 'db_version')]).toEqual(['old', 'upgraded'])
    expect(existsSync(join(path, 'exchange'))).toBe(false)
    expect(readdirSync(join(path, 'private/database'))).toEqual(['site.sqlite'])
    expect(await closedBy(world)).toBeNull()
    expect(await rows(world, 'events', 'type', 'wp_version_changed', world.site)).toBe(1)
    expect(await isPurged(world)).toBe(true)
  },
  async left(world) {
    const { path, coreVersion } = (await directoryOf(world)) as SiteDirectory
    const isDone = (await rows(world, 'events', 'type', 'wp_version_changed', world.site)) === 1
    expect(readFileSync(join(path, 'web/index.php'), 'utf8')).toBe(isDone ? `<?php // of ${version}` : 'of 6.8')
    const runs = isDone ? version : '6.8'
    expect([coreVersion, (await findSite(world.api.database.read, world.site))?.coreVersion]).toEqual([runs, runs])
    // The change of an upgrade to a database cannot be undone there.
    expect(world.host.option(path, 'db_version')).toBe(isDone ? 'upgraded' : 'old')
    expect(world.host.title(path)).toBe('old')
    expect(await closedBy(world)).toBeNull()
    expect(world.host.held.has(world.site)).toBe(false)
  },
})

const importFolder = ({ host }: World, importId: number): string =>
  join(host.services.config.dataDir, 'imports', String(importId))

export const jobSamples: Record<string, JobSample> = {
  'site.provision': {
    async prepare(world) {
      await change(world, (tx) =>
        tx
          .updateTable('sites')
          .set({ state: 'deploying', core_version: null, install: 'woocommerce' })
          .where('id', '=', world.site)
          .execute(),
      )
      return aboutSite(world)
    },
    async done(world) {
      const site = await findSite(world.api.database.read, world.site)
      expect(site).toMatchObject({ state: 'live', coreVersion: '6.8', deployError: null })
      const { path } = (await directoryOf(world)) as SiteDirectory
      expect(world.host.title(path)).toBe(site?.displayName)
      expect(existsSync(join(path, 'web/wp-content/plugins/woocommerce/woocommerce.php'))).toBe(true)
      expect([...world.host.wordpress(world.site).activePlugins]).toEqual(['woocommerce/woocommerce.php'])
      expect(await rows(world, 'activity', 'action', 'site.deployed', world.site)).toBe(1)
      expect(await rows(world, 'events', 'type', 'site_created', world.site)).toBe(1)
      // Not in the queue of this host.
      const measures = world.api.database.read.selectFrom('operations').select(['site_id', 'input'])
      const asked = (await measures.where('type', '=', 'statistics.measure_site').execute()).filter(
        ({ input }) => JSON.parse(input).siteId === world.site,
      )
      expect(asked).toMatchObject([{ site_id: null }])
    },
    async left(world) {
      expect(await directoryOf(world)).toBeUndefined()
      expect(world.host.directoriesOnDisk()).toEqual([])
      expect(world.host.running.has(world.site)).toBe(false)
      const site = await findSite(world.api.database.read, world.site)
      expect(site).toMatchObject({ state: 'deploying', deployError: expect.stringContaining('/retry') })
      expect(await rows(world, 'activity', 'action', 'site.deployed', world.site)).toBe(0)
      expect(await rows(world, 'events', 'type', 'site_created', world.site)).toBe(0)
    },
  },

  'site.clone': {
    async prepare(world) {
      const { api, host, owner, site } = world
      const siteDirectory = await host.giveDirectory(site)
      await writeFile(join(siteDirectory, 'web/wp-content.txt'), 'of the source')
      await mkdir(join(siteDirectory, 'web/wp-content/uploads'), { recursive: true })
      await writeFile(join(siteDirectory, 'web/wp-content/uploads/made.css'), '@import "//old.example.com/a.css"')
      const clone = await api.site(owner, `clone-of-${site}`)
      await change(world, async (tx) => {
        await changeSite(tx, site, { writtenAddress: 'old.example.com' }, 1)
        const values = { state: 'cloning', core_version: null, cloned_from_id: site } as const
        await tx.updateTable('sites').set(values).where('id', '=', clone).execute()
      })
      return { input: { siteId: clone, sourceId: site }, options: { siteId: clone } }
    },
    async done(world) {
      const { api, host, site: source } = world
      const clone = await cloneOf(world)
      const address = stagingAddress(clone.name, api.config)
      expect(clone).toMatchObject({ state: 'live', coreVersion: '6.8', deployError: null })
      expect(await writtenAddressOf(api.database.read, clone.id)).toBe(address)
      const path = (await host.services.siteDirectories.ofSite(clone.id))?.path as string
      expect(host.title(path)).toBe('old')
      expect(host.option(path, 'siteurl')).toBe(`http://${address}`)
      expect(readFileSync(join(path, 'web/wp-content.txt'), 'utf8')).toBe('of the source')
      expect(readFileSync(join(path, 'web/wp-content/uploads/made.css'), 'utf8')).toBe(`@import "//${address}/a.css"`)
      const keyOf = (directory: string) =>
        /'AUTH_KEY', '(.*)'/.exec(readFileSync(join(directory, 'web/wp-config.php'), 'utf8'))?.[1]
      expect(keyOf(path)).not.toBe(keyOf((await directoryOf(world))?.path as string))
      expect(await rows(world, 'activity', 'action', 'site.deployed', clone.id)).toBe(1)
      expect(await rows(world, 'events', 'type', 'site_created', clone.id)).toBe(1)
      expect(await findSite(api.database.read, source)).toMatchObject({ state: 'live' })
    },
    async left(world) {
      const { host } = world
      const clone = await cloneOf(world)
      expect(await host.services.siteDirectories.ofSite(clone.id)).toBeUndefined()
      expect(host.directoriesOnDisk()).toHaveLength(1)
      expect(host.running.has(clone.id)).toBe(false)
      expect(clone).toMatchObject({ state: 'cloning', deployError: expect.stringContaining('/retry') })
      expect(await rows(world, 'activity', 'action', 'site.deployed', clone.id)).toBe(0)
      expect(await rows(world, 'events', 'type', 'site_created', clone.id)).toBe(0)
    },
  },

  'mu_plugin.install': {
    async prepare(world) {
      return muPluginOf(world, { offered: '<?php // new' })
    },
    async done(world) {
      expect(await muPluginFile(world)).toBe('<?php // new')
      expect(await muPluginEvents(world)).toBe('mu_plugin_install_success')
      expect(await isPurged(world)).toBe(true)
    },
  },

  'mu_plugin.update': {
    async prepare(world) {
      return muPluginOf(world, { offered: '<?php // new', had: '<?php // old' })
    },
    async done(world) {
      expect(await muPluginFile(world)).toBe('<?php // new')
      expect(await muPluginEvents(world)).toBe('mu_plugin_update_success')
      expect(await isPurged(world)).toBe(true)
    },
  },

  'mu_plugin.remove': {
    async prepare(world) {
      const { input, options } = await muPluginOf(world, { had: '<?php // old' })
      await change(world, (tx) => changeMuPlugin(tx, input.pluginId, { deleted_at: 1 }))
      return { input, options }
    },
    async done(world) {
      expect(await muPluginFile(world)).toBeUndefined()
      expect(await muPluginEvents(world)).toBe('mu_plugin_deleted')
      const left = world.api.database.read.selectFrom('mu_plugins').select('id')
      expect(await left.where('account_id', '=', world.owner.accountId).execute()).toEqual([])
    },
  },

  'mu_plugin.bring': {
    async prepare(world) {
      const asked = await muPluginOf(world, { had: '<?php // old' })
      await rm(await muPluginPath(world))
      return asked
    },
    async done(world) {
      expect(await muPluginFile(world)).toBe('<?php // old')
    },
  },

  'mu_plugin.bring_to_site': {
    async prepare(world) {
      await muPluginOf(world, { had: '<?php // old' })
      await rm(await muPluginPath(world))
      return aboutSite(world)
    },
    async done(world) {
      expect(await muPluginFile(world)).toBe('<?php // old')
      expect(await isPurged(world)).toBe(true)
    },
  },

  'site.sync': {
    async prepare(world) {
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
    },
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

  'site.configure': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, async (tx) => {
        await changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1)
        await tx.updateTable('sites').set({ multisite: 1 }).where('id', '=', world.site).execute()
        // Its address under another staging domain.
        await tx
          .updateTable('routes')
          .set({ host_name: `old-${world.site}.test` })
          .where('site_id', '=', world.site)
          .execute()
      })
      return aboutSite(world)
    },
    async done(world) {
      const site = await findSite(world.api.database.read, world.site)
      const address = stagingAddress(site?.name as string, world.api.config)
      expect(await writtenAddressOf(world.api.database.read, world.site)).toBe(address)
      const names = world.api.database.read.selectFrom('routes').select('host_name').where('site_id', '=', world.site)
      expect(await names.execute()).toEqual([{ host_name: hostOfAddress(address) }])
      expect(world.host.wordpress(world.site).movedTo).toBe(address)
      const config = readFileSync(join((await directoryOf(world))?.path as string, 'web/wp-config.php'), 'utf8')
      expect(config.match(/define\('MULTISITE', true\)/g)).toHaveLength(1)
      expect(config).toContain(`define('DOMAIN_CURRENT_SITE', '${address}');`)
      expect(await isPurged(world)).toBe(true)
    },
  },

  'site.remove': {
    async prepare(world) {
      world.host.running.add(world.site)
      await change(world, (tx) => markDeleted(tx, world.site, Date.now()))
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.running.has(world.site)).toBe(false)
      expect(await rows(world, 'operations', 'type', 'site.purge', world.site)).toBe(1)
    },
  },

  'account.remove': {
    // without sites: their hosts remove them, as remove-account.test.ts sees
    async prepare(world) {
      const { api, mate, owner, site } = world
      await api.collaborate(mate, site, ['wp_access'])
      await mate.call('POST', '/v1/webhooks', { url: 'https://hooks.example.com' })
      await zoneIn(api, { accountId: mate.accountId, siteId: site })
      const removalId = await change(world, async (tx) => {
        const { account } = await ensureAccount(tx, `helper-of-${mate.email}`, 1)
        const access = { ownerAccountId: mate.accountId, accountId: account.id, addToAllNew: true, createSite: true }
        await putAccountAccess(tx, { ...access, roles: [] })
        const asked = { accountId: mate.accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt: null }
        return insertRemoval(tx, asked)
      })
      const input = { accountId: mate.accountId, removalId, email: mate.email }
      return { input, options: { siteId: null, accountId: owner.accountId } }
    },
    async done({ api, mate, owner }) {
      const { read } = api.database
      const left = read.selectFrom('accounts').select('email').where('email', 'like', `%${mate.email}`)
      expect(await left.execute()).toEqual([])
      const log = read.selectFrom('activity').select(['message', 'account_id']).orderBy('id')
      const entries = (await log.where('message', 'like', `Removed the account %`).execute()).slice(-2)
      expect(entries).toEqual([
        {
          message: `Removed the account helper-of-${mate.email}, which only had access to ${mate.email}`,
          account_id: owner.accountId,
        },
        { message: `Removed the account ${mate.email}`, account_id: owner.accountId },
      ])
    },
  },

  'site.move': {
    // Moves it to where it is. The e2e tests move content, on a server.
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      return { input: { siteId: world.site, runtime: 'wasm', phpVersion: '8.3' } }
    },
    async done(world) {
      expect(await directoryOf(world)).toMatchObject({ database: 'sqlite' })
      const path = (await directoryOf(world))?.path as string
      expect(world.host.title(path)).toBe('old')
    },
    async left(world) {
      expect(await directoryOf(world)).toMatchObject({ database: 'sqlite' })
      expect(await closedBy(world)).toBe(null)
      expect(await besideSite(world)).toEqual([])
    },
  },

  'site.purge': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      world.host.running.add(world.site)
      await change(world, (tx) => markDeleted(tx, world.site, Date.now()))
      return aboutSite(world)
    },
    async done(world) {
      expect(await directoryOf(world)).toBeUndefined()
      expect(world.host.directoriesOnDisk()).toEqual([])
      expect(world.host.running.has(world.site)).toBe(false)
      const routes = world.api.database.read.selectFrom('routes').select('host_name')
      expect(await routes.where('site_id', '=', world.site).execute()).toEqual([])
    },
  },

  'site.reset_admin_password': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      world.host.wordpress(world.site).hasDropIn = true
      const passwordSealed = world.host.services.sealer.seal(SECRET, PASSWORD_PURPOSE)
      return { input: { siteId: world.site, passwordSealed } }
    },
    async done(world) {
      expect([...world.host.wordpress(world.site).passwords]).toEqual([['admin', SECRET]])
      // It would know the old password.
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
      expect(await rows(world, 'events', 'type', 'wp_admin_password_reset', world.site)).toBe(1)
    },
  },

  'site.switch_safe_mode': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      world.host.running.add(world.site)
      await change(world, async (tx) => {
        await changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1)
        await switchSetting(tx, world.site, 'safe_mode', true, 1)
      })
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.running.has(world.site)).toBe(false)
      const purges = world.api.database.read.selectFrom('cache_purges').select('page_epoch')
      expect(await purges.where('site_id', '=', world.site).execute()).toEqual([{ page_epoch: 2 }])
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

  'import.inspect': {
    async prepare(world) {
      const path = await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      await writeFile(join(path, 'web/page.txt'), 'untouched')
      const files = Object.entries(archivesOf.wpress()).map(([name, content], index) => ({
        number: index + 1,
        name,
        content,
      }))
      const uploads = files.map(({ content, ...file }) => ({
        ...file,
        bytes: content.length,
        received: content.length,
      }))
      const importId = await importIn(world.api, world.site, { state: 'inspecting', sources: [], uploads })
      const uploaded = join(importFolder(world, importId), 'uploaded')
      await mkdir(uploaded, { recursive: true })
      for (const { number, content } of files) await writeFile(join(uploaded, String(number)), content)
      return { input: { siteId: world.site, importId, askedById: world.owner.accountId } }
    },
    async done(world) {
      const [found] = await listImportsOf(world.api.database.read, world.site)
      expect(found).toMatchObject({ state: 'ready', error: null, plan: { format: 'wpress', blockers: [] } })
      expect(readdirSync(importFolder(world, found?.id as number)).sort()).toEqual(['content', 'database.sql'])
      expect(readFileSync(join((await directoryOf(world))?.path as string, 'web/page.txt'), 'utf8')).toBe('untouched')
      expect(await besideSite(world)).toEqual([])
      expect(await rows(world, 'activity', 'action', 'import.inspected', world.site)).toBe(1)
    },
    async left(world) {
      const [found] = await listImportsOf(world.api.database.read, world.site)
      if (found?.state === 'ready') return
      expect(found).toMatchObject({ state: 'failed', error: expect.any(String) })
      const left = readdirSync(importFolder(world, found?.id as number))
      expect(left.filter((name) => name !== 'uploaded')).toEqual([])
    },
  },

  'site.import': {
    async prepare(world) {
      const { api, site, owner, host } = world
      const path = await host.giveDirectory(site)
      await change(world, (tx) => changeSite(tx, site, { writtenAddress: 'new.example.com', coreVersion: '6.8' }, 1))
      await change(world, (tx) => putRoute(tx, site, `restored-${site}.test`, 1))
      await writeFile(join(path, 'web/wp-config.php'), "<?php\n$table_prefix = 'wp_';\nrequire 'wp-settings.php';\n")
      await mkdir(join(path, 'web/wp-content/uploads'), { recursive: true })
      await writeFile(join(path, 'web/wp-content/uploads/before.txt'), 'before')
      host.running.add(site)
      const old = await startFileServer()
      old.files.set('/', '<title>Old</title>')
      const plan = { ...madePlan, from: { ...madePlan.from, home: old.base } }
      const importId = await importIn(api, site, { state: 'importing', plan })
      const content = join(importFolder(world, importId), 'content')
      for (const { name, content: text } of contentFiles) {
        await mkdir(join(content, 'wp-content', dirname(name)), { recursive: true })
        await writeFile(join(content, 'wp-content', name), text ?? '')
      }
      await writeFile(join(importFolder(world, importId), 'database.sql'), makeDump())
      const leaveOut = ['wp-content/object-cache.php', 'wp-content/mu-plugins/kinsta-mu-plugins.php']
      return { input: { siteId: site, importId, leaveOut, askedById: owner.accountId } }
    },
    async done(world) {
      const { api, site, host } = world
      const path = (await directoryOf(world))?.path as string
      const at = (name: string) => join(path, 'web/wp-content', name)
      expect(host.title(path)).toBe('Imported')
      expect(host.option(path, 'home')).toBe('http://new.example.com')
      expect(readFileSync(at('uploads/2026/01/boat.txt'), 'utf8')).toBe('a boat')
      expect(readFileSync(at('uploads/made.css'), 'utf8')).toBe('@import "//new.example.com/a.css"')
      for (const gone of ['uploads/before.txt', 'object-cache.php', 'mu-plugins/kinsta-mu-plugins.php'])
        expect([gone, existsSync(at(gone))]).toEqual([gone, false])
      expect(await besideSite(world)).toEqual([])
      expect([await isClosed(api, site), host.held.has(site)]).toEqual([false, false])
      const [found] = await listImportsOf(api.database.read, site)
      const front = { path: '/', old: { status: 200, title: 'Old' }, differentPicture: 0.5, noPicture: null }
      expect(found).toMatchObject({ state: 'imported', error: null, comparison: [front] })
      expect(existsSync(importFolder(world, found?.id as number))).toBe(false)
      expect(await rows(world, 'events', 'type', 'site_imported', site)).toBe(1)
      expect(await isPurged(world)).toBe(true)
      const kept = api.database.read.selectFrom('backups').select('state').where('origin', '=', 'undo')
      const states = (await kept.where('site_id', '=', site).execute()).map(({ state }) => state)
      expect([...new Set(states)]).toEqual(['completed'])
    },
    async left(world) {
      const { api, site, host } = world
      const path = (await directoryOf(world))?.path as string
      expect([await isClosed(api, site), host.held.has(site)]).toEqual([false, false])
      expect(await besideSite(world)).toEqual([])
      const [found] = await listImportsOf(api.database.read, site)
      const isDone = (await rows(world, 'events', 'type', 'site_imported', site)) === 1
      expect(existsSync(join(path, 'web/wp-content/uploads/before.txt'))).toBe(!isDone)
      expect(host.title(path)).toBe(isDone ? 'Imported' : 'old')
      expect(found?.state).toBe(isDone ? 'imported' : 'ready')
      // It can be started once more.
      if (!isDone) expect(existsSync(join(importFolder(world, found?.id as number), 'database.sql'))).toBe(true)
      expect(await rows(world, 'events', 'type', 'site_import_failed', site)).toBe(isDone ? 0 : 1)
    },
  },

  'import.remove': {
    async prepare(world) {
      const importId = await importIn(world.api, world.site)
      for (const id of [importId, 987_654]) await mkdir(join(importFolder(world, id), 'content'), { recursive: true })
      return { input: { siteId: world.site, importId } }
    },
    async done(world) {
      expect(await listImportsOf(world.api.database.read, world.site)).toEqual([])
      // And nothing that belongs to no import.
      expect(readdirSync(dirname(importFolder(world, 1)))).toEqual([])
    },
  },

  'imports.expire': {
    async prepare(world) {
      const importId = await importIn(world.api, world.site)
      await change(world, (tx) => tx.updateTable('imports').set({ expires_at: 1 }).where('id', '=', importId).execute())
      return { input: {} }
    },
    async done(world) {
      expect(await listImportsOf(world.api.database.read, world.site)).toMatchObject([{ state: 'failed' }])
      const asked = world.api.database.read.selectFrom('operations').select('site_id')
      expect(await asked.where('type', '=', 'import.remove').where('site_id', '=', world.site).execute()).toHaveLength(
        1,
      )
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

  'collaborator.sync_wp_user': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      await world.api.collaborate(world.mate, world.site, ['wp_access'])
      world.host.wordpress(world.site).users.set(world.mate.email, 'another-login')
      return { input: { siteId: world.site, accountId: world.mate.accountId, reassign: 'keep' } }
    },
    done: (world) => hasLogin(world, 'another-login'),
  },

  'collaborator.reset_password': {
    async prepare(world) {
      const { site, mate, host } = world
      const { input } = await (jobSamples['collaborator.sync_wp_user'] as JobSample).prepare(world)
      expect(input).toMatchObject({ siteId: site })
      host.wordpress(site).hasDropIn = true
      const passwordSealed = host.services.sealer.seal(SECRET, COLLABORATOR_PASSWORD_PURPOSE)
      return { input: { siteId: site, accountId: mate.accountId, passwordSealed } }
    },
    async done(world) {
      await hasLogin(world, 'another-login')
      expect([...world.host.wordpress(world.site).passwords.values()]).toEqual([SECRET])
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
      expect(await rows(world, 'events', 'type', 'wp_admin_password_reset', world.site)).toBe(1)
    },
  },

  'statistics.measure_site': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      return aboutSite(world)
    },
    async done(world) {
      expect((await usage(world))?.database_bytes).toBeGreaterThan(1000)
    },
  },

  'statistics.measure': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect((await usage(world))?.database_bytes).toBeGreaterThan(1000)
    },
  },

  'site.flush_object_cache': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
    },
  },

  'site.make_performance_report': {
    prepare: async (world) => aboutSite(world),
    async done(world) {
      expect((await latestReport(world.api.database.read, world.site))?.hasThumbnail.mobile).toBe(true)
      expect(await rows(world, 'events', 'type', 'performance_report_created', world.site)).toBe(1)
      expect(await rows(world, 'activity', 'action', 'performance_report.screenshot', world.site)).toBe(1)
    },
  },

  'performance.plan_reports': {
    async prepare(world) {
      const { host, site } = world
      await change(world, async (tx) => {
        await tx.updateTable('sites').set({ host_id: null }).where('id', '<>', site).execute()
        await tx.updateTable('sites').set({ host_id: host.hostId }).where('id', '=', site).execute()
        await tx.updateTable('hosts').set({ facts: '{"canMeasurePages":true}' }).execute()
      })
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      expect(await rows(world, 'operations', 'type', 'site.make_performance_report', world.site)).toBe(1)
    },
  },

  'cms.look_for_releases': {
    prepare: async () => ({ input: {}, options: { siteId: null } }),
    async done({ api }) {
      expect((await knownReleases(api.database.read)).map(({ version }) => version)).toEqual(['6.9'])
    },
  },

  'cms.look_for_releases_nightly': {
    prepare: async () => ({ input: {}, options: { siteId: null } }),
    async done({ api }) {
      expect(await knownReleases(api.database.read)).toMatchObject([
        { version: '6.9', phpVersion: '8.1', isOffered: true },
      ])
    },
  },

  'cms.plan_look': {
    prepare: async () => ({ input: {}, options: { siteId: null, hostId: null } }),
    async done({ api }) {
      const asked = api.database.read
        .selectFrom('operations')
        .select('id')
        .where('type', '=', 'cms.look_for_releases_nightly')
      expect(await asked.execute()).not.toEqual([])
    },
  },

  'site.update_cms_version': updateOfRelease('6.9'),

  'site.update_cms_version_by_schedule': updateOfRelease('6.8.1'),

  'cms.plan_updates': {
    async prepare(world) {
      const { host, site } = world
      await change(world, async (tx) => {
        await replaceReleases(tx, [madeOffer('6.8.1')], Date.now())
        await changeSite(tx, site, { coreVersion: '6.8' }, 1)
        await tx.updateTable('sites').set({ host_id: host.hostId }).where('id', '=', site).execute()
        // Other tests may have left more.
        await tx.updateTable('sites').set({ core_version: null }).where('id', '<>', site).execute()
        await tx.deleteFrom('failed_updates').execute()
      })
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      expect(await rows(world, 'operations', 'type', 'site.update_cms_version_by_schedule', world.site)).toBe(1)
    },
  },

  'plugin.list': {
    async prepare(world) {
      await withPlugin(world, { version: '1.0', isActive: true })
      return { input: { siteId: world.site }, options: { siteId: null } }
    },
    async done({ api, site }) {
      expect((await storedPlugins(api.database.read, site)).map(({ name, status }) => [name, status])).toEqual([
        ['forms', 'active'],
      ])
    },
  },

  'plugin.install': pluginChange(
    { before: undefined, release: '2.0' },
    { done: ['2.0', 'active'], action: 'plugin.installed' },
  ),
  'plugin.update': pluginChange(
    { before: { version: '1.0', isActive: true }, release: '2.0' },
    { done: ['2.0', 'active'], action: 'plugin.updated' },
  ),
  'plugin.activate': pluginChange(
    { before: { version: '1.0', isActive: false } },
    { done: ['1.0', 'active'], action: 'plugin.activated' },
  ),
  'plugin.deactivate': pluginChange(
    { before: { version: '1.0', isActive: true } },
    { done: ['1.0', 'inactive'], action: 'plugin.deactivated' },
  ),
  'plugin.delete': pluginChange(
    { before: { version: '1.0', isActive: true } },
    { done: undefined, action: 'plugin.deleted' },
  ),

  'sftp.disconnect': {
    prepare: aboutSite,
    async done({ host, site }) {
      expect(host.disconnected).toContain(site)
    },
  },

  'extension_license.write': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, async (tx) => {
        await changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1)
        await insertLicense(tx, { siteId: world.site, licenseKey: 'the key', now: 1 })
      })
      world.host.wordpress(world.site).hasDropIn = true
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.wordpress(world.site).license).toBe('the key')
      // It would know the old value.
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
    },
  },

  'collaborator.batch_create': {
    async prepare(world) {
      const { mate, site } = world
      const input = { accountId: mate.accountId, siteIds: [site], roles: ['wp_access'], isInvited: false }
      return { input, options: { siteId: null, source: source(world) } }
    },
    async done(world) {
      expect(await membersOf(world)).toEqual([world.mate.accountId])
      expect(await rows(world, 'events', 'type', 'collaborator_added', world.site)).toBe(1)
      expect(await outcomes(world)).toEqual(['added'])
    },
  },

  'collaborator.batch_destroy': {
    async prepare(world) {
      const { mate, site, api } = world
      await api.collaborate(mate, site, ['wp_access'])
      const other = await api.site(world.owner, `other-${site}`)
      const about = { email: mate.email, accountId: mate.accountId, siteIds: [site, other], deletesWpUser: true }
      return { input: about, options: { siteId: null, source: source(world) } }
    },
    async done(world) {
      expect(await membersOf(world)).toEqual([])
      expect(await rows(world, 'events', 'type', 'collaborator_deleted', world.site)).toBe(1)
      expect(await outcomes(world)).toEqual(['absent', 'removed'])
    },
  },

  'site.maintenance': {
    // The other state: a toggle that ran twice would restore the old one.
    prepare: async ({ site }) => ({ input: { siteId: site, enabled: null } }),
    async done(world) {
      const sites = world.api.database.read.selectFrom('sites').select('maintenance')
      expect(await sites.where('id', '=', world.site).executeTakeFirst()).toEqual({ maintenance: 1 })
      expect(await rows(world, 'events', 'type', 'site_maintenance_mode_toggled', world.site)).toBe(1)
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
      return aboutSite(world)
    },
    async done({ api, site }) {
      expect(await api.backups.repository(siteOwner(site)).storedBytes()).toBe(0)
    },
  },

  'mail.send': {
    prepare: async ({ mate }) => ({
      input: { to: mate.email, subject: 's', text: 't', html: 'h', writtenAt: 1, key: 'k' },
      options: { siteId: null },
    }),
    async done({ mails }) {
      // At most, it is sent again with the same Message-ID.
      expect(mails.size).toBe(1)
    },
  },

  'password.mail_link': {
    prepare: async ({ owner }) => ({
      input: { accountId: owner.accountId, kind: 'lost' },
      options: { siteId: null },
    }),
    async done({ api, owner, mails }) {
      // At most, it is sent again with the same Message-ID. An interrupted attempt has created a link that was never
      // sent.
      expect(mails.size).toBe(1)
      const links = api.database.read.selectFrom('password_links').select('hash')
      expect((await links.where('account_id', '=', owner.accountId).execute()).length).toBeGreaterThan(0)
    },
  },

  'sign_ins.forget': forgets(
    inAnHour,
    ({ api, owner: { accountId } }, at) =>
      api.database.transaction(async (tx) => {
        await insertLink(tx, { hash: `of-${accountId}-${at}`, accountId, now: at, expiresAt: at })
        await tx
          .insertInto('sign_in_attempts')
          .values({ key: `of-${accountId}-${at}`, count: 1, last_at: at })
          .execute()
      }),
    async ({ api, owner: { accountId } }) => {
      const links = api.database.read.selectFrom('password_links').select('expires_at as at')
      const guesses = api.database.read.selectFrom('sign_in_attempts').select('last_at as at')
      const [ofLinks, ofGuesses] = [
        await links.where('account_id', '=', accountId).orderBy('at').execute(),
        await guesses.where('key', 'like', `of-${accountId}-%`).orderBy('at').execute(),
      ]
      expect(ofGuesses).toEqual(ofLinks)
      return ofLinks
    },
  ),

  'tokens.forget': forgets(
    inAnHour,
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('tokens')
          .values({
            hash: `of-${owner.applicationId}-${at}`,
            application_id: owner.applicationId,
            created_at: 1,
            expires_at: at,
            revoked_at: null,
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const tokens = api.database.read.selectFrom('tokens').select('expires_at as at')
      return tokens.where('hash', 'like', `of-${owner.applicationId}-%`).execute()
    },
  ),

  'idempotency_keys.forget': forgets(
    Date.now,
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('idempotency_keys')
          .values({
            application_id: owner.applicationId,
            key: `of-${at}`,
            fingerprint: 'f',
            response_sealed: null,
            status: 200,
            locked_until: at,
            created_at: at,
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const keys = api.database.read.selectFrom('idempotency_keys').select('created_at as at')
      return keys.where('application_id', '=', owner.applicationId).execute()
    },
  ),

  'activity.forget': forgets(
    daysAgo(59),
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('activity')
          .values({
            account_id: owner.accountId,
            site_id: null,
            action: 'note.created',
            description: 'd',
            message: 'm',
            source: 'systems',
            actor_email: null,
            ip_address: null,
            user_agent: '',
            created_at: at,
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const entries = api.database.read.selectFrom('activity').select('created_at as at')
      return entries.where('account_id', '=', owner.accountId).where('description', '=', 'd').execute()
    },
  ),

  'events.forget': forgets(
    daysAgo(29),
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('events')
          .values({ account_id: owner.accountId, site_id: null, type: 't', data: '{}', created_at: at })
          .execute(),
      ),
    ({ api, owner }) => {
      const events = api.database.read.selectFrom('events').select('created_at as at')
      return events.where('account_id', '=', owner.accountId).where('type', '=', 't').execute()
    },
  ),

  'operations.forget': forgets(
    daysAgo(29),
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('operations')
          .values({
            ...({ type: 'test.old', runner: 'control', state: 'failed', input: '{}', cancel_requested: 0 } as const),
            ...{
              account_id: owner.accountId,
              attempts: 1,
              progress: 0,
              run_at: at,
              created_at: at,
              finished_at: at,
            },
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const ended = api.database.read.selectFrom('operations').select('created_at as at')
      return ended.where('account_id', '=', owner.accountId).where('type', '=', 'test.old').execute()
    },
  ),

  'mail_counts.forget': forgets(
    Date.now,
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('mail_counts')
          .values({ account_id: owner.accountId, address: 'a@example.com', subject_hash: 'h', created_at: at })
          .execute(),
      ),
    ({ api, owner }) => {
      const counts = api.database.read.selectFrom('mail_counts').select('created_at as at')
      return counts.where('account_id', '=', owner.accountId).execute()
    },
  ),

  // test/acme.test.ts tests the certificate authority.
  'certificate.order': {
    async prepare(world) {
      const { cert: chain } = await generate([{ name: 'commonName', value: 'a' }], { keyType: 'ec' })
      await wantName(world)
      await change(world, (tx) => changeName(tx, ofWorld(world), { chain, due_at: 0 }))
      return { input: { hostName: ofWorld(world) }, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      const row = await findName(world.api.database.read, ofWorld(world))
      // It is valid for a year: it was checked again, and nothing was ordered.
      expect(row?.due_at).toBeGreaterThan(Date.now())
      expect(row).toMatchObject({ order_url: null, reason: null })
    },
  },
  'certificates.plan': {
    async prepare(world) {
      await wantName(world)
      await change(world, (tx) => changeName(tx, ofWorld(world), { due_at: 0 }))
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      const { read } = world.api.database
      const orders = await read
        .selectFrom('operations')
        .select('input')
        .where('type', '=', 'certificate.order')
        .execute()
      const own = orders.filter(({ input }) => input === JSON.stringify({ hostName: ofWorld(world) }))
      expect(own).toHaveLength(1)
      expect((await findName(read, ofWorld(world)))?.due_at).toBeGreaterThan(Date.now())
    },
  },
  'hosts.evacuate': {
    async prepare(world) {
      const { api, site } = world
      for (const kind of ['fs', 'db'] as const) await backupIn(api, site, { kind })
      await change(world, async (tx) => {
        const values = { address: '', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0, state: 'lost' } as const
        const host = tx.insertInto('hosts').values({ name: `lost-with-${site}`, ...values })
        const { id } = await host.returning('id').executeTakeFirstOrThrow()
        await tx.updateTable('sites').set({ host_id: id }).where('id', '=', site).execute()
        const directory = { host_id: id, core_version: '6.8', install: 'wordpress', created_at: 1 }
        await tx
          .insertInto('site_homes')
          .values({ ...directory, site_id: site, state: 'taken' })
          .execute()
      })
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      const site = await findSite(world.api.database.read, world.site)
      expect(site?.hostId).toBe(world.host.hostId)
      expect(await rows(world, 'operations', 'type', 'site.bring_back', world.site)).toBe(1)
      // The recovery keeps the site closed until it ends, which it does not do here.
      const { closed_by } = await world.api.database.read
        .selectFrom('sites')
        .select('closed_by')
        .where('id', '=', world.site)
        .executeTakeFirstOrThrow()
      await change(world, (tx) => cancelOperation(tx, closed_by as number, Date.now(), jobs))
    },
  },

  'records.back_up': {
    async prepare() {
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done({ api }) {
      const repository = recordsRepository(api.backups)
      const [newest] = await listRecordsBackups(repository)
      expect(await verifyRecords(repository, newest?.name as string)).toBeGreaterThan(0)
    },
  },
  'site.bring_back': {
    async prepare(world) {
      const { host, site } = world
      const directory = await host.services.siteDirectories.claim(site, await host.services.template(), [])
      host.setTitle(directory.path, 'Kept')
      await backUpSite(world)
      await rm(directory.path, { recursive: true })
      return { input: { siteId: site } }
    },
    async done(world) {
      const path = (await directoryOf(world))?.path as string
      expect(world.host.title(path)).toBe('Kept')
      expect(readFileSync(join(path, 'web/wp-config.php'), 'utf8')).toBe('<?php')
      expect(await rows(world, 'activity', 'action', 'site.brought_back', world.site)).toBe(1)
      expect(await isPurged(world)).toBe(true)
      expect(world.host.held.has(world.site)).toBe(false)
    },
    async left({ host, site }) {
      expect(host.held.has(site)).toBe(false)
    },
  },

  'logs.drop': {
    prepare: async () => ({ input: {}, options: { siteId: null } }),
    async done({ maintained }) {
      expect(maintained.length).toBeGreaterThan(0)
      expect(Math.min(...maintained)).toBeGreaterThan(OLD)
    },
  },

  'domain.check': {
    async prepare(world) {
      const hostName = await withDomain(world)
      return { input: { siteId: world.site, hostName }, options: { siteId: null } }
    },
    done: looked,
  },

  'domains.check': {
    async prepare(world) {
      await withDomain(world)
      return { input: {}, options: { siteId: null } }
    },
    done: looked,
  },

  'domains.settle_claims': {
    async prepare(world) {
      const { api, owner, mate, site } = world
      const claim = {
        accountId: owner.accountId,
        holderId: mate.accountId,
        siteId: site,
        hostName: `www.${claimed(world)}`,
      }
      await change(world, (tx) => insertClaim(tx, { ...claim, zone: claimed(world), value: 'a', movesAt: 1 }))
      // Nothing answers there, and the claim has waited long enough.
      expect(api.config.resolvers).toEqual(['127.0.0.1:9'])
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      const { read } = world.api.database
      expect(await read.selectFrom('zone_claims').selectAll().where('zone', '=', claimed(world)).execute()).toEqual([])
      expect(await rows(world, 'activity', 'action', 'domain.claim_ended', world.site)).toBe(1)
    },
  },

  'dnssec.look': {
    prepare: async (world) => ({ input: { zoneId: await withSignedZone(world) }, options: { siteId: null } }),
    async done({ api, site }) {
      const zones = api.database.read.selectFrom('zones').where('name', '=', `signed-${site}.test`)
      const zone = await zones.select(['ds_looked_at', 'ds_fault']).executeTakeFirst()
      expect(zone?.ds_fault ?? zone?.ds_looked_at).not.toBeNull()
    },
  },

  'dnssec.plan': {
    async prepare(world) {
      const id = await withSignedZone(world)
      await change(world, (tx) => setDue(tx, id, 1))
      return { input: {}, options: { siteId: null } }
    },
    async done({ api }) {
      const looks = api.database.read.selectFrom('operations').select('id').where('type', '=', 'dnssec.look')
      expect(await looks.where('state', '=', 'queued').execute()).not.toHaveLength(0)
    },
  },

  'statistics.refresh': {
    async prepare(world) {
      await countViews(world)
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect(await viewsOf(world)).toContain('11')
      const measures = world.api.database.read.selectFrom('operations').select('id')
      expect(
        await measures.where('type', '=', 'statistics.measure').where('state', '=', 'queued').execute(),
      ).toHaveLength(1)
    },
  },

  'statistics.refresh_open': {
    async prepare(world) {
      await countViews(world)
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect(await viewsOf(world)).toContain('11')
    },
  },
}

async function withSignedZone({ api, site }: World): Promise<number> {
  const row = await api.database.read.selectFrom('sites').select('account_id').where('id', '=', site).executeTakeFirst()
  const accountId = row?.account_id as number
  const { zone } = await zoneIn(api, { accountId, siteId: site, name: `signed-${site}.test` })
  await signZone(api, zone)
  return zone
}

const claimed = ({ site }: World) => `claimed-${site}.test`

async function withDomain({ api, site }: World): Promise<string> {
  const name = `www.of-${site}.test`
  await api.database.transaction(async (tx) => {
    await putRoute(tx, site, name, 1, true)
    await expectCheck(tx, site, name, 1)
  })
  return name
}

/** Nothing answers there, which is a valid result. */
async function looked({ api, site }: World): Promise<void> {
  const checks = api.database.read.selectFrom('domain_checks').selectAll().where('site_id', '=', site)
  const check = await checks.executeTakeFirst()
  const reason = expect.stringContaining('cannot be looked up in the DNS')
  expect(check).toMatchObject({ host_name: `www.of-${site}.test`, healthy: 0, reason })
  expect(check?.checked_at).toBeGreaterThan(0)
}

/**
 * Files and a database that are also in the storage.
 * @returns the IDs of the backups
 */
async function backedUpSite(world: World): Promise<{ filesId: number; databaseId: number }> {
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

/** What a change of a complete site left beside it. */
async function besideSite({ host, site }: World): Promise<string[]> {
  const directory = await host.services.siteDirectories.ofSite(site)
  if (!directory) return ['no home']
  const known = ['home.json', 'private', 'web', 'database']
  const content = { siteId: site, siteDirectory: directory.path, uid: directory.uid }
  const { hasNext, hasPrevious } = await host.services.siteDatabase.state(content)
  const left = readdirSync(directory.path).filter((name) => !known.includes(name))
  return [...left, ...(hasNext ? ['next database'] : []), ...(hasPrevious ? ['previous database'] : [])]
}

const isClosed = async ({ database }: TestApi, site: number) => {
  const route = await loadRoute(database.read, `restored-${site}.test`)
  return route?.isClosed
}

const countViews = (world: World) =>
  change(world, (tx) =>
    tx
      .insertInto('page_view_days')
      .values({ site_id: world.site, day: dayOf(Date.now()), views: 11, people: 7 })
      .execute(),
  )

const viewsOf = async ({ api, site }: World) => {
  const stored = api.database.read.selectFrom('site_statistics').select('page_views').where('site_id', '=', site)
  return (await stored.executeTakeFirst())?.page_views ?? ''
}

async function hasLogin({ api, mate, site }: World, login: string): Promise<void> {
  const members = api.database.read.selectFrom('collaborators').select(['account_id', 'wp_username'])
  const member = await members.where('site_id', '=', site).executeTakeFirst()
  expect(member).toEqual({ account_id: mate.accountId, wp_username: login })
}

const membersOf = async ({ api, site }: World) => {
  const members = api.database.read.selectFrom('collaborators').select('account_id').where('site_id', '=', site)
  return (await members.execute()).map(({ account_id }) => account_id)
}

/** The newest operation on many sites. */
const outcomes = async ({ api }: World) => {
  const all = await api.database.read.selectFrom('operation_results').selectAll().execute()
  const newest = Math.max(...all.map(({ operation_id }) => operation_id))
  return all
    .filter(({ operation_id }) => operation_id === newest)
    .map(({ outcome }) => outcome)
    .sort()
}

const source = ({ owner }: World) =>
  sourceOfRequest(
    { applicationId: owner.applicationId, accountId: owner.accountId, accountEmail: owner.email, isOwner: true },
    { id: 'r', ipAddress: '127.0.0.1', userAgent: 'test', headers: {} },
  )

async function backupOrder(world: World, kind: 'fs' | 'db', origin: 'ondemand' | 'scheduled') {
  await world.host.giveDirectory(world.site)
  const values = { siteId: world.site, kind, origin, createdBy: null, deleteAt: 9e15, now: 1 }
  const { id } = await world.api.database.transaction((tx) => insertBackup(tx, values))
  return { input: { siteId: world.site, backupId: id } }
}

/**
 * In the control database and in the storage.
 * @returns its ID
 */
async function writtenBackup({ api, site }: World): Promise<number> {
  const id = await backupIn(api, site)
  async function* content() {
    yield Buffer.from('content')
  }
  await api.backups.repository(siteOwner(site)).writeStream(content(), { name: await nameIn(api, id) })
  return id
}

const backupRows = ({ api, site }: World) =>
  api.database.read.selectFrom('backups').selectAll().where('site_id', '=', site).orderBy('id').execute()
/** What a sweep marked, which another sweep removes a day later. */
const unneededPacks = async ({ api, site }: World) =>
  (await api.backupStorage.list(`${siteOwner(site)}/marks/`)).filter(({ name }) => name.endsWith('-unneeded')).length
const storedBackups = ({ api, site }: World) => api.backups.repository(siteOwner(site)).list()

const muPluginPath = async (world: World) => join((await directoryOf(world))?.path as string, 'web', FOLDER, 'tool.php')

async function muPluginFile(world: World): Promise<string | undefined> {
  const path = await muPluginPath(world)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** The events except those of failures, which are sent before each retry. */
async function muPluginEvents({ api, owner }: World): Promise<string> {
  const ofAccount = api.database.read.selectFrom('events').select('type').where('account_id', '=', owner.accountId)
  const types = (await ofAccount.orderBy('id').execute()).map(({ type }) => type)
  return types.filter((type) => !type.endsWith('_failed')).join()
}

/** @param had what the site has of it, if it is not new */
async function muPluginOf(world: World, { offered, had }: { offered?: string; had?: string }) {
  const { owner, site, host } = world
  await host.giveDirectory(site)
  const server = await startFileServer()
  if (offered !== undefined) server.files.set('/tool.php', offered)
  const { accountId } = owner
  const pluginId = await change(world, async (tx) => {
    const path = `${server.base}/tool.php`
    const plugin = await insertMuPlugin(tx, { accountId, path, slug: 'tool.php', existing: true, future: true, now: 1 })
    if (had === undefined) return plugin.id
    const sha256 = createHash('sha256').update(had).digest('hex')
    await keepContent(tx, { accountId, slug: 'tool.php', sha256 }, Buffer.from(had), null)
    await useContent(tx, { accountId, slug: 'tool.php', sha256 }, 1)
    await changeMuPlugin(tx, plugin.id, { sha256 })
    await addAllSites(tx, plugin.id, accountId)
    return plugin.id
  })
  if (had !== undefined) {
    const path = await muPluginPath(world)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, had)
  }
  return { input: { pluginId: pluginId as number }, options: { siteId: null } }
}
