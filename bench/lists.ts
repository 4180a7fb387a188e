import { sql } from 'kysely'
import { testApi } from '../test/support/api.ts'
import { dialects } from '../test/support/database.ts'
import { fillWithMany } from '../test/support/many.ts'
import { type Figure, percentile, type Section } from './support/report.ts'

const ROUNDS = 200

const requests: Record<string, { method: string; path: string; body?: object }> = {
  'a page of sites': { method: 'GET', path: '/v1/sites?paginate=1&per_page=50' },
  'a page of sites with a tag': { method: 'GET', path: '/v1/sites?paginate=1&per_page=10&tag_name=shop' },
  'search by part of the name': {
    method: 'POST',
    path: '/v1/sites/search',
    body: { filters: [{ key: 'name', value: 'site-7' }], per_page: 10 },
  },
  'search by the words of a name': { method: 'GET', path: '/v1/search?q=site%2077' },
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

/** How long lists and filters take as the database grows: 5 collaborators and 10 log entries a site. */
export async function listsBench(): Promise<Section> {
  const figures: Figure[] = []
  for (const { dialect, skip } of dialects) {
    if (skip) continue
    const few = await at(dialect, FEW)
    for (const sites of [1000, 10_000])
      for (const [what, taken] of Object.entries(await at(dialect, sites))) {
        const before = few[what] as Taken
        figures.push({
          what: `${what}, ${sites} sites, ${dialect}`,
          value: textOf(taken),
          yardstick: `${FEW} sites: ${textOf(before)}`,
          // SQLite runs in this process, whose processor time is the same on a busy machine.
          ratio: (dialect === 'sqlite' ? taken.cpu / before.cpu : taken.p50 / before.p50).toFixed(1),
          aim: '≤ 1.5',
        })
      }
  }
  return {
    title: 'Lists',
    how: `One account has the given number of sites, with 5 collaborators and 10 log entries for each site. Each list is requested ${ROUNDS} times, one after the other, without a network. Processor time is that of this process. The ratio compares processor time on SQLite, and p50 on PostgreSQL. Tests assert the query plans.`,
    figures,
  }
}

const FEW = 100

/** Milliseconds. */
interface Taken {
  readonly p50: number
  readonly p99: number
  /** Mean of a request. */
  readonly cpu: number
}

const textOf = ({ p50, p99, cpu }: Taken): string =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, processor ${cpu.toFixed(2)} ms`

async function at(dialect: 'sqlite' | 'postgres', sites: number): Promise<Record<string, Taken>> {
  const api = await testApi(dialect)
  try {
    await api.database.transaction(async (tx) => {
      await tx.deleteFrom('hosts').execute()
      await fillWithMany(tx, { sites, collaboratorsASite: 5, logEntriesASite: 10 })
    })
    if (dialect === 'postgres') await sql`vacuum analyze`.execute(api.database.read)
    const owner = await api.person('person-1@example.com')
    const all: Record<string, Taken> = {}
    for (const [what, { method, path, body }] of Object.entries(requests)) {
      const times: number[] = []
      let used = process.threadCpuUsage()
      for (let round = -20; round < ROUNDS; round++) {
        if (round === 0) used = process.threadCpuUsage()
        const began = performance.now()
        const { status } = await owner.call(method, path, body)
        if (status !== 200) throw new Error(`${path}: ${status}`)
        if (round >= 0) times.push(performance.now() - began)
      }
      const { user, system } = process.threadCpuUsage(used)
      const cpu = (user + system) / 1000 / ROUNDS
      all[what] = { p50: percentile(times, 0.5), p99: percentile(times, 0.99), cpu }
    }
    return all
  } finally {
    await api.close()
  }
}
