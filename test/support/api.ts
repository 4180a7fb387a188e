/** The API in this process, on a database of its own, with accounts, sites and collaborators made without any WordPress. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { createSealer, type Sealer } from '../../src/platform/crypto/seal.ts'
import type { Database, DialectName } from '../../src/platform/db/database.ts'
import { createApiMetrics } from '../../src/platform/http/metrics.ts'
import { noLog } from '../../src/platform/log/log.ts'
import { makeAccount, makeApplication } from '../../src/resources/account/account.ts'
import { tokenHash } from '../../src/resources/authentication/authenticate.ts'
import { insertToken } from '../../src/resources/authentication/token.store.ts'
import { insertSite } from '../../src/resources/sites/site.store.ts'
import { testDatabase } from './database.ts'

export interface Reply {
  readonly status: number
  readonly headers: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: whatever the operation answers; each test looks at what it expects
  readonly body: any
}

/** Somebody who calls the API. */
export interface Person {
  readonly accountId: number
  readonly email: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

export interface TestApi {
  readonly app: FastifyInstance
  readonly database: Database
  readonly config: Config
  readonly sealer: Sealer
  /** What another process would open. */
  readonly connection: { url?: string; file: string }
  /** A new account (or the one that has the address) with an application and a token. */
  person(email: string, options?: { isOwner?: boolean; plan?: string }): Promise<Person>
  /** A site that is live in the records, and nowhere else. */
  site(owner: Person, name: string): Promise<number>
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  close(): Promise<void>
}

export async function testApi(dialect: DialectName): Promise<TestApi> {
  const { database, connection, drop } = await testDatabase(dialect)
  const config = readConfig({ STEAD_RATE_LIMIT: '0', STEAD_TOKEN_RATE_LIMIT: '0' })
  const sealer = createSealer(randomBytes(32))
  const readiness = async () => ({ ready: true, details: {} })
  const app = await createApp({
    config,
    database,
    sealer,
    log: noLog,
    metrics: createApiMetrics(),
    version: '0',
    readiness,
  })
  const hostId = await database.transaction(async (tx) => {
    const values = {
      name: 'h',
      address: 'http://127.0.0.1:1',
      datacenters: '',
      max_sites: 1e6,
      facts: '{}',
      seen_at: 0,
    }
    return (await tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow()).id
  })

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await app.inject({
      method: method as 'GET',
      url: path,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    const isJson = String(response.headers['content-type']).includes('json')
    return { status: response.statusCode, headers: response.headers, body: isJson ? response.json() : response.body }
  }

  return {
    app,
    database,
    config,
    sealer,
    connection,
    call,
    async person(email, { isOwner = true, plan = 'High Traffic' } = {}) {
      const token = randomBytes(32).toString('base64url')
      const now = Date.now()
      const accountId = await database.transaction(async (tx) => {
        const found = await tx.selectFrom('accounts').select('id').where('email', '=', email).executeTakeFirst()
        const id = found?.id ?? (await makeAccount(tx, { email, plan, now })).id
        const application = await makeApplication(tx, { accountId: id, name: 'test', isOwner, now })
        const expiresAt = now + 3_600_000
        await insertToken(tx, { hash: tokenHash(token), applicationId: application.id, now, expiresAt })
        return id
      })
      return {
        accountId,
        email,
        call: (method, path, body, headers) =>
          call(method, path, body, { authorization: `Bearer ${token}`, ...headers }),
      }
    },
    site: (owner, name) =>
      database.transaction(async (tx) => {
        const draft = {
          accountId: owner.accountId,
          name,
          isStaging: false,
          datacenterCode: 'AMS',
          hostId,
          phpVersion: '8.3',
          install: 'wordpress',
          hasMultisite: false,
          adminUsername: 'admin',
          adminEmail: owner.email,
        } as const
        const { id } = await insertSite(tx, draft, Date.now())
        await tx.updateTable('sites').set({ state: 'live', core_version: '6.8.7' }).where('id', '=', id).execute()
        return id
      }),
    async close() {
      await app.close()
      await drop()
    },
  }
}
