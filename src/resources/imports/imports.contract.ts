import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { TestApi } from '../../../test/support/api.ts'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { startFileServer } from '../../../test/support/file-server.ts'
import { archivesOf, contentFiles, makeDump } from '../../../test/support/hosted-archives.ts'
import {
  answer,
  besideSite,
  breakPage,
  change,
  deleteDirectory,
  deleteSite,
  directoryOf,
  isClosed,
  isPurged,
  loseRights,
  refuse,
  rows,
} from '../../../test/support/job-worlds.ts'
import {
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  type World,
} from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import { putRoute } from '../sites/addresses/route.store.ts'
import { changeSite } from '../sites/site.store.ts'
import { changeImport, insertImport, listImportsOf } from './import.store.ts'
import { type ImportPlan, type ImportState, type ImportUpload, STAGED_MS } from './import.ts'
import { type OldSource, takePlugin } from './old-site/old-site-source.ts'

/** Sends a part to an import that waits for one. */
async function uploadingIn(
  { api, siteId }: Scene,
  example: Example,
  state: ImportState = 'uploading',
): Promise<Example> {
  const importId = await importIn(api, siteId, { ...waiting, state })
  return { params: { import_id: importId, number: 1 }, query: { offset: '0' }, body: { bytes: 0 }, ...example }
}

const importFolder = ({ host }: JobWorld, importId: number): string =>
  join(host.services.config.dataDir, 'imports', String(importId))

const deleteImports = (world: JobWorld) =>
  change(world, (tx) => tx.deleteFrom('imports').where('site_id', '=', world.site).execute())

const stagedOf = ({ host }: JobWorld) => join(host.services.config.dataDir, 'imports')

const loseStaged = (world: JobWorld) => rm(stagedOf(world), { recursive: true })

const spoilArchive = (world: JobWorld, importId: number) =>
  change(world, async (tx) => {
    await writeFile(join(stagedOf(world), String(importId), 'uploaded/1'), 'PK nonsense')
    await changeImport(tx, importId, { uploads: [{ number: 1, name: 'site.wpress', bytes: 11, received: 11 }] })
  })

const madePlan: ImportPlan = {
  format: 'wpress',
  from: { home: 'https://old.example.com', title: 'Old', wordpress: '6.8', php: '8.1' },
  to: { address: 'new.example.com', wordpress: '6.8', php: '8.2' },
  files: { count: 1, bytes: 10, links: 0 },
  database: { tables: 4, rows: 8, bytes: 1000, prefix: 'wp_' },
  addresses: [{ from: 'old.example.com', to: 'new.example.com' }],
  plugins: [],
  themes: ['plain'],
  mustUsePlugins: [],
  leftOut: [{ path: 'wp-content/object-cache.php', reason: 'drop-in' }],
  warnings: [],
  blockers: [],
}

/**
 * Creates an import of a site in this state, without data anywhere.
 * @returns its id
 */
async function importIn(
  api: Pick<TestApi, 'database'>,
  siteId: number,
  {
    state = 'ready' as ImportState,
    plan = madePlan,
    starts = false,
    sources = ['https://example.com/a.zip'],
    uploads = null as readonly ImportUpload[] | null,
    live = null as { live: OldSource; liveSecret: string } | null,
    // Whether to delete others of the site, because a site has one at a time.
    isOnly = true,
  } = {},
): Promise<number> {
  return api.database.transaction(async (tx) => {
    if (isOnly) await tx.deleteFrom('imports').where('site_id', '=', siteId).execute()
    const now = Date.now()
    const values = { siteId, state, sources, uploads, ...live, starts, createdAt: now, expiresAt: now + STAGED_MS }
    const { id } = await insertImport(tx, values)
    if (!['inspecting', 'uploading', 'waiting'].includes(state)) await changeImport(tx, id, { plan })
    return id
  })
}

const made = new Map<number, number>()

/** Creates an import for the site of a walk, which its path then names. */
const ready: Sample['prepare'] = async ({ site }: World, api) => {
  made.set(site, await importIn(api, site))
}

/** Values of an import that waits for as many bytes as `part` has. */
const waiting = {
  state: 'uploading' as const,
  sources: [],
  uploads: [{ number: 1, name: 'a.zip', bytes: 11, received: 0 }],
}

const uploading: Sample['prepare'] = async ({ site }: World, api) => {
  made.set(site, await importIn(api, site, waiting))
}

/** Returns the values of an import that waits for its plugin. */
const waitingForPlugin = ({ sealer }: Pick<TestApi, 'sealer'>) => ({
  state: 'waiting' as const,
  sources: [],
  live: takePlugin({ address: 'https://old.example.com' }, { sealer, allowsHttp: false }),
})

const withPlugin: Sample['prepare'] = async ({ site }: World, api) => {
  made.set(site, await importIn(api, site, waitingForPlugin(api)))
}

const part = () => ({ bytes: 0 })

const onImport = (rest: string) => (world: World) => onSite(`/imports/${made.get(world.site) ?? 1}${rest}`)(world)

const none: Sample['prepare'] = ({ site }, api) =>
  api.database.transaction((tx) => tx.deleteFrom('imports').where('site_id', '=', site).execute())

