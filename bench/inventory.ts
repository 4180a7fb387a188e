import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { batches } from '../src/platform/batches.ts'
import type { Tx } from '../src/platform/db/database.ts'
import { judge } from '../src/resources/vulnerabilities/judge-vulnerabilities.job.ts'
import { withVulnerabilities } from '../src/resources/vulnerabilities/vulnerabilities.fixture.ts'
import { testApi } from '../test/support/api.ts'
import { fillWithMany } from '../test/support/many.ts'
import { type Figure, percentile, type Section } from './support/report.ts'

const SITES = 10_000
const PLUGINS_A_SITE = 15
const PLUGINS = 3_000
const THEMES = 300
const VERSIONS = 12
const ENTRIES = 30_000
const ROUNDS = 40
/** Rows of one statement. */
const ROWS = 500

const requests: Record<string, string> = {
  'plugins of all sites': '/v1/plugins?per_page=50',
  'plugins, part of the name': '/v1/plugins?q=gin-17',
  'plugins with an update, active': '/v1/plugins?update_due=true&active=true',
  'plugins of one site': '/v1/plugins?site_id=77',
  'themes of all sites': '/v1/themes?per_page=50',
  'sites with the most popular plugin': '/v1/plugins/plugin-0/sites?per_page=50',
  'sites with a version of it': '/v1/plugins/plugin-0/sites?version=11.0&per_page=50',
  'vulnerabilities of all sites': '/v1/vulnerabilities?per_page=50',
  'vulnerabilities, the critical ones': '/v1/vulnerabilities?severity=critical',
  'vulnerabilities of one site': '/v1/vulnerabilities?site_id=77',
}

/** How long the plugins of many sites take to list, and to compare with a feed of vulnerabilities. */
export async function inventoryBench(): Promise<Section> {
  const api = await testApi('sqlite')
  try {
    await api.database.transaction(async (tx) => {
      await tx.deleteFrom('hosts').execute()
      await fillWithMany(tx, { sites: SITES, collaboratorsASite: 1, logEntriesASite: 0 })
      await fillExtensions(tx)
      await fillFeed(tx)
    })
    const figures = [
      await judged('all alerts are new', api.database),
      await judged('nothing has changed', api.database),
    ].flat()
    const { alerts } = await api.database.read
      .selectFrom('alerts')
      .select(({ fn }) => fn.countAll<number>().as('alerts'))
      .executeTakeFirstOrThrow()
    const owner = await api.person('person-1@example.com')
    for (const [what, path] of Object.entries(requests)) {
      const times: number[] = []
      let used = process.threadCpuUsage()
      for (let round = -5; round < ROUNDS; round++) {
        if (round === 0) used = process.threadCpuUsage()
        const began = performance.now()
        const { status } = await owner.call('GET', path)
        if (status !== 200) throw new Error(`${path}: ${status}`)
        if (round >= 0) times.push(performance.now() - began)
      }
      const [p50, p95] = [0.5, 0.95].map((share) => percentile(times, share).toFixed(1))
      const processor = (millisecondsSince(used) / ROUNDS).toFixed(1)
      figures.push({ what, value: `p50 ${p50} ms, p95 ${p95} ms, processor ${processor} ms`, aim: 'p95 < 100 ms' })
    }
    return {
      title: 'Inventory',
      how: `SQLite. One account has ${SITES} sites with ${PLUGINS_A_SITE} of ${PLUGINS} plugins each, a tenth of them outdated, and two of ${THEMES} themes. The feed has ${ENTRIES} vulnerabilities, so that there are ${alerts} alerts. Each list is requested ${ROUNDS} times, one after the other, without a network. The longest pause is that of the process: while a statement runs on SQLite, nothing else does.`,
      figures,
    }
  } finally {
    await api.close()
  }
}

type Opened = Awaited<ReturnType<typeof testApi>>['database']

/** Judges once, and measures its processor time. */
async function judged(what: string, database: Opened): Promise<Figure[]> {
  const pauses = monitorEventLoopDelay({ resolution: 1 })
  const used = process.threadCpuUsage()
  pauses.enable()
  await turn()
  await judge({
    read: database.read,
    transaction: (work) => database.transaction(work),
    signal: new AbortController().signal,
    now: Date.now,
  })
  // A pause that has just ended is counted with the next turn.
  await turn()
  pauses.disable()
  return [
    { what: `judging vulnerabilities, ${what}: processor time`, value: `${Math.round(millisecondsSince(used))} ms` },
    { what: 'longest pause meanwhile', value: `${Math.round(pauses.max / 1e6)} ms`, aim: '< 100 ms' },
  ]
}

const turn = () => pause(20)

function millisecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** Numbers between 0 and 1 that are the same in each run. */
function sequence(): () => number {
  let seed = 1
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
}

/** A few plugins are on most sites, and most are on a few. */
async function fillExtensions(tx: Tx): Promise<void> {
  const next = sequence()
  const some = (of: number): number => Math.floor(of * next() ** 3)
  const rows: object[] = []
  const add = (siteId: number, kind: 'plugin' | 'theme', number: number) => {
    const age = next() < 0.9 ? 0 : 1 + Math.floor(next() * (VERSIONS - 1))
    rows.push({
      ...{ site_id: siteId, kind, slug: `${kind}-${number}`, title: `The ${kind} ${number}` },
      ...{ version: `${VERSIONS - age}.0`, is_active: next() < 0.9 ? 1 : 0, is_automatic: next() < 0.3 ? 1 : 0 },
      update_version: age === 0 ? null : `${VERSIONS}.0`,
    })
  }
  for (let siteId = 1; siteId <= SITES; siteId++) {
    const plugins = new Set<number>()
    while (plugins.size < PLUGINS_A_SITE) plugins.add(some(PLUGINS))
    for (const number of plugins) add(siteId, 'plugin', number)
    for (const number of new Set([some(THEMES), some(THEMES)])) add(siteId, 'theme', number)
  }
  for (const some of batches(rows, ROWS))
    await tx
      .insertInto('site_extensions')
      .values(some as never)
      .execute()
  await sql`insert into extension_counts
      (account_id, kind, slug, version, title, sites, active, update_due, automatic)
    select account_id, kind, slug, version, max(title), count(*), sum(is_active), count(update_version), sum(is_automatic)
    from site_extensions join site_access on site_access.site_id = site_extensions.site_id
    group by account_id, kind, slug, version`.execute(tx)
}

/** Half of the entries are about plugins that no site has. The newest version has none of them. */
async function fillFeed(tx: Tx): Promise<void> {
  const next = sequence()
  const ratings = ['Critical', 'High', 'Medium', 'Medium', 'Medium', 'Low']
  const entries = Array.from({ length: ENTRIES }, (_, at) => {
    const to = 1 + Math.floor(next() * (VERSIONS - 1))
    return {
      id: `entry-${at}`,
      slug: next() < 0.5 ? `absent-${at % 9_000}` : `plugin-${Math.floor(PLUGINS * next() ** 2)}`,
      ...{ to: `${to}.0`, fixed: [`${to + 1}.0`] },
      more: { cvss: { score: 1 + Math.floor(next() * 90) / 10, rating: ratings[at % ratings.length] } },
    }
  })
  for (const some of batches(entries, ROWS)) await withVulnerabilities(tx, some)
}
