import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'
import Type from 'typebox'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createSealer } from '../src/platform/crypto/seal.ts'
import { createApiMetrics } from '../src/platform/http/metrics.ts'
import { envelope } from '../src/platform/http/schemas.ts'
import { noLog } from '../src/platform/log/log.ts'
import { makeAccount, makeApplication, type NewApplication } from '../src/resources/account/account.ts'
import { insertSite, putRoute } from '../src/resources/sites/site.store.ts'
import { SiteDetail } from '../src/resources/sites/site.ts'
import { dialects, type TestDatabase, testDatabase } from '../test/support/database.ts'
import { requestsPerSecond } from './support/load.ts'
import type { Figure, Section } from './support/report.ts'
import { median } from './support/report.ts'
import { siteDraft } from './support/sites.ts'

const ROUNDS = 5
const ACCOUNTS = 8
const config = readConfig({ STEAD_RATE_LIMIT: '0', STEAD_TOKEN_RATE_LIMIT: '0', STEAD_LOG_LEVEL: 'silent' })

/** Throughput of the API beside a bare route that does the least that anybody could do for the same answer. */
export async function apiBench(): Promise<Section> {
  const figures: Figure[] = []
  for (const { dialect, skip } of dialects) if (!skip) figures.push(...(await onDialect(dialect)))
  return {
    title: 'API',
    how: 'One process each, keep-alive connections on loopback, five rounds in turn, the median of the ratios. The bare read: Fastify and TypeBox, one prepared select of the same row, the same serialiser; no token, no rights, no limits, no ids. The writes are those of eight accounts at once, each waiting for its answer. The bare write: the same inserts in one transaction, called without HTTP, without counting what the plan allows.',
    figures,
  }
}

async function onDialect(dialect: 'sqlite' | 'postgres'): Promise<Figure[]> {
  const made = await testDatabase(dialect)
  const folder = await mkdtemp(join(tmpdir(), 'stead-bench-'))
  try {
    const applications = await seed(made)
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
    const tokens = await Promise.all(applications.map((application) => tokenFor(url, application)))
    const headers = { authorization: `Bearer ${tokens[0]}` }
    const detail = ((await (await fetch(`${url}/v1/sites/1`, { headers })).json()) as { data: object }).data
    const bare = await bareApi(made, detail)
    const bareUrl = await bare.listen({ port: 0, host: '127.0.0.1' })
    const reads = await inTurn(
      () => requestsPerSecond({ url: `${url}/v1/sites/1`, headers, seconds: 2, connections: 16 }),
      () => requestsPerSecond({ url: `${bareUrl}/v1/sites/1`, headers, seconds: 2, connections: 16 }),
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
          connections: ACCOUNTS,
        }),
      () => bareWrites(made, 1000, ACCOUNTS, () => `bare-${number++}`),
    )
    await app.close()
    await bare.close()
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

async function inTurn(ours: () => Promise<number>, bare: () => Promise<number>): Promise<Pair[]> {
  await ours()
  await bare()
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
      // room for every site that the benchmark makes
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
    const site = await insertSite(tx, siteDraft('bench-site'), Date.now())
    await putRoute(tx, site.id, 'bench-site.localhost', Date.now())
    return applications
  })
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

/** The least: the row by its key, the stored object as the answer. */
async function bareApi({ database }: TestDatabase, detail: object) {
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

/** The rows of a creation, and nothing else. @returns transactions a second */
async function bareWrites({ database }: TestDatabase, amount: number, at: number, name: () => string): Promise<number> {
  const began = performance.now()
  let left = amount
  const one = async (account: number) => {
    while (left-- > 0)
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
  await Promise.all(Array.from({ length: at }, (_, index) => one(index + 1)))
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
