import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { loadRoute, routeChangesSince } from '../src/edge/routing/routes.store.ts'
import { createRouteTable } from '../src/edge/routing/routes.ts'
import { type Database, openDatabase } from '../src/platform/db/database.ts'
import { noLog } from '../src/platform/log/log.ts'
import { dayOf } from '../src/platform/log-store/days.ts'
import type { HostServices } from '../src/resources/kit/host-services.ts'
import { measureSites } from '../src/resources/statistics/measure-sites.job.ts'
import { refreshPageViews } from '../src/resources/statistics/refresh-statistics.job.ts'
import { testDatabase } from '../test/support/database.ts'
import { fillWithMany, numbers } from '../test/support/many.ts'
import type { Figure, Section } from './support/report.ts'
import { startPart } from './support/servers.ts'

const SITES = 10_000
const DAYS = 60
const FILES = 10

/** The nightly sums and disk measurements with many sites, and their effect on an edge that knows all their routes. */
export async function statisticsBench(): Promise<Section> {
  const { database, connection, drop } = await testDatabase('sqlite')
  const folder = await mkdtemp(join(tmpdir(), 'stead-bench-'))
  try {
    const now = Date.now()
    await database.transaction(async (tx) => {
      await fillWithMany(tx, { sites: SITES, collaboratorsASite: 1, logEntriesASite: 0 })
      await sql`insert into page_view_days (site_id, day, views, people)
        select n.i, ${dayOf(now)} - d.i, 1 + (n.i * d.i) % 50, 1 + (n.i + d.i) % 20
        from ${numbers(tx, SITES)} cross join (select i from ${numbers(tx, DAYS)}) as d`.execute(tx)
      await sql`update sites set written_address = name || '.localhost'`.execute(tx)
      await sql`insert into site_homes (host_id, state, core_version, install, site_id, created_at)
        select 1, 'taken', '6.8', 'wordpress', i, 1 from ${numbers(tx, SITES)}`.execute(tx)
    })
    await createDirectories(folder)
    const edge = await startPart(import.meta.filename, connection.file)
    const figures: Figure[] = []
    const measured = async (what: string, work: () => Promise<unknown>) => {
      const [began, used, ofDu, ofEdge] = [performance.now(), process.cpuUsage(), endedMs(), edge.cpuMicroseconds()]
      await work()
      const { user, system } = process.cpuUsage(used)
      const s = (ms: number) => `${(ms / 1000).toFixed(1)} s`
      figures.push({
        what,
        value: `${s(performance.now() - began)}, processor ${s((user + system) / 1000)} and ${s(endedMs() - ofDu)} of du`,
        aim: '5 s',
      })
      figures.push({
        what: '… an edge meanwhile, processor',
        value: s((edge.cpuMicroseconds() - ofEdge) / 1000),
        aim: 'nothing',
      })
    }
    await measured('summing up page views', () => refreshPageViews(database, now))
    await measured('… once more: nothing has changed', () => refreshPageViews(database, now))
    await measured('measuring storage', () => measure(database, folder))
    await edge.stop()
    return {
      title: 'Nightly statistics',
      how: `${SITES} sites have ${DAYS} days of page views and ${FILES} files of their own each, on SQLite. One edge process knows all routes.`,
      figures,
    }
  } finally {
    await drop()
    await rm(folder, { recursive: true })
  }
}

/** The job's own step, on site directories in the folder. */
function measure(database: Database, folder: string): Promise<unknown> {
  const siteDirectories = {
    ofSite: async (siteId: number) => ({ id: siteId, path: join(folder, String(siteId)), database: 'sqlite' }),
  }
  const services = { database, siteDirectories, hostId: 1 } as unknown as HostServices
  const { run } = measureSites.steps.measure as unknown as { run(context: object): Promise<unknown> }
  return run({
    services,
    input: {},
    signal: new AbortController().signal,
    log: { ...noLog, warn: (facts: { err: Error }) => console.error(facts.err) },
    now: Date.now,
    progress: () => {},
    transaction: database.transaction,
  })
}

async function createDirectories(folder: string): Promise<void> {
  for (let id = 1; id <= SITES; id++) {
    await mkdir(join(folder, String(id), 'web'), { recursive: true })
    await mkdir(join(folder, String(id), 'private/database'), { recursive: true })
    for (let file = 0; file < FILES; file++) await writeFile(join(folder, String(id), 'web', `${file}.php`), 'content')
  }
}

/** Processor time in milliseconds of ended programs that this process started. */
function endedMs(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * 10
}

if (process.argv[2] === '--part') {
  const database = await openDatabase({ file: process.argv[3] as string })
  const routes = createRouteTable({
    load: (hostName) => loadRoute(database.read, hostName),
    changesSince: (seq) => routeChangesSince(database.read, seq),
    onChange: (callback) => database.changes.subscribe('routes', callback),
  })
  for (let site = 1; site <= SITES; site++) await routes.find(`site-${site}.localhost`)
  // A real edge listens. This one only keeps its routes up to date.
  setInterval(() => {}, 60_000)
  process.send?.(0)
}
