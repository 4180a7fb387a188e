/** Tests what a host that has joined can do in the database, also when it was taken over. */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresUrl } from '../../../test/support/database.ts'
import { reportHost } from '../../hosting/host.store.ts'
import { jobs } from '../../jobs.ts'
import { setHostState } from '../../resources/installation/hosts/host-changes.store.ts'
import { requestedForHosts, requestedOfControls } from './host-rows.ts'
import { hostRights } from './host-rules.ts'
import { type JoinedMachine, type LoginLab, openLoginLab, whatIsAllowed } from './login.fixture.ts'

/** Rows of another host, and of the host itself, have these numbers in all tables. */
const OTHER = 900_001
const OWN = 900_002

/** What no host needs: people, their secrets, those of the installation, and what only controls and edges do. */
const closed = [
  ...['account_addons', 'account_branding', 'account_removals', 'account_statistics', 'account_update_policies'],
  ...['acme_accounts', 'alert_chats', 'alert_settings', 'client_report_clock'],
  ...['applications', 'edge_ticket_keys', 'idempotency_keys', 'join_tokens', 'kysely_migration_lock'],
  ...[
    'local_authorities',
    'log_server',
    'monitoring_edges',
    'passkeys',
    'password_links',
    'passwords',
    'recovery_codes',
  ],
  ...[
    'role_logins',
    'safe_update_batches',
    'schedules',
    'sessions',
    'sign_in_attempts',
    'spent_challenges',
    'tls_ticket_keys',
    'tokens',
  ],
  ...[
    'totp_secrets',
    'visitor_days',
    'visitors',
    'vulnerabilities',
    'vulnerability_feeds',
    'webhook_attempts',
    'webhook_deliveries',
    'webhooks',
    'zone_keys',
  ],
]
/** Rows of others that each host sees. */
const seen = [
  ...['backup_key', 'cache_purges', 'control_addresses', 'core_releases', 'event_clock', 'hosts'],
  ...['log_shares', 'processes', 'purge_clock', 'role_authorities', 'role_certificates', 'route_changes'],
  ...['route_clock', 'routes', 'zone_clock'],
]
/** Rows of others that it can change, and delete where it says so. They lead to no site. */
const changed = ['core_releases', 'event_clock', 'purge_clock', 'route_clock', 'zone_clock']
const deleted = ['cache_purges', 'core_releases', 'route_changes']
/** What it can add, whatever it says. */
const added = ['core_releases', 'route_changes']

test.skipIf(!postgresUrl)('what hosts may request has no secret, and reads no backups of other sites', () => {
  const wanted = [...requestedForHosts, ...requestedOfControls]
  expect(wanted.filter((name) => !jobs.has(name))).toEqual([])
  const risky = wanted.filter((name) => jobs.get(name)?.secret ?? jobs.get(name)?.readsBackupsOf)
  expect(risky).toEqual([])
  expect(requestedForHosts.filter((name) => jobs.get(name)?.on !== 'host')).toEqual([])
  expect(requestedOfControls.filter((name) => jobs.get(name)?.on !== 'control')).toEqual([])
})

