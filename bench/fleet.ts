import { sql } from 'kysely'
import { migrations } from '../migrations/index.ts'
import { recordHost } from '../src/edge/routing/route-changes.store.ts'
import { loadRoute, routeChangesSince } from '../src/edge/routing/routes.store.ts'
import { hostedSites, reportHost } from '../src/hosting/host.store.ts'
import { type Database, openDatabase } from '../src/platform/db/database.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { fillWithMany, numbers } from '../test/support/many.ts'
import { startPostgres } from '../test/support/postgres-cluster.ts'
import { type Figure, median, type Section } from './support/report.ts'

const HOSTS = 1_000
const SITES = 100_000
const AT_ONCE = 8
const REPORT_EVERY_S = 2
/** About what a host with native PHP reports. */
const FACTS = {
  phpVersions: ['8.2', '8.3', '8.4'],
  diskFreeMb: 120_000,
  diskMb: 240_000,
  version: '0.1.0',
  processes: 1,
}

/** A thousand hosts and a hundred thousand sites in PostgreSQL: only the records, without any program. */
export async function fleetBench(): Promise<Section> {
  const title = 'Records of a thousand hosts'
  const postgres = await startPostgres()
  if (!postgres) return { title, how: 'Not measured: it needs PostgreSQL.', figures: [] }
  const database = await openDatabase({ url: postgres.url, file: '' })
  try {
    await migrate(database, migrations)
    await fill(database)
    return {
      title,
      how: `PostgreSQL with its default settings on this machine has ${HOSTS} hosts with ${SITES / HOSTS} sites and routes each. Each host reports once, ${AT_ONCE} at the same time, and has to do so every ${REPORT_EVERY_S} s. The reference is an \`UPDATE\` of one row of a table without an index but its key, in a transaction like the report. The other figures are medians of ${HOSTS}.`,
      figures: await measure(database),
    }
  } finally {
    await database.close()
    await postgres.remove()
  }
}

async function fill(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await fillWithMany(tx, { sites: SITES, collaboratorsASite: 0, logEntriesASite: 0 })
    await sql`insert into hosts (id, name, address, datacenters, max_sites, facts, seen_at)
      select i, 'host-' || i, 'https://host-' || i || '@10.0.0.1:8090', '', 1000, '{}', 1 from ${numbers(tx, HOSTS)} where i > 1`.execute(
      tx,
    )
    await sql`update sites set host_id = 1 + id % ${sql.lit(HOSTS)}`.execute(tx)
    await sql`insert into site_homes (host_id, state, core_version, install, site_id, created_at)
      select host_id, 'taken', core_version, 'wordpress', id, 1 from sites`.execute(tx)
    await sql`create table bench_rows (id integer primary key, text text not null)`.execute(tx)
    await sql`insert into bench_rows select i, '' from ${numbers(tx, HOSTS)}`.execute(tx)
  })
  await sql`vacuum analyze`.execute(database.read)
}

async function measure(database: Database): Promise<Figure[]> {
  const ids = Array.from({ length: HOSTS }, (_, index) => index + 1)
  const text = JSON.stringify(FACTS)
  const [plain, reports]: [number[], number[]] = [[], []]
  // In turn, so that both have the same neighbors.
  for (let round = 0; round < 3; round++) {
    plain.push(
      await spread(ids, (id) =>
        database.transaction((tx) => sql`update bench_rows set text = ${text} where id = ${id}`.execute(tx)),
      ),
    )
    reports.push(
      await spread(ids, (id) => database.transaction((tx) => reportHost(tx, { hostId: id, epoch: 0 }, FACTS))),
    )
  }
  const [most, reference] = [median(reports), median(plain)]
  const before = await database.transaction((tx) => routeChangesSince(tx, undefined))
  const lookups = await each(ids, (id) => loadRoute(database.read, `site-${id * 97}.localhost`))
  const sites = await each(ids, (id) => hostedSites(database.read, id))
  const moves = await each(ids.slice(0, 100), (id) => database.transaction((tx) => recordHost(tx, id)))
  const news = await each(ids.slice(0, 100), () => routeChangesSince(database.read, before.newest))
  const ms = (value: number) => `${value.toFixed(1)} ms`
  return [
    {
      what: 'reports a second',
      ...{ value: most.toFixed(0), yardstick: reference.toFixed(0), ratio: (most / reference).toFixed(2) },
      aim: `${HOSTS / REPORT_EVERY_S}`,
    },
    { what: 'route of a name', value: ms(lookups) },
    { what: 'sites of a host', value: ms(sites) },
    { what: 'a host announces another address', value: ms(moves) },
    { what: 'an edge reads 100 such changes', value: ms(news) },
  ]
}

/** @returns calls a second, with {@link AT_ONCE} at the same time */
async function spread(ids: readonly number[], work: (id: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  const left = [...ids]
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) await work(id)
    }),
  )
  return ids.length / ((performance.now() - startedAt) / 1000)
}

/** @returns the median of one call, in milliseconds */
async function each(ids: readonly number[], work: (id: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (const id of ids) {
    const startedAt = performance.now()
    await work(id)
    times.push(performance.now() - startedAt)
  }
  return median(times)
}
