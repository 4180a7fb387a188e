import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import {
  aboutSite,
  answer,
  besideSite,
  breakPage,
  change,
  closedBy,
  deleteDirectory,
  deleteSite,
  directoryOf,
  give,
  isPurged,
  loseRights,
  refuse,
  rows,
  SECRET,
  sendAway,
  unavailable,
} from '../../../test/support/job-worlds.ts'
import { at, type Examples, onSite, type Sample, type Scene, setState, unique } from '../../../test/support/samples.ts'
import { EMPTY_DATACENTER, moreSites, plan, siteIs, write } from '../../../test/support/scenes.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import type { Tx } from '../../platform/db/database.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { insertRemoval } from '../account/removal.store.ts'
import { putRoute } from './addresses/route.store.ts'
import { cloneSiteJob } from './clone/clone-site.job.ts'
import { changeSite, findSite, markDeleted, writtenAddressOf } from './site.store.ts'
import { hostOfAddress, type Site, stagingAddress } from './site.ts'
import { switchSetting } from './switches/switches.store.ts'
import { PASSWORD_PURPOSE } from './wordpress/reset-admin-password.job.ts'

/** The owner is being removed. Their token still works, unlike that of a suspended account. */
const leavingOwner = ({ api, owner: { accountId } }: Scene) =>
  api.database.transaction((tx) =>
    insertRemoval(tx, { accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt: null }),
  )

const beingCloned = ({ api, owner, siteId }: Scene) =>
  api.database.transaction(async (tx) => {
    const { host_id: hostId } = await tx
      .selectFrom('sites')
      .select('host_id')
      .where('id', '=', siteId)
      .executeTakeFirstOrThrow()
    const target = { siteId, accountId: owner.accountId, hostId, runAt: Date.now() + 86_400_000 }
    await enqueue(tx, cloneSiteJob, { siteId, sourceId: siteId }, target)
  })

async function withAllStagingSites(scene: Scene): Promise<void> {
  await moreSites(4)(scene)
  const others = (tx: Tx) => tx.updateTable('sites').where('name', 'like', `more-${scene.number}-%`)
  await write(scene, (tx) => others(tx).set({ staging: 1 }).execute())
  await plan('Personal')(scene)
}

function withDomain({ api, siteId, number }: Scene): Promise<unknown> {
  return api.database.transaction(async (tx) => {
    await putRoute(tx, siteId, `scene-${number}.localhost`, 0)
    await putRoute(tx, siteId, `domain-${number}.example.com`, 0, true)
  })
}

/**
 * Removes all hosts.
 * @returns a function that restores them
 */
/** Hosts that report something, until the case is over. */
function hostRefuses(version: string) {
  return async (scene: Scene): Promise<() => Promise<unknown>> => {
    const hosts = await scene.api.database.read.selectFrom('hosts').select(['id', 'facts']).execute()
    const facts = JSON.stringify({ containment: { runtimes: { [version]: 'refused' } } })
    await write(scene, (tx) => tx.updateTable('hosts').set({ facts }).execute())
    return () =>
      write(scene, async (tx) => {
        for (const { id, facts: before } of hosts)
          await tx.updateTable('hosts').set({ facts: before }).where('id', '=', id).execute()
      })
  }
}

