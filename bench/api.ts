import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import Type from 'typebox'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { reportHost } from '../src/hosting/host.store.ts'
import { createSealer } from '../src/platform/crypto/seal.ts'
import type { Tx } from '../src/platform/db/database.ts'
import { PreparedClient } from '../src/platform/db/prepared-client.ts'
import type { Schema } from '../src/platform/db/schema.ts'
import { createApiMetrics } from '../src/platform/http/api-metrics.ts'
import { envelope } from '../src/platform/http/schemas.ts'
import { noLog } from '../src/platform/log/log.ts'
import { makeAccount, makeApplication, type NewApplication } from '../src/resources/account/account.ts'
import { putRoute } from '../src/resources/sites/addresses/route.store.ts'
import { SiteDetail } from '../src/resources/sites/show/present-site.ts'
import { insertSite } from '../src/resources/sites/site.store.ts'
import { dialects, type TestDatabase, testDatabase } from '../test/support/database.ts'
import { siteDraft } from '../test/support/site-draft.ts'
import { requestsPerSecond } from './support/load.ts'
import type { Figure, Section } from './support/report.ts'
import { median } from './support/report.ts'

const ROUNDS = 5
const ACCOUNTS = 64
/** Rows that exist before, so that the databases have statistics. */
const SITES = 1000
/** Concurrent creations. */
const WRITERS = 8
const config = readConfig({ STEAD_RATE_LIMIT: '0', STEAD_TOKEN_RATE_LIMIT: '0', STEAD_LOG_LEVEL: 'silent' })

/** Throughput of the API beside a bare route that does the minimum for the same answer. */
export async function apiBench(): Promise<Section> {
  const figures: Figure[] = []
  for (const { dialect, skip } of dialects) if (!skip) figures.push(...(await onDialect(dialect)))
  return {
    title: 'API',
    how: 'One process each, with keep-alive connections on loopback. Five rounds run in turn, and the ratio is the median. 64 accounts with 1,000 sites together exist before the start. Eight writers run at once, and each waits for its response. The bare read is Fastify and TypeBox with one prepared select of the same row and the same serializer. It has no token, permissions, limits, or request ID. The bare write is the same inserts in one transaction, called without HTTP and without the checks of plan and host. On PostgreSQL, the bare ones use the connection pool of Kysely and pg, with prepared statements.',
    figures,
  }
}

async function onDialect(dialect: 'sqlite' | 'postgres'): Promise<Figure[]> {
  const made = await testDatabase(dialect)
  const folder = await mkdtemp(join(tmpdir(), 'stead-bench-'))
  try {
    const applications = await seed(made)
    await made.database.transaction((tx) => reportHost(tx, { hostId: 1, epoch: 0 }, {}))
    // PostgreSQL does this within a minute. With plans for empty tables, it scans a table that has grown.
    const learn = async () => {
      await made.database.transaction((tx) => sql`analyze`.execute(tx))
    }
    const reports = reportEvery(made, 2000)
    const app = await createApp({
      config,
      database: made.database,
      sealer: createSealer(Buffer.alloc(32)),
      log: noLog,
      metrics: createApiMetrics(),
      version: 'bench',
      readiness: async () => ({ ready: true, details: {} }),
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    // One after the other: 64 simultaneous connections leave this process's heap larger than that of the bare server.
    const tokens: string[] = []
    for (const application of applications) tokens.push(await tokenFor(url, application))
    const headers = { authorization: `Bearer ${tokens[0]}` }
    const detail = ((await (await fetch(`${url}/v1/sites/1`, { headers })).json()) as { data: object }).data
    const plain = plainDatabase(made)
    const bare = await bareApi(plain, detail)
    const bareUrl = await bare.listen({ port: 0, host: '127.0.0.1' })
    const reads = await inTurn(
      () => requestsPerSecond({ url: `${url}/v1/sites/1`, headers, seconds: 2, connections: 16 }),
      () => requestsPerSecond({ url: `${bareUrl}/v1/sites/1`, headers, seconds: 2, connections: 16 }),
      learn,
    )
    let number = 0
    const writes = await inTurn(
      () =>
        requestsPerSecond({
          url: `${url}/v1/sites`,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          tokens,
          body: '{"name":"bench-#"}',
          seconds: 2,
          connections: WRITERS,
        }),
      () => bareWrites(plain, 1000, () => `bare-${number++}`),
      learn,
    )
    clearInterval(reports)
    await app.close()
    await bare.close()
    await plain.close()
    return [
      figure(`GET /v1/sites/{id}, ${dialect}`, reads, '≥ 0.7'),
      figure(`POST /v1/sites, ${dialect}`, writes, '≥ 0.5'),
    ]
  } finally {
    await made.drop()
    await rm(folder, { recursive: true })
  }
}

interface Pair {
  readonly ours: number
  readonly bare: number
}

const figure = (what: string, pairs: readonly Pair[], aim: string): Figure => ({
  what,
  value: `${Math.round(median(pairs.map(({ ours }) => ours)))}/s`,
  yardstick: `${Math.round(median(pairs.map(({ bare }) => bare)))}/s`,
  ratio: median(pairs.map(({ ours, bare }) => ours / bare)).toFixed(2),
  aim,
})

/** @param warm called between a first round, which does not count, and the others */
async function inTurn(
  ours: () => Promise<number>,
  bare: () => Promise<number>,
  warm: () => Promise<void>,
): Promise<Pair[]> {
  await ours()
  await bare()
  await warm()
  const pairs: Pair[] = []
  for (let round = 0; round < ROUNDS; round++) pairs.push({ ours: await ours(), bare: await bare() })
  return pairs
}

async function seed({ database }: TestDatabase): Promise<NewApplication[]> {
  return database.transaction(async (tx) => {
    const applications: NewApplication[] = []
    for (let number = 1; number <= ACCOUNTS; number++) {
      const now = Date.now()
      const { id } = await makeAccount(tx, { email: `bench-${number}@example.com`, plan: 'High Traffic', now })
      applications.push(await makeApplication(tx, { accountId: id, name: 'bench', isOwner: true, now }))
      // Room for every site that the benchmark creates.
      await tx.insertInto('account_addons').values({ account_id: id, addon_id: 8, quantity: 100_000 }).execute()
    }
    await tx
      .insertInto('hosts')
      .values({
        name: 'bench',
        address: 'http://127.0.0.1:1',
        datacenters: '',
        max_sites: 1_000_000,
        facts: '{}',
        seen_at: Date.now(),
      })
      .execute()
    for (let number = 1; number <= SITES; number++) {
      const now = Date.now()
      const draft = siteDraft(`bench-site-${number}`, { accountId: 1 + ((number - 1) % ACCOUNTS) })
      const site = await insertSite(tx, draft, now)
      await putRoute(tx, site.id, `${draft.name}.localhost`, now)
    }
    return applications
  })
}

/** Does what a running host does. */
function reportEvery({ database }: TestDatabase, ms: number): NodeJS.Timeout {
  return setInterval(() => {
    void database.transaction((tx) => reportHost(tx, { hostId: 1, epoch: 0 }, {}))
  }, ms)
}

/** Shared by the reference servers. */
interface Bare {
  readonly read: Tx
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/**
 * PostgreSQL with Kysely and pg, with prepared statements. SQLite has no such pair, so it uses Stead's own connection.
 */
function plainDatabase({ database, connection }: TestDatabase): Bare {
  if (!connection.url)
    return { read: database.read, transaction: (work) => database.transaction(work), close: async () => {} }
  const pool = new pg.Pool({ connectionString: connection.url, max: 16, Client: PreparedClient })
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  return { read: db, transaction: (work) => db.transaction().execute(work), close: () => db.destroy() }
}

async function tokenFor(url: string, { clientId, clientSecret }: NewApplication): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  })
  return ((await (await fetch(`${url}/auth/token`, { method: 'POST', body })).json()) as { access_token: string })
    .access_token
}

