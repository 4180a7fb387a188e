import type { TestApi } from '../../../test/support/api.ts'
import { type Examples, onSite, type Sample, type Scene, type World } from '../../../test/support/samples.ts'
import { changeImport, insertImport } from './import.store.ts'
import { type ImportPlan, type ImportState, type ImportUpload, STAGED_MS } from './import.ts'
import { type OldSource, takePlugin } from './old-site/old-site-source.ts'

export const madePlan: ImportPlan = {
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
export async function importIn(
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
export const waiting = {
  state: 'uploading' as const,
  sources: [],
  uploads: [{ number: 1, name: 'a.zip', bytes: 11, received: 0 }],
}
const uploading: Sample['prepare'] = async ({ site }: World, api) => {
  made.set(site, await importIn(api, site, waiting))
}
/** Returns the values of an import that waits for its plugin. */
export const waitingForPlugin = ({ sealer }: Pick<TestApi, 'sealer'>) => ({
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

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listImports', path: onSite('/imports'), roles: ['restore_site'] },
  { endpoint: 'createImport', prepare: none, path: onSite('/imports'), body, status: 201, roles: ['restore_site'] },
  { endpoint: 'getImport', prepare: ready, path: onImport(''), roles: ['restore_site'] },
  { endpoint: 'uploadImport', prepare: uploading, path: onImport('/uploads/1?offset=0'), body: part, roles: ['restore_site'] },
  { endpoint: 'getImportPlugin', prepare: withPlugin, path: onImport('/plugin'), roles: ['restore_site'] },
  { endpoint: 'fetchImport', prepare: withPlugin, path: onImport('/fetch'), roles: ['restore_site'] },
  { endpoint: 'startImport', prepare: ready, path: onImport('/start'), body: () => ({}), roles: ['restore_site'] },
  { endpoint: 'deleteImport', prepare: ready, path: onImport(''), roles: ['restore_site'] },
]

const staged = async ({ api, siteId }: Scene) => ({ params: { import_id: await importIn(api, siteId) } })

// In addition to the one that other readers know.
const pluginAwaited = async ({ api, siteId }: Scene) => ({
  params: { import_id: await importIn(api, siteId, { ...waitingForPlugin(api), isOnly: false }) },
})

export const examples: Examples = {
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