const cloneOf = async ({ api, site }: JobWorld) => {
  const row = api.database.read.selectFrom('sites').select('id').where('cloned_from_id', '=', site)
  return (await findSite(api.database.read, (await row.executeTakeFirstOrThrow()).id)) as Site
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listSites', path: at('/v1/sites') },
  { endpoint: 'createSite', path: at('/v1/sites'), body: () => ({ name: `new-${unique()}` }), status: 201 },
  { endpoint: 'createSite', path: at('/v1/sites'), body: ({ owner }) => ({ name: `new-${unique()}`, account_id: owner.accountId }), status: 201, isPrivate: true },
  { endpoint: 'validateSiteName', path: at('/v1/sites/validate'), body: () => ({ name: 'free-name' }) },
  { endpoint: 'searchSites', path: at('/v1/sites/search'), body: () => ({ filters: [{ key: 'state', value: 'live' }] }) },
  { endpoint: 'listInstallOptions', path: at('/v1/sites/install-options') },
  { endpoint: 'listDatacenters', path: at('/v1/sites/datacenters') },
  { endpoint: 'listPhpVersions', path: at('/v1/sites/php-versions') },
  { endpoint: 'getSite', path: onSite(''), roles: [] },
  { endpoint: 'getSiteStatus', path: onSite('/status'), roles: [] },
  { endpoint: 'updateSite', path: onSite(''), body: () => ({ name: 'Other' }), roles: ['update_site_custom_name'] },
  { endpoint: 'updateSite', path: onSite(''), body: () => ({ php_version: '8.1' }), roles: ['update_site_php_version'] },
  { endpoint: 'updateSite', path: onSite(''), body: () => ({ wp_environment_type: 'staging' }), roles: ['manage_performance'] },
  { endpoint: 'moveSite', path: onSite('/runtime'), body: () => ({ runtime: 'wasm' }), roles: ['update_site_php_version'] },
  { endpoint: 'deleteSite', path: onSite(''), roles: ['delete_site'] },
  { endpoint: 'disableSite', path: onSite('/disable'), roles: ['disable_site'], scope: true },
  { endpoint: 'enableSite', path: onSite('/enable'), roles: ['enable_site'], scope: true, prepare: setState('disabled') },
  { endpoint: 'convertSite', path: onSite('/convert'), roles: ['convert_site'], scope: true },
  { endpoint: 'cloneSite', path: onSite('/clone'), body: () => ({ name: `clone-${unique()}` }), roles: ['clone_site'] },
  { endpoint: 'resetAdminPassword', path: onSite('/cms/password-reset'), roles: ['wp_access'] },
  { endpoint: 'setSafeMode', path: onSite('/cms/safe-mode'), body: () => ({ enabled: true }), roles: ['wp_access'] },
]

