import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import {
  answer,
  besideSite,
  change,
  closedBy,
  DAY_MS,
  daysAgo,
  directoryOf,
  forgets,
  loseRights,
  refuse,
  rows,
} from '../../../test/support/job-worlds.ts'
import { at, type Examples, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import type { Database } from '../../platform/db/database.ts'
import { madeOffer, withReleases } from '../cms-version/cms-version.fixture.ts'
import { replaceReleases } from '../cms-version/release.store.ts'
import { withExtensions as withThemes } from '../inventory/inventory.fixture.ts'
import { withPlugins } from '../plugins/plugins.fixture.ts'
import { changeSite } from '../sites/site.store.ts'
import { MOST_OPEN } from './batch/batch.ts'
import { setPolicyOfSite } from './policy/policy.store.ts'
import { usualSitePolicy } from './policy/policy.ts'
import { REPORT_DAYS } from './safe-update.ts'
import { withBatch, withPolicy, withUpdate } from './safe-updates.fixture.ts'
import { setSafeUpdateSettings } from './settings/safe-update-settings.store.ts'

/** A site with a plugin `forms` and a theme `paper`, as the WordPress of this test has them. */
async function withExtensions({ host, api, site }: JobWorld): Promise<void> {
  const directory = await host.giveDirectory(site)
  await writeFile(join(directory, 'web/index.php'), 'of 6.8')
  await api.database.transaction((tx) =>
    changeSite(tx, site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1),
  )
  for (const [folder, name] of [
    ['plugins', 'forms'],
    ['themes', 'paper'],
  ] as const) {
    await mkdir(join(directory, `web/wp-content/${folder}/${name}`), { recursive: true })
    await writeFile(join(directory, `web/wp-content/${folder}/${name}/${name}.php`), '1.0')
  }
  host.wordpress(site).activePlugins.add('forms/forms.php')
}

const order = (path: string) => ({
  ...{ path, version: '2.0' },
  package: { url: `https://example.com/${path}.2.0.zip`, version: '2.0' },
})

const versions = async (world: JobWorld) => {
  const directory = (await directoryOf(world))?.path as string
  const read = (path: string) => readFile(join(directory, 'web/wp-content', path), 'utf8')
  return [await read('plugins/forms/forms.php'), await read('themes/paper/paper.php')]
}

/** The release that the site runs, a file of it, and whose tables the site has. */
const core = async (world: JobWorld) => {
  const { path, coreVersion } = (await directoryOf(world)) as SiteDirectory
  return [coreVersion, await readFile(join(path, 'web/index.php'), 'utf8'), world.host.option(path, 'db_version')]
}

const states = async ({ api, site }: JobWorld) => {
  const found = api.database.read.selectFrom('safe_updates').selectAll().where('site_id', '=', site)
  return (await found.execute()).map(({ state, changing }) => [state, changing])
}

const safeUpdate: JobSample = {
  async prepare(world) {
    await withExtensions(world)
    const input = {
      siteId: world.site,
      plugins: [order('forms')],
      themes: [order('paper')],
      skipped: [],
      paths: ['/own/'],
      core: { version: '6.9', channel: 'stable' },
    }
    return { input }
  },
  async done(world) {
    expect(await versions(world)).toEqual(['2.0', '2.0'])
    expect(await core(world)).toEqual(['6.9', '<?php // of 6.9', 'upgraded'])
    expect(await rows(world, 'events', 'type', 'wp_version_changed', world.site)).toBe(1)
    expect(await states(world)).toEqual([['kept', null]])
    expect(await rows(world, 'activity', 'action', 'safe_update.kept', world.site)).toBe(1)
    expect(await rows(world, 'events', 'type', 'safe_update_kept', world.site)).toBe(1)
    // An update that began again has purged for each attempt.
    const purges = world.api.database.read
      .selectFrom('cache_purges')
      .select('page_epoch')
      .where('site_id', '=', world.site)
    expect((await purges.execute()).length).toBeGreaterThan(0)
    expect(await besideSite(world)).toEqual([])
    const staged = join((await directoryOf(world))?.path as string, 'web/wp-content/upgrade')
    expect(existsSync(staged) ? readdirSync(staged) : []).toEqual([])
  },
  async left(world) {
    // It failed before it was kept, or after that.
    const [[state, changing] = []] = await states(world)
    expect(await versions(world)).toEqual(state === 'kept' ? ['2.0', '2.0'] : ['1.0', '1.0'])
    expect(await core(world)).toEqual(
      state === 'kept' ? ['6.9', '<?php // of 6.9', 'upgraded'] : ['6.8', 'of 6.8', 'old'],
    )
    expect([await closedBy(world), world.host.held.has(world.site)]).toEqual([null, false])
    expect(changing ?? null).toBeNull()
    expect(world.host.wordpress(world.site).activePlugins.has('forms/forms.php')).toBe(true)
    expect(await world.api.database.read.selectFrom('plugin_changes').selectAll().execute()).toEqual([])
  },
}

/** Pages that are well before the update, and end with a status after it. */
function breakAfterUpdate(world: JobWorld, status: number): void {
  const { pool, siteDirectories } = world.host.services
  const handle: typeof pool.handle = async (site, ...rest) => {
    const directory = (await siteDirectories.ofSite(site.siteId))?.path as string
    const isUpdated = (await readFile(join(directory, 'web/wp-content/plugins/forms/forms.php'), 'utf8')) === '2.0'
    const response = await pool.handle(site, ...rest)
    return isUpdated ? { ...response, status } : response
  }
  Object.assign(world.host.services, { pool: { ...pool, handle } })
}

const body = { plugins: [{ path: 'forms' }] }
const settings = { masks: ['.visitor-counter'], paths: ['/checkout/'] }

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listSafeUpdates', path: onSite('/safe-updates'), roles: [] },
  { endpoint: 'startSafeUpdate', prepare: ({ site }, api) => withPlugins(api, site, 'forms'), path: onSite('/safe-updates'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'startSafeUpdate', prepare: async ({ site }, api) => { await withPlugins(api, site, 'forms'); await withReleases(api, '99.0') }, path: onSite('/safe-updates'), body: () => ({ ...body, core: 'latest' }), roles: ['plugin_management_access', 'update_site_cms_version'] },
  { endpoint: 'getSafeUpdate', prepare: async ({ site }, { database }) => { await withFirstUpdate(database, site) }, path: onSite('/safe-updates/1'), roles: [] },
  { endpoint: 'getSafeUpdateSettings', path: onSite('/safe-update-settings'), roles: ['plugin_management_access'] },
  { endpoint: 'updateSafeUpdateSettings', path: onSite('/safe-update-settings'), body: () => settings, roles: ['plugin_management_access'] },
  { endpoint: 'listAllSafeUpdates', path: at('/v1/safe-updates') },
  { endpoint: 'startSafeUpdateBatch', path: at('/v1/safe-updates'), body: ({ site }) => ({ siteIds: [site], ...body }), roles: ['plugin_management_access', 'execute_bulk_operations'] },
  { endpoint: 'getWordpressUpdate', path: onSite('/wordpress-update'), roles: [] },
  { endpoint: 'getSafeUpdateBatch', isPrivate: true, prepare: async ({ site, owner }, { database }) => { await database.transaction((tx) => withBatch(tx, 1, owner.accountId, site)) }, path: at('/v1/safe-updates/1') },
  { endpoint: 'getUpdatePolicy', path: onSite('/update-policy'), roles: [] },
  { endpoint: 'setUpdatePolicy', path: onSite('/update-policy'), body: () => ({ mode: 'daily' }), roles: ['plugin_management_access'] },
  { endpoint: 'getDefaultUpdatePolicy', path: at('/v1/account/update-policy') },
  { endpoint: 'setDefaultUpdatePolicy', path: at('/v1/account/update-policy'), body: () => ({ mode: 'daily' }) },
  { endpoint: 'getSafeUpdatePicture', prepare: async ({ site }, { database }) => { await withFirstUpdate(database, site) }, path: onSite('/safe-updates/1/pictures/0/1280/after'), roles: [] },
]

/** The report that the paths of samples name. */
const withFirstUpdate = (database: Database, site: number) =>
  database.transaction(async (tx) => {
    await tx.deleteFrom('safe_updates').where('operation_id', '=', 1).execute()
    await withUpdate(tx, site, 1)
  })

let nextUpdate = 1_000_000

const examples: Examples = {
  listSafeUpdates: async ({ api, siteId }) => {
    await api.database.transaction((tx) => withUpdate(tx, siteId, nextUpdate++))
    return {}
  },
  startSafeUpdate: async ({ api, siteId }) => {
    await withPlugins(api, siteId, 'forms')
    await withReleases(api, '99.0')
    // `all` finds it.
    await withThemes(api, siteId, [{ kind: 'theme', slug: 'paper', update_version: '2.0' }])
    return { body }
  },
  getSafeUpdate: async ({ api, siteId }) => {
    const id = nextUpdate++
    await api.database.transaction((tx) => withUpdate(tx, siteId, id))
    return { params: { update_id: id } }
  },
  getSafeUpdateSettings: async ({ api, siteId }) => {
    await api.database.transaction((tx) => setSafeUpdateSettings(tx, siteId, settings))
    return {}
  },
  updateSafeUpdateSettings: () => ({ body: settings }),
  listAllSafeUpdates: async ({ api, siteId }) => {
    await api.database.transaction((tx) => withUpdate(tx, siteId, nextUpdate++))
    return {}
  },
  startSafeUpdateBatch: ({ siteId }) => ({ body: { siteIds: [siteId], ...body } }),
  getSafeUpdateBatch: async ({ api, siteId, owner: { accountId } }) => {
    const id = nextUpdate++
    await api.database.transaction((tx) => withBatch(tx, id, accountId, siteId))
    return { params: { id } }
  },
  setUpdatePolicy: () => ({ body: { mode: 'daily' } }),
  setDefaultUpdatePolicy: () => ({ body: { mode: 'daily' } }),
  getUpdatePolicy: async ({ api, siteId }) => {
    await api.database.transaction((tx) => withPolicy(tx, siteId, nextUpdate++))
    return {}
  },
  getSafeUpdatePicture: async ({ api, siteId }) => {
    const id = nextUpdate++
    await api.database.transaction((tx) => withUpdate(tx, siteId, id))
    return { params: { update_id: id, page: 0, width: 1280, kind: 'difference' } }
  },
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['startSafeUpdate'], code: 'plugins_refused', example: () => ({ body: { plugins: [{ path: 'no-such' }] } }) },
  { of: ['startSafeUpdate'], code: 'themes_refused', example: () => ({ body: { themes: [{ name: 'no-such' }] } }) },
  { of: ['startSafeUpdate'], code: 'plugin_directory_unavailable', example: async ({ api, siteId }) => { await withPlugins(api, siteId, 'unreachable'); return { body: { plugins: [{ path: 'unreachable' }] } } } },
  { of: ['startSafeUpdate'], code: 'core_refused', example: () => ({ body: { core: '98.0' } }), prepare: ({ api }) => withReleases(api, '99.0') },
  { of: ['startSafeUpdate'], code: 'php_too_old', example: () => ({ body: { core: 'latest' } }), prepare: ({ api }) => api.database.transaction((tx) => replaceReleases(tx, [madeOffer('99.0', '9.9')], Date.now())) },
  { of: ['startSafeUpdate'], code: 'releases_unknown', example: () => ({ body: { core: 'latest' } }), prepare: ({ api }) => withReleases(api) },
  { of: ['startSafeUpdate'], code: 'nothing_to_update', example: () => ({ body: { all: true } }) },
  { of: ['startSafeUpdate'], code: 'safe_update_in_progress', prepare: async ({ owner, siteId }, { tour }) => { tour.leaveWork(siteId); await owner.call('POST', `/v1/sites/${siteId}/safe-updates`, body) } },
  { of: ['startSafeUpdateBatch'], code: 'too_many_batches', example: ({ siteId }) => ({ body: { siteIds: [siteId], ...body } }), prepare: manyBatches },
  { of: ['startSafeUpdate'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['startSafeUpdate'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['startSafeUpdate'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
]

function manyBatches({ api, owner: { accountId }, siteId }: Scene) {
  return api.database.transaction(async (tx) => {
    for (let n = 0; n < MOST_OPEN; n++) await withBatch(tx, nextUpdate++, accountId, siteId)
  })
}

const causes: Contract['causes'] = {
  safe_update_kept: { cause: 'plugin.update_safely' },
  safe_update_undone: { cause: 'plugin.update_safely', seenIn: 'src/resources/safe-updates/safe-updates.test.ts' },
}

/** A site in maintenance, which is skipped. `batch.test.ts` has sites that are updated. */
const updateMany: JobSample = {
  async prepare({ api, site, owner: { accountId } }) {
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ maintenance: 1 }).where('id', '=', site).execute(),
    )
    return {
      input: { all: true, plugins: [], themes: [], siteIds: [site] },
      options: { siteId: null, accountId },
    }
  },
  async done(world) {
    const found = world.api.database.read.selectFrom('safe_update_batch_sites').selectAll()
    expect(await found.where('site_id', '=', world.site).execute()).toMatchObject([
      { state: 'skipped', reason: 'The site is in maintenance mode' },
    ])
    const [batch] = await world.api.database.read
      .selectFrom('safe_update_batches')
      .selectAll()
      .where('account_id', '=', world.owner.accountId)
      .execute()
    expect(batch?.state).toBe('completed')
  },
  /** Nothing waits for a batch that has failed. */
  async left({ api, site, owner: { accountId } }) {
    const { read } = api.database
    const open = read.selectFrom('safe_update_batches').select('operation_id').where('account_id', '=', accountId)
    expect(await open.where('state', '=', 'in_progress').execute()).toEqual([])
    const sites = read.selectFrom('safe_update_batch_sites').select('batch_id').where('site_id', '=', site)
    expect(await sites.where('state', 'in', ['waiting', 'in_progress']).execute()).toEqual([])
  },
}

/** A site whose turn has come. */
const planOne: JobSample = {
  async prepare(world) {
    const { api, host, site } = world
    await withPlugins(api, site, 'forms')
    await change(world, async (tx) => {
      for (const table of ['update_turns', 'site_update_policies'] as const)
        await tx.deleteFrom(table).where('site_id', '<>', site).execute()
      await tx.updateTable('sites').set({ host_id: host.hostId }).where('id', '=', site).execute()
      await setPolicyOfSite(tx, site, { ...usualSitePolicy, mode: 'daily', hour: 0 }, Date.now() - 2 * DAY_MS)
    })
    await withThemes(api, site, [{ kind: 'theme', slug: 'paper', update_version: '2.0' }])
    return { input: {}, options: { siteId: null, hostId: null } }
  },
  async done(world) {
    expect(await rows(world, 'operations', 'type', 'plugin.update_safely', world.site)).toBe(1)
    expect(await rows(world, 'activity', 'action', 'safe_update.by_policy', world.site)).toBe(1)
  },
}

const jobs: Record<string, JobSample> = {
  'safe_updates.plan': planOne,
  'plugin.update_many_safely': updateMany,
  'plugin.update_safely': safeUpdate,
  'safe_updates.forget': forgets(
    daysAgo(REPORT_DAYS - 1),
    async (world, at) => change(world, (tx) => withUpdate(tx, world.site, nextUpdate++, at)),
    async ({ api, site }) => {
      const found = api.database.read.selectFrom('safe_updates').select('created_at').where('site_id', '=', site)
      return (await found.execute()).map(({ created_at }) => ({ at: Number(created_at) }))
    },
  ),
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'plugin.update_safely', says: 'no longer has the role plugin_management_access', after: 'update', wrong: loseRights },
  { type: 'plugin.update_safely', says: 'The update was undone: homepage: status 200 became 404', wrong: (world) => breakAfterUpdate(world, 404) },
  { type: 'plugin.update_safely', says: 'WordPress says: not today', wrong: (world, input) => { delete input.core; input.themes = []; answer(world, 'upgrade-plugin', refuse) } },
  { type: 'plugin.update_safely', says: 'paper: it is not installed', wrong: (world, input) => { delete input.core; input.plugins = []; answer(world, 'list-plugins', () => ({ plugins: [], themes: [] })) } },
  { type: 'plugin.update_safely', says: 'but the theme is installed in paper', wrong: (_world, input) => { delete input.core; input.plugins = []; input.themes[0].package.url = 'https://example.com/other.2.0.zip' } },
]

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
