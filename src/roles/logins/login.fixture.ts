/** A control with machines that have joined it, on PostgreSQL. */
import { createDecipheriv } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { postgresUrl } from '../../../test/support/database.ts'
import { readJoinToken } from '../../certificates/join/join-token.ts'
import { createJoinToken } from '../../certificates/join/join-tokens.store.ts'
import { readConfig } from '../../config.ts'
import {
  claimKeyMark,
  identifyInstallation,
  installationOf,
  replaceKeyMark,
} from '../../hosting/identity/identity.store.ts'
import { markOfKey } from '../../platform/crypto/master-key.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { noLog } from '../../platform/log/log.ts'
import type { RoleName } from '../../platform/mtls/role-name.ts'
import { type InternalListener, startInternalListener } from '../certificates/internal-listener.ts'
import { type Joined, joinInstallation } from '../certificates/join.ts'
import { openRoleIdentity, type RoleIdentity } from '../certificates/role-certificate.ts'
import { keysOfMaster } from '../keys/process-keys.ts'
import { openProcessContext, type ProcessContext } from '../process-context.ts'

export interface JoinedMachine {
  readonly dataDir: string
  readonly joined: Joined
  /** Opens the context of its role, as a start does. */
  open(settings?: Record<string, string>): Promise<ProcessContext>
}

export interface LoginLab {
  readonly api: TestApi
  /** Of the master key. */
  readonly sealer: Sealer
  /** Gives the installation another master key, as `stead key accept` does. */
  changeMasterKey(key: Buffer): Promise<void>
  /** Joins a machine with a data folder of its own. */
  join(owner: RoleName): Promise<JoinedMachine>
  /** Runs statements with the login of a machine. */
  connect(machine: JoinedMachine): Promise<pg.Client>
  /** The same with an address. */
  connectAs(url: string): Promise<pg.Client>
  close(): Promise<void>
}

const masterKey = Buffer.alloc(32, 7)

/** Starts a control that listens for machines, on a database of its own. */
export async function openLoginLab(): Promise<LoginLab> {
  const api = await testApi('postgres')
  const folders: string[] = []
  const contexts: ProcessContext[] = []
  const clients: pg.Client[] = []
  const context = {
    ...{ database: api.database, ...keysOfMaster(masterKey), log: noLog, logs: api.logs, room: {} as never },
    hasOwnLogin: false,
    config: {
      ...readConfig({ STEAD_DATA_DIR: '/nonexistent', STEAD_EDGE_TLS_LISTEN: '127.0.0.1:0' }),
      ...{ databaseUrl: api.connection.url, internalListen: { host: '127.0.0.1', port: 0 }, backupS3Bucket: 'backups' },
    },
  }
  await api.database.transaction(async (tx) => {
    await identifyInstallation(tx, undefined, Date.now())
    await claimKeyMark(tx, markOfKey(masterKey))
  })
  const identity: RoleIdentity = await openRoleIdentity(context, { role: 'control', name: 'c1' })
  const listener = (await startInternalListener(context, identity.trust)) as InternalListener
  const folder = async () => {
    const made = await mkdtemp(join(tmpdir(), 'stead-login-'))
    folders.push(made)
    return made
  }
  const connectAs = async (connectionString: string) => {
    const client = new pg.Client({ connectionString })
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }
  return {
    ...{ api, sealer: context.sealer },
    async changeMasterKey(key) {
      Object.assign(context, keysOfMaster(key))
      await api.database.transaction((tx) => replaceKeyMark(tx, markOfKey(key)))
    },
    async join(owner) {
      const options = { database: api.database, sealer: context.sealer, now: Date.now() }
      const token = readJoinToken(await createJoinToken(options, { ...owner, expiresAt: Date.now() + HOUR_MS }))
      const dataDir = await folder()
      const joined = await joinInstallation(token as never, { host: '127.0.0.1', port: listener.port }, dataDir)
      return {
        ...{ dataDir, joined },
        async open(settings = {}) {
          const all = { STEAD_DATA_DIR: dataDir, ...settings }
          const opened = await openProcessContext(readConfig({ STEAD_LOG_LEVEL: 'error', ...all }), owner.role)
          contexts.push(opened)
          return opened
        },
      }
    },
    connect: ({ joined }) => connectAs(joined.databaseUrl as string),
    connectAs,
    async close() {
      for (const each of clients) await each.end().catch(() => {})
      for (const { logs, database } of contexts) await Promise.all([logs.close(), database.close()])
      await listener.stop()
      identity.close()
      const { identity: installation } = (await installationOf(api.database.read)) as { identity: string }
      await api.close()
      await dropRoles(`stead_${installation.slice(0, 12)}_`)
      for (const each of folders) await rm(each, { recursive: true, force: true })
    },
  }
}

/** Roles belong to the server, and stay when a database is dropped. */
async function dropRoles(prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  const { rows } = await client.query('select rolname from pg_roles where starts_with(rolname, $1)', [prefix])
  for (const { rolname } of rows) await client.query(`drop role "${rolname}"`)
  await client.end()
}

/** Runs on the server, because there are a thousand statements. Each is undone. */
const ATTEMPTS = `create function pg_temp.attempts() returns setof text language plpgsql as $$
  declare
    each record;
  begin
    for each in
      with tables as (select oid, relname from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')),
      columns as (select relname, attname from tables join pg_attribute on attrelid = oid
        where attnum > 0 and not attisdropped)
      select format('select %s.%s', relname, attname) as name, format('select %I from %I', attname, relname) as statement
        from columns
      union all select format('insert %s.%s', relname, attname),
        format('insert into %I (%I) values (null)', relname, attname) from columns
      union all select format('update %s.%s', relname, attname),
        format('update %I set %I = null', relname, attname) from columns
      union all select format('delete %s.*', relname), format('delete from %I', relname) from tables
    loop
      begin
        execute each.statement;
        raise exception 'allowed';
      exception
        when insufficient_privilege then null;
        when others then return next each.name;
      end;
    end loop;
  end $$`

/** Tries everything with every table, and returns what was not refused: `select accounts.id`. Changes nothing. */
export async function whatIsAllowed(client: pg.Client): Promise<string[]> {
  await client.query(ATTEMPTS)
  const { rows } = await client.query<{ attempts: string }>('select * from pg_temp.attempts() as attempts')
  return rows.map(({ attempts }) => attempts)
}

/** Returns all sealed texts of a database with their columns, such as `certificates.private_key`. */
export async function sealedTexts({ read }: Database): Promise<{ column: string; text: string }[]> {
  const found: { column: string; text: string }[] = []
  for (const { name } of await read.introspection.getTables()) {
    const rows = (await sql`select * from ${sql.table(name)}`.execute(read)).rows as Record<string, unknown>[]
    for (const row of rows)
      for (const [column, text] of Object.entries(row))
        if (typeof text === 'string' && text.startsWith('v1.')) found.push({ column: `${name}.${column}`, text })
  }
  return found
}

/**
 * Tries a key on a sealed text, whatever it was sealed for: the purpose only guards against changes.
 * @param key base64url
 */
export function isReadable(sealed: string, key: string): boolean {
  const bytes = Buffer.from(sealed.slice(3), 'base64url')
  const secret = Buffer.from(key, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12), { authTagLength: 16 })
  return /^[\x20-\x7e\n]+$/.test(decipher.update(bytes.subarray(28)).toString('latin1'))
}
