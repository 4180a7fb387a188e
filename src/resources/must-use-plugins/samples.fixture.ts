import { at, type Example, type Examples, type Sample, type Scene, unique } from '../../../test/support/samples.ts'
import { insertMuPlugin } from './mu-plugin.store.ts'

const body = () => ({
  path: `https://plugins.example.com/tool-${unique()}.php`,
  existing_sites: true,
  future_sites: true,
})

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listMuPlugins', path: at('/v1/mu-plugins') },
  { endpoint: 'getMuPlugin', path: (world) => `/v1/mu-plugins/${world.muPlugin}`, isPrivate: true },
  { endpoint: 'createMuPlugin', path: at('/v1/mu-plugins'), body },
  { endpoint: 'updateMuPlugin', path: (world) => `/v1/mu-plugins/${world.muPlugin}`, isPrivate: true },
  { endpoint: 'deleteMuPlugin', path: (world) => `/v1/mu-plugins/${world.muPlugin}`, isPrivate: true },
]

export const examples: Examples = {
  createMuPlugin: async () => ({ body: body() }),
  getMuPlugin: added,
  updateMuPlugin: added,
  deleteMuPlugin: added,
}

async function added({ api, owner: { accountId } }: Scene): Promise<Example> {
  const slug = `tool-${unique()}.php`
  const values = { accountId, path: `https://plugins.example.com/${slug}`, slug, existing: true, future: true, now: 1 }
  const { id } = await api.database.transaction((tx) => insertMuPlugin(tx, values))
  return { params: { id } }
}
