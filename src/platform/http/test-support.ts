import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { InjectOptions, Response } from 'light-my-request'
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { Budget } from '../budgets/budget.ts'
import { createSealer } from '../crypto/seal.ts'
import type { Database, DialectName, Tx } from '../db/database.ts'
import { type Log, noLog } from '../log/log.ts'
import { createApiMetrics } from './api-metrics.ts'
import { createApi, type Readiness } from './create-api.ts'
import type { Endpoint } from './endpoint.ts'
import { createKeyLimit, type KeyLimits } from './idempotency/key-limit.ts'
import { createRateLimit } from './rate-limit.ts'

/** An API with a test's own endpoints. Application 1 authenticates with `Bearer 1`. */
export interface Lab {
  readonly app: FastifyInstance
  readonly database: TestDatabase['database']
  /** The time in milliseconds. Only the test advances the clock. */
  clock: number
  inject(method: string, url: string, options?: Partial<InjectOptions>): Promise<Response>
  /** Starts another process with the same database and key. The test must close it. */
  second(): Promise<FastifyInstance>
  close(): Promise<void>
}

const unbounded = { name: 'bodies', what: '', of: 'memory', whose: 'address', each: 1e9, all: 1e9, over: '' } as const

export interface LabOptions {
  /** Defaults to a budget that is never used up. */
  readonly bodies?: Budget
  readonly dialect?: DialectName
  readonly log?: Log
  readonly rateLimit?: number
  readonly keyLimits?: KeyLimits
  /**
   * Opens the API's own connection to the database, given its postgres:// address. Defaults to the test's connection.
   */
  readonly database?: (url: string) => Promise<Database>
  readonly corsOrigins?: string[]
  readonly trustProxy?: string[]
  readonly readiness?: () => Promise<Readiness>
}

export async function createLab(endpoints: readonly Endpoint[], options: LabOptions = {}): Promise<Lab> {
  const { database: direct, connection, drop } = await testDatabase(options.dialect ?? 'sqlite')
  const database = options.database ? await options.database(connection.url as string) : direct
  await direct.transaction(twoApplications)
  const sealer = createSealer(randomBytes(32))
  const state = { clock: Date.now() }
  const make = () =>
    createApi({
      endpoints,
      log: options.log ?? noLog,
      metrics: createApiMetrics(),
      info: {
        title: 'Lab',
        version: '0',
        description: 'Of a test',
        tags: [{ name: 'Lab', description: 'All' }],
        scopes: {},
      },
      describeAccess: () => ({ text: '', refusals: [] }),
      corsOrigins: options.corsOrigins ?? [],
      trustProxy: options.trustProxy ?? [],
      bodyLimitBytes: 1 << 20,
      bodies: options.bodies ?? new Budget(unbounded),
      readiness: options.readiness ?? (async () => ({ ready: true, details: {} })),
      platform: {
        database,
        sealer,
        now: () => state.clock,
        rates: {
          application: createRateLimit('application', options.rateLimit ?? 0),
          address: createRateLimit('token', options.rateLimit ?? 0),
        },
        keyLimit: createKeyLimit(options.keyLimits ?? { keys: 1e6, bytes: 1e9 }),
        authenticate: async ({ headers }) => ({
          applicationId: Number(headers.authorization?.slice('Bearer '.length)),
        }),
        authorize: async () => ({}),
        services: { database },
      },
    })
  const app = await make()
  return {
    app,
    database: direct,
    get clock() {
      return state.clock
    },
    set clock(value) {
      state.clock = value
    },
    inject: (method, url, { headers, ...rest } = {}) =>
      app.inject({ method: method as 'GET', url, headers: { authorization: 'Bearer 1', ...headers }, ...rest }),
    second: make,
    async close() {
      await app.close()
      await drop()
    },
  }
}

async function twoApplications(tx: Tx): Promise<void> {
  const account = {
    email: 'lab@example.com',
    name: 'Lab',
    organization: '',
    phone_number: '',
    plan: 'Personal',
    default_php_version: '8.3',
    default_datacenter: null,
    created_at: 0,
  }
  const { id } = await tx.insertInto('accounts').values(account).returning('id').executeTakeFirstOrThrow()
  for (const name of ['1', '2'])
    await tx
      .insertInto('applications')
      .values({
        account_id: id,
        name,
        client_id: name,
        secret_hash: '',
        is_owner: 0,
        created_at: 0,
        revoked_at: null,
      })
      .execute()
}

/** Returns options for a request with a JSON body and these headers. */
export const json = (body: unknown, headers: Record<string, string> = {}): Partial<InjectOptions> => ({
  headers: { 'content-type': 'application/json', ...headers },
  payload: typeof body === 'string' ? body : JSON.stringify(body),
})
