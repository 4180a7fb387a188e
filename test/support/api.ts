/**
 * Runs the API in this process, on its own database, with accounts, sites, and collaborators, but without WordPress:
 *
 *   const api = await testApi('sqlite')
 *   const owner = await api.person('owner@example.com')
 *   const siteId = await api.site(owner, 'first')
 *   expect(await owner.call('GET', `/v1/sites/${siteId}`)).toMatchObject({ status: 200 })
 */
import { createHash, randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type AppOptions, createApp } from '../../src/app.ts'
import { testBackups } from '../../src/backups/backup-store.fixture.ts'
import type { BackupStore } from '../../src/backups/backup-store.ts'
import type { Storage } from '../../src/backups/storage/storage.ts'
import type { controlBudgets } from '../../src/budgets.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { MeasureImpossible } from '../../src/hosting/page-measure/measure-page.ts'
import { PrinterBusy, type PrintPage } from '../../src/hosting/page-measure/print-page.ts'
import type { PluginDirectory } from '../../src/hosting/plugin-directory/plugin-directory.ts'
import type { SendPart } from '../../src/hosting/site-imports/send-part.ts'
import type { Budgets } from '../../src/platform/budgets/budget.ts'
import { createSealer, type Sealer } from '../../src/platform/crypto/seal.ts'
import type { Database, DialectName } from '../../src/platform/db/database.ts'
import { FetchFailed } from '../../src/platform/fetch/fetch-public.ts'
import { createApiMetrics } from '../../src/platform/http/api-metrics.ts'
import { type Log, noLog } from '../../src/platform/log/log.ts'
import type { LogStore } from '../../src/platform/log-store/log-store.ts'
import { openLogStore } from '../../src/platform/log-store/open-log-store.ts'
import type { Role } from '../../src/resources/access/roles.ts'
import { ensurePanelApplication, makeAccount, makeApplication } from '../../src/resources/account/account.ts'
import { tokenHash } from '../../src/resources/authentication/authenticate.ts'
import { insertToken } from '../../src/resources/authentication/token.store.ts'
import { insertCollaborator } from '../../src/resources/collaborators/collaborator.store.ts'
import { insertSession } from '../../src/resources/sessions/session.store.ts'
import { sessionHash } from '../../src/resources/sessions/session.ts'
import { insertSftpUser } from '../../src/resources/sftp-users/sftp-user.store.ts'
import { insertSite } from '../../src/resources/sites/site.store.ts'
import { grantAccess } from '../../src/resources/sites/site-access.store.ts'
import { testDatabase } from './database.ts'
import { siteDraft } from './site-draft.ts'

export interface Reply {
  readonly status: number
  readonly headers: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: whatever the operation answers; each test looks at what it expects
  readonly body: any
}