describe.skipIf(!postgresUrl)('the login of a host', () => {
  let lab: LoginLab
  let machine: JoinedMachine
  let control: pg.Client
  let client: pg.Client
  let columns: ReadonlyMap<string, readonly Column[]>
  beforeAll(async () => {
    lab = await openLoginLab()
    machine = await lab.join({ role: 'host', name: 'h9' })
    control = await lab.connectAs(lab.api.connection.url as string)
    client = await lab.connect(machine)
    columns = await columnsOf(control)
    await fill(control, columns)
  })
  afterAll(() => lab?.close())

  /** Runs statements as the host, and undoes them. @returns the number of rows, or the code of the refusal */
  async function trial(statement: string, values: unknown[] = []): Promise<number | string> {
    await client.query('begin')
    try {
      return (await client.query(statement, values)).rowCount ?? 0
    } catch (error) {
      return (error as { code: string }).code
    } finally {
      await client.query('rollback')
    }
  }
  const readable = (table: string) => listed(table, 'read')
  const listed = (table: string, right: 'read' | 'insert' | 'update'): readonly string[] => {
    const rule = hostRights[table as keyof typeof hostRights]?.[right]
    return rule === 'all' ? (columns.get(table) ?? []).map(({ name }) => name) : (rule ?? [])
  }
  /** Returns the rows of a table that a connection sees, with the columns that the host may read. */
  async function rowsOf(connection: pg.Client, table: string, condition = 'true'): Promise<string[]> {
    const { rows } = await connection.query(
      `select row_to_json(found)::text as row from (select ${readable(table).join(', ')} from ${table} where ${condition}) found`,
    )
    return rows.map(({ row }) => row)
  }

  test('is used by a host without the settings of the control', async () => {
    const context = await machine.open()
    expect([context.hasOwnLogin, context.masterKey]).toEqual([true, undefined])
    expect(new URL(context.config.databaseUrl as string).username).toMatch(/^stead_[0-9a-f]{12}_host_h9_[0-9a-f]{8}$/)
    const given = await machine.open({ STEAD_DATABASE_URL: lab.api.connection.url as string })
    expect([given.hasOwnLogin, given.masterKey]).toEqual([false, undefined])
    const key = { STEAD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
    await expect(machine.open(key)).rejects.toThrow('does not need the master key: remove it')
    const whole = await machine.open({ ...key, STEAD_DATABASE_URL: lab.api.connection.url as string })
    expect([whole.hasOwnLogin, whole.masterKey?.length]).toEqual([false, 32])
  })

  test('has a rule for each table, or none because no host needs it', () => {
    const ruled = Object.keys(hostRights)
    const tables = [...columns.keys()].filter((table) => !/^log_\w+_\d+$/.test(table))
    expect(tables.filter((table) => !ruled.includes(table)).sort()).toEqual([...closed].sort())
  })

  test('may do with columns what the rules say, and nothing else', async () => {
    await control.query('create table later (text text)')
    const found = new Set(await whatIsAllowed(client))
    await control.query('drop table later')
    const tables = [...columns.keys()]
    const allowed = tables.flatMap((table) => [
      ...(['read', 'insert', 'update'] as const).flatMap((right) =>
        listed(table, right).map((column) => `${right === 'read' ? 'select' : right} ${table}.${column}`),
      ),
      ...(hostRights[table as keyof typeof hostRights]?.delete ? [`delete ${table}.*`] : []),
    ])
    expect([...found].filter((each) => !allowed.includes(each))).toEqual([])
    expect(allowed.filter((each) => /^(select|delete)/.test(each) && !found.has(each))).toEqual([])
  })

  test('sees no rows of another host, and all of its own', async () => {
    const tables = Object.keys(hostRights).filter((table) => readable(table).length > 0 && !unfilled.includes(table))
    const foreign: string[] = []
    const missing: string[] = []
    for (const table of tables) {
      const there = await rowsOf(client, table)
      const [ofOther, ofOwn] = await Promise.all(
        [OTHER, OWN].map((id) => rowsOf(control, table, isOf(columns, table, id))),
      )
      if (ofOther?.some((row) => there.includes(row) && !ofOwn?.includes(row))) foreign.push(table)
      if (ofOwn?.some((row) => !there.includes(row))) missing.push(table)
    }
    expect([missing, foreign.sort()]).toEqual([[], [...seen].sort()])
  })

  test('changes no rows of another host', async () => {
    const found = { changed: new Set<string>(), deleted: new Set<string>(), added: new Set<string>() }
    for (const table of Object.keys(hostRights)) {
      if (unfilled.includes(table)) continue
      const [{ count }] = (
        await control.query(`select count(*) from ${table} where not (${isOf(columns, table, OWN)})`)
      ).rows as [{ count: string }]
      expect([table, Number(count) > 0]).toEqual([table, true])
      for (const column of listed(table, 'update')) {
        const rows = await trial(`update ${table} set ${column} = ${column}`)
        if (typeof rows === 'number' && rows > (await ownCount(table))) found.changed.add(table)
      }
      if (hostRights[table as keyof typeof hostRights]?.delete) {
        const rows = await trial(`delete from ${table}`)
        // 23503: other rows refer to its own.
        if (typeof rows === 'number' && rows > (await ownCount(table))) found.deleted.add(table)
      }
      const names = listed(table, 'insert')
      if (names.length === 0) continue
      const row = rowFor(table, columns.get(table) ?? [], OTHER, 'x').filter(({ name }) => names.includes(name))
      const isIdGiven = ({ name }: { name: string }) => name !== 'id' || names.length < 4
      const given = row.filter(isIdGiven)
      const result = await trial(
        `insert into ${table} (${given.map(({ name }) => name).join(', ')}) values (${given.map((_, at) => `$${at + 1}`).join(', ')})`,
        given.map(({ value }) => value),
      )
      if (result !== '42501') found.added.add(table)
    }
    expect([...found.changed].sort()).toEqual([...changed].sort())
    expect([...found.deleted].sort()).toEqual([...deleted].sort())
    expect([...found.added].sort()).toEqual([...added].sort())
  })
  const ownCount = async (table: string): Promise<number> => {
    const { rows } = await control.query(`select count(*) from ${table} where ${isOf(columns, table, OWN)}`)
    return Number(rows[0].count)
  }

  test('takes no site, and no work', async () => {
    expect(await trial('update sites set host_id = $1 where id = $2', [OWN, OTHER])).toBe(0)
    expect(await trial('update sites set closed_by = null where id = $1', [OTHER])).toBe(0)
    expect(await trial('update sites set account_id = $1', [OTHER])).toBe('42501')
    for (const set of [`host_id = ${OWN}`, "state = 'running', lease_owner = 'me'", 'finished_at = 1'])
      expect(await trial(`update operations set ${set} where id = $1`, [OTHER])).toBe(0)
    expect(await trial('update operations set input = $1', ['{}'])).toBe('42501')
    expect(
      await trial(
        'insert into site_homes (host_id, site_id, state, core_version, install, created_at) values ($1, $2, $3, $3, $3, 1)',
        [OWN, 900_003, 'taken'],
      ),
    ).toBe('42501')
    expect(await trial('update site_homes set site_id = $1', [900_003])).toBe('42501')
  })

  test('requests only what hosts request', async () => {
    const request = (
      type: string,
      { runner = 'host', host = OWN as number | null, site = OWN as number | null, input = {} as object } = {},
    ) =>
      trial(
        `insert into operations (type, runner, host_id, site_id, input, state, cancel_requested, attempts, run_at, progress, created_at)
          values ($1, $2, $3, $4, $5, 'queued', 0, 0, 1, 0, 1) returning id`,
        [type, runner, host, site, JSON.stringify(input)],
      )
    expect(await request('site.purge', { input: { siteId: OWN } })).toBe(1)
    expect(await request('site.purge', { host: OTHER })).toBe('42501')
    expect(await request('site.purge', { site: OTHER })).toBe('42501')
    // Its input could name what belongs to others.
    for (const type of ['site.restore', 'import.inspect', 'site.reset_admin_password', 'site.relocate'])
      expect(await request(type, { input: { siteId: OWN, sourceId: OTHER, importId: OTHER } })).toBe('42501')
    const ofControl = { runner: 'control', host: null, site: null }
    for (const type of ['account.remove', 'password.mail_link', 'host.drain', 'records.back_up'])
      expect(await request(type, ofControl)).toBe('42501')
    const forget = (siteId: number) => request('backups.forget_site', { ...ofControl, input: { siteId } })
    expect([await forget(OWN), await forget(OTHER)]).toEqual([1, '42501'])
    // Whatever waits for an operation sees it.
    const wait = (forId: number) => trial('insert into operation_waits values ($1, $2)', [OWN, forId])
    expect([await wait(OTHER), await wait(900_003)]).toEqual(['42501', '42501'])
    const mailTo = (to: string) => request('mail.send', { ...ofControl, input: { to } })
    expect([await mailTo(`email-${OWN}`), await mailTo(`email-${OTHER}`)]).toEqual([1, '42501'])
    // To another host, only for a site of its own that moves there.
    const move = { host: OTHER, site: null }
    expect(await request('site.receive', { ...move, input: { siteId: OWN } })).toBe(1)
    expect(await request('site.receive', { ...move, input: { siteId: OTHER } })).toBe('42501')
    // Its own requests do not run for a site of another host.
    await client.query('begin')
    await client.query(`insert into operations (type, runner, host_id, site_id, input, state, cancel_requested, attempts, run_at, progress, created_at)
      values ('site.purge', 'host', ${OWN}, ${OWN}, '{"siteId":${OTHER}}', 'queued', 0, 0, 1, 0, 1)`)
    const pushed = client.query(`update operations set host_id = ${OTHER} where type = 'site.purge'`)
    await expect(pushed).rejects.toMatchObject({ code: '42501' })
    await client.query('rollback')
  })

  test('is no other host, whatever the connection sets', async () => {
    const insert = `insert into hosts (name, address, datacenters, max_sites, facts, seen_at) values ($1, 'x', '', 1, '{}', 1)
      on conflict (name) do update set address = 'x'`
    expect([await trial(insert, ['h9']), await trial(insert, [`name-${OTHER}`]), await trial(insert, ['new'])]).toEqual(
      [...[1, '42501', '42501']],
    )
    expect(await trial("update hosts set state = 'active'")).toBe('42501')
    await client.query(`create temp table role_logins (login text, role text, name text);
      create temp table hosts as select ${OTHER} as id, 'h9' as name, 'active' as state;
      create temp table role_certificates (serial text, role text, name text);
      insert into role_logins values (session_user, 'host', 'name-${OTHER}')`)
    const { rows } = await client.query('select stead_own_name() as name, stead_own_host() as id')
    expect(rows).toEqual([{ name: 'h9', id: OWN }])
    const taken = await client.query('update sites set closed_by = null')
    expect(taken.rowCount).toBe(1)
    await client.query('drop table pg_temp.role_logins, pg_temp.hosts, pg_temp.role_certificates')
    const owner = new URL(lab.api.connection.url as string).username
    for (const statement of [
      `set role ${owner}`,
      `set session authorization ${owner}`,
      'set row_security = off; select from sites',
    ])
      expect(await trial(statement)).toBe('42501')
  })

  test('of a host that is lost sees only that it is', async () => {
    const { database } = await machine.open()
    const state = (to: 'lost' | 'active') =>
      lab.api.database.transaction((tx) => setHostState(tx, OWN, { state: to, now: 1 }))
    await state('lost')
    expect(await rowsOf(client, 'sites')).toEqual([])
    const report = () => database.transaction((tx) => reportHost(tx, { hostId: OWN, epoch: OWN }, {}))
    expect(await report()).toBe(false)
    await state('active')
    expect([await report(), (await rowsOf(client, 'sites')).length]).toEqual([true, 1])
  })
})

interface Column {
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly isKey: boolean
}

async function columnsOf(client: pg.Client): Promise<ReadonlyMap<string, readonly Column[]>> {
  const { rows } = await client.query(`
    select relname as table, attname as name, format_type(atttypid, null) as type, not attnotnull as "isNullable",
      exists (select from pg_index where indrelid = attrelid and indisunique and attnum = any(indkey)) as "isKey"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
    order by attnum`)
  return Map.groupBy(rows as (Column & { table: string })[], ({ table }) => table)
}

/** Values that conditions of rows look at. */
const special: Readonly<Record<string, (id: number) => unknown>> = {
  'hosts.name': (id) => (id === OWN ? 'h9' : `name-${id}`),
  'hosts.state': () => 'active',
  'operations.runner': () => 'host',
  'operations.type': () => 'site.configure',
  'operations.state': () => 'queued',
  'operations.input': (id) => `{"siteId":${id}}`,
  'operations.started_at': () => null,
  'search_words.kind': () => 'site',
  'processes.part': (id) => (id === OWN ? 'host' : 'edge'),
  'processes.certificate_serial': () => null,
  'backup_key.holder': (id) => (id === OWN ? null : 'me'),
  'zones.deleted_at': () => null,
  'log_php.at': () => Date.now(),
}

/** Returns a row that belongs to a host: all its numbers are the same. */
function rowFor(table: string, columns: readonly Column[], id: number, suffix = '') {
  return columns.map(({ name, type, isNullable, isKey }) => {
    const value = () => {
      const own = special[`${table}.${name}`]
      if (own) return own(id)
      if (isNullable && !name.endsWith('_id') && !isKey) return null
      if (type === 'text') return `${name}-${id}${suffix}`
      return type === 'bytea' ? Buffer.from('x') : id
    }
    return { name, value: value() }
  })
}

/** A row would change who may do what, or which version runs. */
const unfilled = ['role_logins', 'kysely_migration', 'installation']

/** Gives each table a row of another host, and one of the host itself. */
async function fill(control: pg.Client, columns: ReadonlyMap<string, readonly Column[]>): Promise<void> {
  // The operator's account is the first. All rows refer to others of the same number.
  await control.query(
    "insert into accounts (id, email, name, organization, phone_number, plan, default_php_version, created_at) values (1, 'operator', '', '', '', '', '', 1)",
  )
  await control.query('set session_replication_role = replica')
  for (const [table, all] of columns)
    for (const id of [OTHER, OWN]) {
      if (/^log_(server|php_)/.test(table) || unfilled.includes(table)) continue
      const row = rowFor(table, all, id)
      await control.query(
        `insert into ${table} (${row.map(({ name }) => `"${name}"`).join(', ')}) values (${row.map((_, at) => `$${at + 1}`).join(', ')})`,
        row.map(({ value }) => value),
      )
    }
  await control.query('set session_replication_role = origin')
}

/** Returns SQL for the rows of a table that {@link fill} has given to a host. */
function isOf(columns: ReadonlyMap<string, readonly Column[]>, table: string, id: number): string {
  const keys = rowFor(table, columns.get(table) ?? [], id).filter(
    ({ value }) => value === id || String(value).endsWith(`-${id}`),
  )
  const own = table === 'hosts' && id === OWN ? [{ name: 'id', value: id }] : keys
  return own.map(({ name, value }) => `"${name}" = '${value}'`).join(' and ')
}
