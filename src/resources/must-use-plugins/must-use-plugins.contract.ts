import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { startFileServer } from '../../../test/support/file-server.ts'
import { aboutSite, change, directoryOf, isPurged } from '../../../test/support/job-worlds.ts'
import { at, type Example, type Examples, type Sample, type Scene, unique } from '../../../test/support/samples.ts'
import { write } from '../../../test/support/scenes.ts'
import { keepContent, useContent } from './content.store.ts'
import { addAllSites } from './member.store.ts'
import { changeMuPlugin, insertMuPlugin } from './mu-plugin.store.ts'
import { FOLDER, MOST_MU_PLUGINS } from './mu-plugin.ts'

const muPlugin = ({ number }: Scene, name: string) => ({
  body: { path: `https://plugins.example.com/${number}/${name}`, existing_sites: false, future_sites: false },
})

async function withoutHosts(scene: Scene): Promise<() => Promise<unknown>> {
  const { read } = scene.api.database
  const hosts = await read.selectFrom('hosts').selectAll().execute()
  const siteDirectories = await read.selectFrom('site_homes').selectAll().execute()
  const sites = await read.selectFrom('sites').select(['id', 'host_id']).where('host_id', 'is not', null).execute()
  await write(scene, async (tx) => {
    await tx.deleteFrom('site_homes').execute()
    await tx.updateTable('sites').set({ host_id: null }).execute()
    await tx.deleteFrom('hosts').execute()
  })
  return () =>
    write(scene, async (tx) => {
      await tx.insertInto('hosts').values(hosts).execute()
      for (const { id, host_id } of sites) await tx.updateTable('sites').set({ host_id }).where('id', '=', id).execute()
      if (siteDirectories.length > 0) await tx.insertInto('site_homes').values(siteDirectories).execute()
    })
}

function fillMuPlugins(scene: Scene): Promise<unknown> {
  return write(scene, async (tx) => {
    const values = { accountId: scene.owner.accountId, path: 'x', existing: false, future: false, now: 1 }
    for (let index = 0; index < MOST_MU_PLUGINS; index++)
      await insertMuPlugin(tx, { ...values, slug: `filler-${index}.php` })
  })
}

const muPluginPath = async (world: JobWorld) =>
  join((await directoryOf(world))?.path as string, 'web', FOLDER, 'tool.php')

async function muPluginFile(world: JobWorld): Promise<string | undefined> {
  const path = await muPluginPath(world)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** The events except those of failures, which are sent before each retry. */
async function muPluginEvents({ api, owner }: JobWorld): Promise<string> {
  const ofAccount = api.database.read.selectFrom('events').select('type').where('account_id', '=', owner.accountId)
  const types = (await ofAccount.orderBy('id').execute()).map(({ type }) => type)
  return types.filter((type) => !type.endsWith('_failed')).join()
}

/** @param had what the site has of it, if it is not new */
async function muPluginOf(world: JobWorld, { offered, had }: { offered?: string; had?: string }) {
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

const loseContents = (world: JobWorld) => change(world, (tx) => tx.deleteFrom('mu_plugin_contents').execute())

const body = () => ({
  path: `https://plugins.example.com/tool-${unique()}.php`,
  existing_sites: true,
  future_sites: true,
})

async function added({ api, owner: { accountId } }: Scene): Promise<Example> {
  const slug = `tool-${unique()}.php`
  const values = { accountId, path: `https://plugins.example.com/${slug}`, slug, existing: true, future: true, now: 1 }
  const { id } = await api.database.transaction((tx) => insertMuPlugin(tx, values))
  return { params: { id } }
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listMuPlugins', path: at('/v1/mu-plugins') },
  { endpoint: 'getMuPlugin', path: (world) => `/v1/mu-plugins/${world.muPlugin}`, isPrivate: true },
  { endpoint: 'createMuPlugin', path: at('/v1/mu-plugins'), body },
  { endpoint: 'updateMuPlugin', path: (world) => `/v1/mu-plugins/${world.muPlugin}`, isPrivate: true },
  { endpoint: 'deleteMuPlugin', path: (world) => `/v1/mu-plugins/${world.muPlugin}`, isPrivate: true },
]

const examples: Examples = {
  createMuPlugin: async () => ({ body: body() }),
  getMuPlugin: added,
  updateMuPlugin: added,
  deleteMuPlugin: added,
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createMuPlugin'], code: 'mu_plugin_exists', example: (scene) => muPlugin(scene, 'a.php'), prepare: (scene) => scene.owner.call('POST', '/v1/mu-plugins', muPlugin(scene, 'A.php').body) },
  { of: ['createMuPlugin'], code: 'mu_plugin_name_reserved', example: (scene) => muPlugin(scene, 'stead-a.php') },
  { of: ['createMuPlugin', 'updateMuPlugin', 'deleteMuPlugin'], code: 'no_host_yet', prepare: withoutHosts },
  { of: ['createMuPlugin'], code: 'mu_plugin_limit_reached', prepare: fillMuPlugins },
]

const causes: Contract['causes'] = {
  mu_plugin_install_success: {
    cause: 'mu_plugin.install',
    seenIn: 'src/resources/must-use-plugins/mu-plugins.test.ts',
  },
  mu_plugin_install_failed: { cause: 'mu_plugin.install', seenIn: 'src/resources/must-use-plugins/mu-plugins.test.ts' },
  mu_plugin_update_success: { cause: 'mu_plugin.update', seenIn: 'src/resources/must-use-plugins/mu-plugins.test.ts' },
  mu_plugin_update_failed: { cause: 'mu_plugin.update', seenIn: 'src/resources/must-use-plugins/mu-plugins.test.ts' },
  mu_plugin_deleted: { cause: 'mu_plugin.remove', seenIn: 'src/resources/must-use-plugins/mu-plugins.test.ts' },
}

const jobs: Record<string, JobSample> = {
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
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'mu_plugin.install', says: 'The must-use plugin was deleted', wrong: (world, { pluginId }) => change(world, (tx) => changeMuPlugin(tx, pluginId, { deleted_at: 1 })) },
  { type: 'mu_plugin.install', says: 'The must-use plugin was deleted', wrong: (world, { pluginId }) => change(world, (tx) => tx.deleteFrom('mu_plugins').where('id', '=', pluginId).execute()) },
  { type: 'mu_plugin.install', says: 'The must-use plugin was deleted', after: 'check', wrong: (world, { pluginId }) => change(world, (tx) => changeMuPlugin(tx, pluginId, { deleted_at: 1 })) },
  { type: 'mu_plugin.install', says: 'no longer exists. Update the plugin', after: 'fetch', wrong: loseContents },
  { type: 'mu_plugin.install', says: 'no longer exists. Update the plugin', after: 'check', wrong: loseContents },
]

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