/** A caller of the API. */
export interface Person {
  readonly accountId: number
  readonly email: string
  readonly token: string
  /** Token of a new session in the control panel, and of its application. */
  readonly sessionToken: string
  readonly panelApplicationId: number
  readonly applicationId: number
  readonly clientId: string
  readonly clientSecret: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Like {@link call}, as a page of the control panel. */
  browse(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

/** Headers that a browser sends with a request of the control panel. */
export const ofBrowser = (sessionToken: string) => ({
  cookie: `stead_session=${sessionToken}`,
  'sec-fetch-site': 'same-origin',
})

export interface TestApi {
  readonly app: FastifyInstance
  readonly database: Database
  readonly config: Config
  readonly sealer: Sealer
  /** Web server and PHP logs. */
  readonly logs: LogStore
  readonly backups: BackupStore
  /** The folder of its own backups, if no storage was given. */
  readonly backupStorage: Storage
  /** What another process needs to open the database. */
  readonly connection: { url?: string; file: string }
  /** Creates an account (or uses the one with this address) with an application and a token. */
  person(email: string, options?: { isOwner?: boolean; plan?: string }): Promise<Person>
  /** Adds a person to a site with exactly these roles, or replaces their roles. */
  collaborate(person: Person, siteId: number, roles: readonly Role[]): Promise<number>
  /** Creates a site that is live in the database only. */
  site(owner: Person, name: string): Promise<number>
  /** Gives a site a directory in the database only. */
  home(siteId: number): Promise<void>
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  close(): Promise<void>
}

export interface TestApiOptions {
  /** `STEAD_…` settings. Rate limits are off by default. */
  readonly settings?: Record<string, string>
  readonly log?: Log
  readonly logs?: LogStore
  readonly backups?: BackupStore
  /**
   * Default: releases 1.0 and 5.3 of any plugin, except that names with `no-` do not exist, and `unreachable` cannot be
   * reached.
   */
  readonly pluginDirectory?: PluginDirectory
  /** Default: {@link everyPart}. */
  readonly sendPart?: SendPart
  /** Default: {@link everyPage}. */
  readonly printPage?: PrintPage
  readonly budgets?: Budgets<keyof ReturnType<typeof controlBudgets>>
  /** A clock that tests set. Default: the system's. */
  readonly now?: () => number
  readonly readiness?: () => Promise<{ ready: boolean; details: object }>
  readonly checks?: AppOptions['checks']
}

/** A host that accepts all uploads, and keeps nothing. */
export const everyPart: SendPart = async (_host, { offset, mostBytes, sha256 }, content) => {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of content) {
    bytes += piece.length
    hash.update(piece)
  }
  if (bytes > mostBytes) return { kind: 'too-long' }
  return sha256 && hash.digest('hex') !== sha256 ? { kind: 'damaged' } : { kind: 'taken', bytes: offset + bytes }
}

/** A printer without a browser. A page that says so is refused. */
export const everyPage: PrintPage = async ({ html }) => {
  if (html.includes('no browser here')) throw new MeasureImpossible('There is no browser')
  if (html.includes('a busy browser')) throw new PrinterBusy('busy')
  return Buffer.from(`%PDF-1.7 of ${html.length} characters`)
}

const everyPackage = async (slug: string) => {
  if (slug === 'unreachable') throw new FetchFailed('it cannot be reached')
  const packageOf = (version: string) => [version, `https://downloads.example.com/${slug}.${version}.zip`] as const
  return slug.startsWith('no-')
    ? undefined
    : { slug, version: '5.3', packages: new Map([packageOf('1.0'), packageOf('5.3')]) }
}

/** See {@link TestApiOptions}. */
export const everyPlugin: PluginDirectory = { find: everyPackage, findTheme: everyPackage }

/** Another instance of the API on the same database, like a second process. Close its `app`. */
export async function apiOver(
  database: Database,
  {
    settings,
    log = noLog,
    logs,
    backups,
    pluginDirectory = everyPlugin,
    sendPart = everyPart,
    printPage = everyPage,
    budgets,
    now,
    readiness = async () => ({ ready: true, details: {} }),
    checks,
  }: TestApiOptions = {},
  sealer: Sealer = createSealer(randomBytes(32)),
): Promise<{ app: FastifyInstance; config: Config; sealer: Sealer }> {
  const config = readConfig({
    STEAD_RATE_LIMIT: '0',
    STEAD_TOKEN_RATE_LIMIT: '0',
    // nothing listens there, which shows at once
    STEAD_RESOLVERS: '127.0.0.1:9',
    // most tests do not use the first account
    STEAD_ADDONS: 'all',
    ...settings,
  })
  const clock = now ? { now } : {}
  const metrics = createApiMetrics()
  return {
    app: await createApp({
      config,
      database,
      sealer,
      log,
      logs,
      metrics,
      version: '0',
      readiness,
      pluginDirectory,
      sendPart,
      printPage,
      checks,
      ...clock,
      ...(backups && { backups }),
      ...(budgets && { budgets }),
    }),
    config,
    sealer,
  }
}

/** Opens what an API consists of. */
async function openParts(dialect: DialectName, options: TestApiOptions) {
  const { database, connection, drop } = await testDatabase(dialect)
  const folder = join(connection.url ? tmpdir() : dirname(connection.file), 'logs')
  const logs = openLogStore({ url: connection.url, folder })
  const stored = await testBackups({ now: options.now })
  const backups = options.backups ?? stored.backups
  return {
    ...(await apiOver(database, { logs, ...options, backups })),
    logs,
    stored,
    backups,
    database,
    connection,
    drop,
  }
}

export async function testApi(dialect: DialectName, options: TestApiOptions = {}): Promise<TestApi> {
  // Nothing else refers to the parts, because a test keeps its API until the end of the run: megabytes each.
  const parts = await openParts(dialect, options)
  const { config, sealer, connection } = parts
  const now = options.now ?? Date.now
  const hostId = await parts.database.transaction(async (tx) => {
    const values = {
      name: 'h',
      address: 'http://127.0.0.1:1',
      datacenters: '',
      max_sites: 1e6,
      facts: '{}',
      // recent enough to get new sites, however long a test takes
      seen_at: Date.UTC(2100, 0),
    }
    return (await tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow()).id
  })

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await parts.app.inject({
      method: method as 'GET',
      url: path,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    const isJson = String(response.headers['content-type']).includes('json')
    return { status: response.statusCode, headers: response.headers, body: isJson ? response.json() : response.body }
  }

  return {
    get app() {
      return parts.app
    },
    get logs() {
      return parts.logs
    },
    get database() {
      return parts.database
    },
    get backups() {
      return parts.backups
    },
    get backupStorage() {
      return parts.stored.storage
    },
    config,
    sealer,
    connection,
    call,
    async person(email, { isOwner = true, plan = 'High Traffic' } = {}) {
      const token = randomBytes(32).toString('base64url')
      const sessionToken = randomBytes(32).toString('base64url')
      const made = now()
      const { accountId, application, panelApplicationId } = await parts.database.transaction(async (tx) => {
        const found = await tx.selectFrom('accounts').select('id').where('email', '=', email).executeTakeFirst()
        const id = found?.id ?? (await makeAccount(tx, { email, plan, now: made })).id
        const application = await makeApplication(tx, { accountId: id, name: 'test', isOwner, now: made })
        const expiresAt = made + 3_600_000
        await insertToken(tx, { hash: tokenHash(token), applicationId: application.id, now: made, expiresAt })
        const panelApplicationId = await ensurePanelApplication(tx, id, made)
        await insertSession(tx, {
          hash: sessionHash(sessionToken),
          applicationId: panelApplicationId,
          accountId: id,
          userAgent: 'Browser/1.0',
          ipAddress: '192.0.2.1',
          // the origin of `inject`, by default
          origin: 'http://localhost:80',
          now: made,
          expiresAt,
        })
        return { accountId: id, application, panelApplicationId }
      })
      return {
        accountId,
        email,
        token,
        sessionToken,
        panelApplicationId,
        applicationId: application.id,
        clientId: application.clientId,
        clientSecret: application.clientSecret,
        call: (method, path, body, headers) =>
          call(method, path, body, { authorization: `Bearer ${token}`, ...headers }),
        browse: (method, path, body, headers) => call(method, path, body, { ...ofBrowser(sessionToken), ...headers }),
      }
    },
    collaborate: (person, siteId, roles) =>
      parts.database.transaction(async (tx) => {
        await tx
          .deleteFrom('collaborators')
          .where('site_id', '=', siteId)
          .where('account_id', '=', person.accountId)
          .execute()
        const site = await tx
          .selectFrom('sites')
          .select(['id', 'name', 'account_id'])
          .where('id', '=', siteId)
          .executeTakeFirstOrThrow()
        await grantAccess(tx, person.accountId, site)
        const values = { siteId, accountId: person.accountId, ownerAccountId: site.account_id, roles, now: now() }
        return insertCollaborator(tx, { ...values, wpUsername: `user${person.accountId}` })
      }),
    home: (siteId) =>
      parts.database.transaction(async (tx) => {
        const directory = { host_id: hostId, site_id: siteId, core_version: '6.8', install: 'wordpress', created_at: 1 }
        await tx
          .insertInto('site_homes')
          .values({ ...directory, state: 'taken' })
          .execute()
      }),
    site: (owner, name) =>
      parts.database.transaction(async (tx) => {
        const draft = siteDraft(name, { accountId: owner.accountId, hostId, adminEmail: owner.email })
        const { id } = await insertSite(tx, draft, now())
        await insertSftpUser(tx, { site: { id, name }, accountId: owner.accountId, now: now() })
        await tx
          .updateTable('sftp_users')
          .set({ username: `sftp-${id}` })
          .where('site_id', '=', id)
          .execute()
        await tx.updateTable('sites').set({ state: 'live', core_version: '6.8.7' }).where('id', '=', id).execute()
        return id
      }),
    async close() {
      await parts.app.close()
      await parts.logs.close()
      await parts.stored.close()
      await parts.drop()
      for (const name of Object.keys(parts)) Reflect.deleteProperty(parts, name)
    },
  }
}
