import { sql } from 'kysely'
import { testApi } from '../test/support/api.ts'
import { dialects } from '../test/support/database.ts'
import { fillWithMany } from '../test/support/many.ts'
import { type Figure, percentile, type Section } from './support/report.ts'

const ROUNDS = 200

const requests: Record<string, { method: string; path: string; body?: object }> = {
  'a page of sites': { method: 'GET', path: '/v1/sites?paginate=1&per_page=50' },
  'a page of sites with a tag': { method: 'GET', path: '/v1/sites?paginate=1&per_page=50&tag_name=shop' },
  'search by part of the name': {
    method: 'POST',
    path: '/v1/sites/search',
    body: { filters: [{ key: 'name', value: 'site-7' }] },
  },
  'collaborators of a site': { method: 'GET', path: '/v1/sites/77/collaborators' },
  'account log, action equals': {
    method: 'POST',
    path: '/v1/account/logs/activity',
    body: { filters: [{ field: 'action', operator: 'equals', value: 'site.updated' }] },
  },
  'account log, address contains': {
    method: 'POST',
    path: '/v1/account/logs/activity',
    body: { filters: [{ field: 'ip_address', operator: 'contains', value: '.24' }] },
  },
}

/** How long lists and filters take as everything grows: 5 collaborators and 10 log entries a site. */
export async function listsBench(): Promise<Section> {
  const figures: Figure[] = []
  for (const { dialect, skip } of dialects)
    if (!skip) for (const sites of [100, 1000, 10_000]) figures.push(...(await at(dialect, sites)))
  return {
    title: 'Lists',
    how: `One account with so many sites, 5 collaborators and 10 log entries a site; ${ROUNDS} requests each, one after the other, without a network. The plans are asserted by tests.`,
    figures,
  }
}

async function at(dialect: 'sqlite' | 'postgres', sites: number): Promise<Figure[]> {
  const api = await testApi(dialect)
  try {
    await api.database.transaction(async (tx) => {
      await tx.deleteFrom('hosts').execute()
      await fillWithMany(tx, { sites, collaboratorsASite: 5, logEntriesASite: 10 })
    })
    if (dialect === 'postgres') await sql`vacuum analyze`.execute(api.database.read)
    const owner = await api.person('person-1@example.com')
    const figures: Figure[] = []
    for (const [what, { method, path, body }] of Object.entries(requests)) {
      const times: number[] = []
      for (let round = -20; round < ROUNDS; round++) {
        const began = performance.now()
        const { status } = await owner.call(method, path, body)
        if (status !== 200) throw new Error(`${path}: ${status}`)
        if (round >= 0) times.push(performance.now() - began)
      }
      const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)].map((ms) => ms.toFixed(1))
      figures.push({ what: `${what}, ${sites} sites, ${dialect}`, value: `p50 ${p50} ms, p99 ${p99} ms` })
    }
    return figures
  } finally {
    await api.close()
  }
}
