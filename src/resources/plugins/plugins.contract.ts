import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type {
  Contract,
  JobInput,
  JobRefusal,
  JobSample,
  JobWorld,
  ProblemCase,
} from '../../../test/support/contract.ts'
import { answer, directoryOf, isPurged, loseRights, refuse, rows } from '../../../test/support/job-worlds.ts'
import { type Examples, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import { changeSite } from '../sites/site.store.ts'
import { listSoon, storedPlugins } from './plugin.store.ts'
import { withPlugins } from './plugins.fixture.ts'

/** A plugin `forms` in a site directory, as the WordPress of this test has it. */
async function withPlugin(
  { host, api, site }: JobWorld,
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
  const installed = async ({ host, site }: JobWorld) => {
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
      const due = world.api.database.read.selectFrom('plugin_lists').select('due_at').where('site_id', '=', world.site)
      expect(await due.execute()).toEqual([{ due_at: 0 }])
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

/** A plugin in a folder, or in a single file. */
async function addPlugin({ host, site }: JobWorld, file: string): Promise<void> {
  const directory = await host.services.siteDirectories.ofSite(site)
  const path = join(directory?.path as string, 'web/wp-content/plugins', file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, '1.0')
}

const packageOf = (input: JobInput, url: string) => {
  for (const plugin of input.plugins) plugin.package = { ...plugin.package, url }
}

const body = { plugins: [{ path: 'forms' }] }

const installed: Sample['prepare'] = ({ site }, api) => withPlugins(api, site, 'forms')

async function withForms({ api, siteId }: Scene) {
  // The second one is from the API documentation.
  await withPlugins(api, siteId, 'forms', 'akismet')
  return { body }
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listPlugins', path: onSite('/plugins'), roles: [] },
  { endpoint: 'installPlugins', path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'updatePlugins', prepare: installed, path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'deactivatePlugins', prepare: installed, path: onSite('/plugins/deactivate'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'activatePlugins', prepare: installed, path: onSite('/plugins/activate'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'listSiteAdvice', path: onSite('/advice'), roles: [] },
  { endpoint: 'deletePlugins', prepare: installed, path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
]

const examples: Examples = {
  installPlugins: () => ({ body }),
  updatePlugins: withForms,
  deactivatePlugins: withForms,
  activatePlugins: withForms,
  deletePlugins: withForms,
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['installPlugins', 'updatePlugins'], code: 'plugins_refused', example: () => ({ body: { plugins: [{ path: 'forms' }, { path: 'no-such' }] } }) },
  { of: ['activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'plugins_refused', example: () => ({ body: { plugins: [{ path: '../forms' }] } }) },
  { of: ['installPlugins', 'updatePlugins'], code: 'plugin_directory_unavailable', example: async ({ api, siteId }) => { await withPlugins(api, siteId, 'unreachable'); return { body: { plugins: [{ path: 'unreachable' }] } } } },
  { of: ['listPlugins', 'installPlugins', 'updatePlugins', 'activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['listPlugins', 'updatePlugins', 'activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['listPlugins', 'updatePlugins', 'activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
]

const causes: Contract['causes'] = {
  site_plugin_installed_successfully: { cause: 'plugin.install', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_install_failed: { cause: 'plugin.install', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_updated_successfully: { cause: 'plugin.update', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_update_failed: { cause: 'plugin.update', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_activated_successfully: { cause: 'plugin.activate', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_activation_failed: { cause: 'plugin.activate', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_deactivated_successfully: { cause: 'plugin.deactivate', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_deactivation_failed: { cause: 'plugin.deactivate', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_deleted_successfully: { cause: 'plugin.delete', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_plugin_delete_failed: { cause: 'plugin.delete', seenIn: 'src/resources/plugins/plugins.test.ts' },
}

const jobs: Record<string, JobSample> = {
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

  'plugin.look': {
    async prepare({ api, site }) {
      await api.database.transaction(async (tx) => {
        await listSoon(tx, site)
        // Other samples leave sites that are due.
        await tx.updateTable('plugin_lists').set({ due_at: -1 }).where('site_id', '=', site).execute()
      })
      return { input: {} }
    },
    async done({ api, site }) {
      const listings = api.database.read.selectFrom('operations').select('input').where('type', '=', 'plugin.list')
      const ofSite = (await listings.execute()).filter(({ input }) => JSON.parse(input).siteId === site)
      expect(ofSite).toHaveLength(1)
      const due = api.database.read.selectFrom('plugin_lists').select('due_at').where('site_id', '=', site)
      expect((await due.executeTakeFirstOrThrow()).due_at).toBeGreaterThan(Date.now())
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
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'plugin.install', says: 'no longer has the role plugin_management_access', after: 'look', wrong: loseRights },
  { type: 'plugin.install', says: 'no longer has the role plugin_management_access', after: 'keep_database', wrong: loseRights },
  { type: 'plugin.install', says: 'it, or another plugin, deactivated it immediately', wrong: (world) => answer(world, 'switch-plugin', () => ({ isActive: false })) },
  { type: 'plugin.install', says: 'WordPress says: not today', wrong: (world) => answer(world, 'upgrade-plugin', refuse) },
  { type: 'plugin.update', says: 'its package contains the folder tables, but the plugin is installed in forms', wrong: (_world, input) => packageOf(input, 'https://example.com/tables.2.0.zip') },
  { type: 'plugin.update', says: 'it is not installed', wrong: (_world, input) => { input.plugins[0].path = 'tables' } },
  { type: 'plugin.update', says: 'it breaks the site: ', wrong: (_world, input) => { input.plugins[0].package = { url: 'https://example.com/forms.6.6.6.zip', version: '6.6.6' } } },
  { type: 'plugin.activate', says: 'it is not installed', wrong: (_world, input) => { input.plugins[0].path = 'tables' } },
  { type: 'plugin.activate', says: 'it, or another plugin, deactivated it immediately', wrong: (world) => answer(world, 'switch-plugin', () => ({ isActive: false })) },
  { type: 'plugin.deactivate', says: 'another plugin activated it again', wrong: (world) => answer(world, 'switch-plugin', () => ({ isActive: true })) },
  { type: 'plugin.delete', says: 'the name of its folder is not allowed', wrong: async (world, input) => { await addPlugin(world, 'a b/a b.php'); input.plugins[0].path = 'a b' } },
]

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