const examples: Examples = {
  createSite: ({ number }) => ({ body: { name: `example-${number}` } }),
  cloneSite: ({ number }) => ({ body: { name: `clone-${number}` } }),
  updateSite: () => ({ body: { name: 'Renamed', php_version: '8.2', wp_environment_type: 'staging' } }),
  validateSiteName: () => ({ body: { name: 'example' } }),
  moveSite: () => ({ body: { runtime: 'wasm' } }),
  setSafeMode: () => ({ body: { enabled: true } }),
  searchSites: () => ({ body: { filters: [{ key: 'name', value: 'example' }] } }),
  enableSite: async ({ api, siteId }) => {
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ state: 'disabled' }).where('id', '=', siteId).execute(),
    )
    return {}
  },
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createSite', 'cloneSite', 'convertSite'], code: 'account_leaving', prepare: leavingOwner },
  { of: ['createSite'], code: 'name_taken', example: ({ number }) => ({ body: { name: `Scene-${number}` } }) },
  { of: ['createSite'], code: 'name_reserved', example: () => ({ body: { name: 'Panel' } }) },
  { of: ['createSite'], code: 'site_limit_reached', prepare: async (scene) => { await plan('Personal')(scene); await moreSites(2)(scene) } },
  { of: ['createSite'], code: 'plan_lacks_multisite', example: ({ number }) => ({ body: { name: `net-${number}`, multisite_support: true } }), prepare: plan('Business') },
  { of: ['createSite'], code: 'unknown_datacenter', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: 'XXX' } }) },
  { of: ['createSite'], code: 'php_version_not_there', example: ({ number }) => ({ body: { name: `old-${number}`, php_version: '8.1' } }), prepare: hostRefuses('8.1') },
  { of: ['updateSite'], code: 'php_version_not_there', example: () => ({ body: { php_version: '8.1' } }), prepare: hostRefuses('8.1') },
  { of: ['moveSite'], code: 'runtime_not_there', example: () => ({ body: { runtime: 'native' } }) },
  { of: ['createSite'], code: 'no_host', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: EMPTY_DATACENTER } }) },
  { of: ['deleteSite'], code: 'site_being_cloned', prepare: beingCloned },
  { of: ['cloneSite'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['cloneSite'], code: 'name_taken', example: ({ number }) => ({ body: { name: `Scene-${number}` } }) },
  { of: ['cloneSite'], code: 'name_reserved', example: () => ({ body: { name: 'Panel' } }) },
  { of: ['cloneSite'], code: 'site_limit_reached', prepare: async (scene) => { await plan('Personal')(scene); await moreSites(2)(scene) } },
  { of: ['cloneSite'], code: 'plan_lacks_multisite', prepare: async (scene) => { await plan('Business')(scene); await siteIs({ multisite: 1 })(scene) } },
  { of: ['cloneSite'], code: 'unknown_datacenter', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: 'XXX' } }) },
  { of: ['cloneSite'], code: 'clone_elsewhere', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: EMPTY_DATACENTER } }) },
  { of: ['cloneSite'], code: 'no_host', prepare: siteIs({ host_id: null }) },
  { of: ['convertSite'], code: 'domains_left', prepare: withDomain },
  { of: ['convertSite'], code: 'site_limit_reached', prepare: withAllStagingSites },
  { of: ['disableSite', 'convertSite'], code: 'site_not_live', prepare: siteIs({ state: 'disabled' }) },
  { of: ['enableSite'], code: 'site_not_disabled', prepare: siteIs({ state: 'live' }) },
  { of: ['resetAdminPassword', 'setSafeMode', 'moveSite'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['resetAdminPassword', 'setSafeMode'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['resetAdminPassword', 'setSafeMode'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
]

const events: Contract['events'] = {
  updateSite: ['php_version_changed', 'wp_environment_type'],
  deleteSite: ['site_deleted'],
  disableSite: ['site_disabled'],
  enableSite: ['site_enabled'],
  convertSite: ['site_converted'],
}

const causes: Contract['causes'] = {
  site_created: { cause: 'site.provision' },
  wp_admin_password_reset: { cause: 'site.reset_admin_password' },
}

const jobs: Record<string, JobSample> = {
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
      const passwordSealed = world.host.sealer.seal(SECRET, PASSWORD_PURPOSE)
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
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'site.provision', says: 'The site was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.provision', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { template: unavailable }) },
  { type: 'site.provision', says: 'WooCommerce cannot be installed: the plugin directory does not list it', wrong: (world) => give(world, { pluginDirectory: { find: async () => undefined } }) },
  { type: 'site.provision', says: 'WooCommerce cannot be installed: not today', wrong: (world) => answer(world, 'make-shop-pages', refuse) },
  { type: 'site.clone', says: 'Backup 987654 of site', wrong: (_, input) => Object.assign(input, { backups: [987654] }) },
  { type: 'site.clone', says: 'Stead has no backup of the source for this copy', wrong: (_, input) => Object.assign(input, { backups: [] }) },
  { type: 'site.clone', says: 'The site was deleted', wrong: (world, { siteId }) => deleteSite(world, siteId) },
  { type: 'site.clone', says: 'The source site was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.clone', says: 'The source site was deleted', wrong: (world) => deleteDirectory(world) },
  { type: 'site.clone', says: 'The source site is on another host', wrong: (world) => sendAway(world) },
  { type: 'site.clone', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { template: unavailable }) },
  { type: 'site.clone', says: 'WordPress uses http://elsewhere.example as its address', wrong: (world) => answer(world, 'check-copy', () => ({ home: 'http://elsewhere.example' })) },
  { type: 'site.clone', says: 'The clone does not respond: its homepage responds with status 500', wrong: breakPage, isTriedAgain: true },
  { type: 'site.clone', says: 'no longer has the role clone_site', after: 'home', wrong: loseRights },
  { type: 'site.clone', says: 'no longer has the role clone_site', after: 'answer', wrong: loseRights },
  { type: 'site.reset_admin_password', says: 'The site is not installed yet', wrong: (world) => deleteSite(world) },
  { type: 'site.reset_admin_password', says: 'WordPress did not set the password of', wrong: (world) => answer(world, 'reset-password', refuse) },
  { type: 'site.remove', says: 'The site is not deleted', wrong: (world) => change(world, (tx) => tx.updateTable('sites').set({ deleted_at: null }).where('id', '=', world.site).execute()) },
]

export const contract: Contract = { samples, examples, problems, events, causes, jobs, jobRefusals }