/** The minimum: reads the row by its key, and answers the stored object. */
async function bareApi(database: Bare, detail: object) {
  const app = fastify()
  app.get(
    '/v1/sites/:id',
    { schema: { params: Type.Object({ id: Type.Integer() }), response: { 200: envelope(SiteDetail, false) } } },
    async (request) => {
      const { id } = request.params as { id: number }
      const row = await database.read.selectFrom('sites').selectAll().where('id', '=', id).executeTakeFirst()
      return { message: 'Success', data: { ...detail, id: row?.id, name: row?.name }, errors: null }
    },
  )
  return app
}

/**
 * Inserts only the rows of a creation.
 * @returns transactions a second
 */
async function bareWrites(database: Bare, amount: number, name: () => string): Promise<number> {
  const began = performance.now()
  let left = amount
  const one = async () => {
    while (left-- > 0) {
      const account = 1 + (left % ACCOUNTS)
      await database.transaction(async (tx) => {
        const now = Date.now()
        const site = await insertSite(tx, siteDraft(name(), { accountId: account }), now)
        await putRoute(tx, site.id, `${site.name}.localhost`, now)
        await tx
          .insertInto('activity')
          .values({
            account_id: account,
            site_id: site.id,
            action: 'site.created',
            description: '',
            message: '',
            source: 'api.v1',
            actor_email: null,
            ip_address: null,
            user_agent: '',
            created_at: now,
          })
          .execute()
        const { id } = await tx
          .insertInto('operations')
          .values(operationRow(site.id, account, now))
          .returning('id')
          .executeTakeFirstOrThrow()
        await tx
          .insertInto('operation_steps')
          .values(
            ['home', 'content', 'process', 'answer', 'live'].map((step, position) => ({
              operation_id: id,
              position,
              name: step,
              state: 'pending' as const,
              attempts: 0,
              result: null,
              error: null,
              started_at: null,
              finished_at: null,
            })),
          )
          .execute()
      })
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, one))
  return amount / ((performance.now() - began) / 1000)
}

const operationRow = (siteId: number, accountId: number, now: number) =>
  ({
    type: 'site.provision',
    runner: 'host',
    host_id: 1,
    site_id: siteId,
    account_id: accountId,
    input: '{}',
    source: null,
    state: 'queued',
    ending: null,
    cancel_requested: 0,
    attempts: 0,
    run_at: now,
    lease_owner: null,
    lease_until: null,
    error: null,
    progress: 0,
    created_at: now,
    started_at: null,
    finished_at: null,
  }) as const