const body = () => ({ urls: ['https://example.com/a.wpress'] })

const staged = async ({ api, siteId }: Scene) => ({ params: { import_id: await importIn(api, siteId) } })

// In addition to the one that other readers know.
const pluginAwaited = async ({ api, siteId }: Scene) => ({
  params: { import_id: await importIn(api, siteId, { ...waitingForPlugin(api), isOnly: false }) },
})

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listImports', path: onSite('/imports'), roles: ['restore_site'] },
  { endpoint: 'createImport', prepare: none, path: onSite('/imports'), body, status: 201, roles: ['restore_site'] },
  { endpoint: 'getImport', prepare: ready, path: onImport(''), roles: ['restore_site'] },
  { endpoint: 'uploadImport', prepare: uploading, path: onImport('/uploads/1?offset=0'), body: part, roles: ['restore_site'] },
  { endpoint: 'getImportPlugin', prepare: withPlugin, path: onImport('/plugin'), roles: ['restore_site'] },
  { endpoint: 'fetchImport', prepare: withPlugin, path: onImport('/fetch'), roles: ['restore_site'] },
  { endpoint: 'startImport', prepare: ready, path: onImport('/start'), body: () => ({}), roles: ['restore_site'] },
  { endpoint: 'deleteImport', prepare: ready, path: onImport(''), roles: ['restore_site'] },
]

const examples: Examples = {
  createImport: () => ({ body: body() }),
  getImport: staged,
  uploadImport: async ({ api, siteId }) => ({
    params: { import_id: await importIn(api, siteId, waiting), number: 1 },
    query: { offset: '0' },
    body: part(),
  }),
  getImportPlugin: pluginAwaited,
  fetchImport: pluginAwaited,
  startImport: staged,
  deleteImport: staged,
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createImport'], code: 'import_url_refused', example: () => ({ body: { urls: ['ftp://example.com/a.zip'] } }) },
  { of: ['createImport'], code: 'import_too_large', example: () => ({ body: { files: [{ name: 'a.zip', bytes: 2 ** 40 }] } }) },
  { of: ['uploadImport'], code: 'import_part_elsewhere', example: (scene) => uploadingIn(scene, { query: { offset: '5' } }) },
  { of: ['uploadImport'], code: 'import_part_too_long', example: (scene) => uploadingIn(scene, { body: { bytes: 'more than is waited for' } }) },
  { of: ['uploadImport'], code: 'import_part_damaged', example: (scene) => uploadingIn(scene, { query: { offset: '0', sha256: 'f'.repeat(64) } }) },
  { of: ['uploadImport'], code: 'import_host_away', prepare: siteIs({ host_id: null }) },
  { of: ['createImport'], code: 'import_source_refused', example: () => ({ body: { source: { type: 'ssh', host: 'example.com', user: 'me', path: 'site' } } }) },
  { of: ['createImport'], code: 'import_exists', prepare: ({ api, siteId }) => importIn(api, siteId) },
  { of: ['createImport'], code: 'import_limit_reached', prepare: async ({ api, owner, number }) => { for (let index = 0; index < 5; index++) await importIn(api, await api.site(owner, `import-${number}-${index}`)) } },
  { of: ['uploadImport'], code: 'import_not_ready', example: (scene) => uploadingIn(scene, {}, 'inspecting') },
  { of: ['startImport', 'deleteImport', 'fetchImport'], code: 'import_not_ready', example: async ({ api, siteId }) => ({ params: { import_id: await importIn(api, siteId, { state: 'inspecting' }) } }) },
  { of: ['startImport'], code: 'import_blocked', example: async ({ api, siteId }) => ({ params: { import_id: await importIn(api, siteId, { plan: { ...madePlan, blockers: ['It is a network of sites.'] } }) } }) },
  { of: ['createImport', 'startImport'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
]

const causes: Contract['causes'] = {
  site_imported: { cause: 'site.import' },
  site_import_failed: { cause: 'site.import' },
}

const jobs: Record<string, JobSample> = {
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
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'import.inspect', says: 'no longer has the role restore_site', after: 'fetch', wrong: loseRights },
  { type: 'import.inspect', says: 'The import was deleted', wrong: (world) => deleteImports(world) },
  { type: 'import.inspect', says: 'The uploaded files are gone', wrong: (world) => loseStaged(world) },
  { type: 'import.inspect', says: 'The archive cannot be imported', wrong: (world, { importId }) => spoilArchive(world, importId) },
  { type: 'import.inspect', says: 'The site is not there, or is not installed', after: 'database', wrong: (world) => deleteDirectory(world) },
  { type: 'site.import', says: 'no longer has the role restore_site', after: 'check', wrong: loseRights },
  { type: 'site.import', says: 'no longer has the role restore_site', after: 'switch', wrong: loseRights },
  { type: 'site.import', says: 'The site is not there, or is not installed', wrong: (world) => deleteSite(world) },
  { type: 'site.import', says: 'The staged data of the import is gone', wrong: (world) => loseStaged(world) },
  { type: 'site.import', says: 'WordPress does not respond with the imported content', wrong: (world) => breakPage(world) },
  { type: 'site.import', says: 'The imported database does not fit: not today', wrong: (world) => answer(world, 'upgrade-database', refuse) },
]

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
