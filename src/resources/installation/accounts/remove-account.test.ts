import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { loadRoute } from '../../../edge/routing/routes.store.ts'
import { accountHooks, hostJobs, jobs } from '../../../jobs.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, gate, startWorker, until } from '../../../platform/operations/harness.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { ensureAccount } from '../../account/account.ts'
import { siteOwner } from '../../backups/backup.ts'
import { storedFiles } from '../../backups/backups.fixture.ts'
import { putAccountAccess } from '../../collaborators/account-access.store.ts'
import { zoneIn } from '../../dns/dns.fixture.ts'
import { signZone } from '../../dnssec/dnssec.fixture.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { putRoute } from '../../sites/addresses/route.store.ts'
import { cloneSiteJob } from '../../sites/clone/clone-site.job.ts'
import { purgeSite } from '../../sites/remove/remove-site.job.ts'
import { removeAccountJob } from './remove-account.job.ts'

/** Columns that name an account and stay, with the reason. */
const staying: Readonly<Record<string, string>> = {
  'operations.asked_by_id':
    'work on sites of others; who asked for it has no rights any more, and ids are never reused',
}
const namesAccount = /(^|_)account_id$|^(holder_id|made_by_id|asked_by_id|added_by|password_by)$/

describe.each(dialects)('removing an account on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let host: FakeHost
  let operator: Person
  let customer: Person
  let other: Person
  let shop: number
  let workers: Worker[]
  beforeEach(async (context) => {
    if (skip) return context.skip()
    workers = []
    api = await testApi(dialect)
    operator = await api.person('operator@example.com')
    customer = await api.person('customer@example.com')
    other = await api.person('other@example.com')
    host = await fakeHost(api)
    shop = await api.site(customer, 'shop')
    await api.database.transaction((tx) => putRoute(tx, shop, 'shop.localhost', 1))
  })
  afterEach(async () => {
    for (const worker of workers ?? []) await worker.stop(5000)
    await host?.close()
    await api?.close()
  })

  const path = (rest = '', id = customer.accountId) => `/v1/installation/accounts/${id}${rest}`
  const remove = (keep_days?: number, body: object = { email: customer.email }) =>
    operator.call('POST', path('/removal'), { ...body, keep_days })
  const cancel = () => operator.call('DELETE', path('/removal'))
  const report = async () => (await operator.call('GET', path('/removal'))).body.data
  const exists = async (email = customer.email) =>
    (await api.database.read.selectFrom('accounts').select('id').where('email', '=', email).execute()).length === 1
  const operationOf = (reply: { headers: Record<string, unknown> }) => Number(reply.headers['operation-id'])

  const workOnHost = (definitions = hostJobs) => {
    const services = host.services as HostServices
    workers.push(
      startWorker(api.database, definitions, { runner: 'host', hostId: host.hostId, services, lookEveryMs: 20 }),
    )
  }
  const workOnControl = (definition = removeAccountJob) => {
    const services = { ...host.services, backups: api.backups, definitions: jobs, accountHooks }
    const worker = startWorker(api.database, [definition], { services: services as never, lookEveryMs: 20 })
    workers.push(worker)
    return worker
  }
  const work = () => {
    workOnHost()
    workOnControl()
  }
  const succeeds = async (id: number) =>
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })

  /** All columns that name accounts, by table. */
  const columnsOf = async (): Promise<[table: string, column: string][]> => {
    const tables = await api.database.read.introspection.getTables()
    return tables.flatMap(({ name: table, columns }) =>
      columns.filter(({ name }) => namesAccount.test(name)).map(({ name }): [string, string] => [table, name]),
    )
  }
  /** How many rows of a column name an account. */
  const count = async ([table, column]: [string, string], id: number) => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}
      where ${sql.ref(column)} = ${id}`.execute(api.database.read)
    return Number(rows[0]?.count)
  }

  /** A row of any table that names the account in the column: what its types and references ask for. */
  async function insertAny(tx: Tx, [table, column]: [string, string], number: number): Promise<void> {
    const tables = await tx.introspection.getTables()
    const site = await tx.selectFrom('sites').select('id').where('account_id', '=', other.accountId).executeTakeFirst()
    const zone = await tx.selectFrom('zones').select('id').where('account_id', '=', other.accountId).executeTakeFirst()
    const token = await tx
      .selectFrom('tokens')
      .select('hash')
      .where('application_id', '=', customer.applicationId)
      .executeTakeFirst()
    const given: Record<string, unknown> = {
      site_id: site?.id,
      zone_id: zone?.id,
      host_id: host.hostId,
      ...(table === 'sessions' && { token_hash: token?.hash }),
      roles: '[]',
      runner: 'host',
      state: table === 'operations' ? 'succeeded' : table === 'sites' ? 'live' : 'active',
      finished_at: 1,
      deleted_at: table === 'sites' ? 1 : null,
      event_types: null,
      kind: 'person',
    }
    const columns = tables.find(({ name }) => name === table)?.columns ?? []
    const values = columns.flatMap(({ name, dataType, isNullable, hasDefaultValue, isAutoIncrementing }) => {
      if (name === column) return [[name, customer.accountId]]
      if (name === 'id' && (isAutoIncrementing || hasDefaultValue)) return []
      if (name in given) return [[name, given[name]]]
      if (namesAccount.test(name)) return [[name, operator.accountId]]
      if (isNullable || hasDefaultValue) return []
      return [[name, /int/.test(dataType) ? number : /bytea|blob/.test(dataType) ? Buffer.from('x') : `x${number}`]]
    })
    await tx
      .insertInto(table as 'accounts')
      .values(Object.fromEntries(values))
      .onConflict((rows) => rows.doNothing())
      .execute()
  }

  test('leaves no row in any table that refers to accounts, of today or later', async () => {
    const site = await api.site(other, 'of-other')
    await zoneIn(api, { accountId: other.accountId, siteId: site })
    const columns = await columnsOf()
    if (dialect === 'sqlite') {
      const { rows } = await sql<{ column: string }>`select m.name || '.' || f."from" as "column"
        from sqlite_master m, pragma_foreign_key_list(m.name) f where f."table" = 'accounts'`.execute(api.database.read)
      expect(columns.map((each) => each.join('.'))).toEqual(expect.arrayContaining(rows.map((row) => row.column)))
    }
    const asked = await remove(0)
    await api.database.transaction(async (tx) => {
      for (const [index, column] of columns.entries()) await insertAny(tx, column, 1000 + index)
    })
    for (const column of columns) expect([column, await count(column, customer.accountId)]).not.toEqual([column, 0])
    work()
    await succeeds(operationOf(asked))
    const left = []
    for (const column of columns) if ((await count(column, customer.accountId)) > 0) left.push(column.join('.'))
    expect(left).toEqual(Object.keys(staying))
    expect(await exists()).toBe(false)
    expect(await exists(other.email)).toBe(true)
    const keys = api.database.read
      .selectFrom('tokens')
      .select('hash')
      .where('application_id', '=', customer.applicationId)
    expect(await keys.execute()).toEqual([])
  })

  test('suspends at once, and deletes sites with their files, backups, zones, and people', async () => {
    await host.giveDirectory(shop)
    const kept = await api.site(other, 'of-other')
    await host.giveDirectory(kept)
    const trashed = await api.site(customer, 'trashed')
    await customer.call('DELETE', `/v1/sites/${trashed}`)
    await storedFiles({ api, siteId: shop })
    const { zone } = await zoneIn(api, { accountId: customer.accountId, siteId: shop })
    await signZone(api, zone)
    await customer.call('POST', `/v1/sites/${shop}/collaborators`, { email: 'invited@example.com' })
    await customer.call('POST', `/v1/sites/${shop}/collaborators`, { email: other.email })
    await api.collaborate(customer, kept, ['wp_access'])

    const before = await report()
    expect(before).toMatchObject({
      sites: {
        total: 2,
        list: [
          { name: 'shop', in_trash: false },
          { name: 'trashed', in_trash: true },
        ],
      },
      backups: { total: 1 },
      zones: { total: 1, list: [{ signed: true }] },
      people: {
        total: 2,
        list: [
          { email: other.email, deleted: false },
          { email: 'invited@example.com', deleted: true },
        ],
      },
      shared_sites: { total: 1, list: [{ site: 'of-other', owner: other.email }] },
      credentials: 1,
      sessions: 1,
      blockers: [],
    })
    expect(before.stays.map(({ kind }: { kind: string }) => kind)).toEqual([
      'activity',
      'wordpress_users',
      'logs',
      'records_backups',
    ])
    const asked = await remove(0)
    expect(asked.body.data).toMatchObject({ suspended_at: expect.any(String), removal: { state: 'waiting' } })
    expect((await loadRoute(api.database.read, 'shop.localhost'))?.isSuspended).toBe(true)
    expect([
      (await customer.call('GET', '/v1/sites')).status,
      (await customer.browse('GET', '/v1/sites')).status,
    ]).toEqual([401, 401])
    work()
    await succeeds(operationOf(asked))
    expect([await exists(), await exists('invited@example.com'), await exists(other.email)]).toEqual([
      false,
      false,
      true,
    ])
    expect(host.directoriesOnDisk()).toHaveLength(1)
    expect(await api.backups.repository(siteOwner(shop)).list()).toEqual([])
    expect(await loadRoute(api.database.read, 'shop.localhost')).toBeUndefined()
    const zones = await api.database.read.selectFrom('zones').select(['account_id', 'deleted_at', 'dnssec']).execute()
    expect(zones).toEqual([{ account_id: operator.accountId, deleted_at: expect.any(Number), dnssec: 'off' }])
    expect(await api.database.read.selectFrom('zone_keys').select('id').execute()).toEqual([])
    // The owner of the other site gets an event.
    const events = (await other.call('GET', '/v1/events')).body.data
    expect(events).toMatchObject([{ type: 'collaborator_deleted', data: { email: customer.email } }])
    const log = (await operator.call('POST', '/v1/account/logs/activity', { per_page: 100 })).body.data
    const messages = log.map(({ message }: { message: string }) => message)
    expect(messages).toContain(`${customer.email}: Deleted site shop`)
    expect(messages).toContain(`${customer.email}: Decided to remove the account ${customer.email} now`)
    expect(messages).toContain(`Removed the account ${customer.email}`)
    expect((await operator.call('GET', path('/removal'))).status).toBe(404)
  })

  test('waits for the given days, and is canceled as if nothing had been', async () => {
    const tables = (await api.database.read.introspection.getTables()).map(({ name }) => name)
    const changing = /^(activity|operations|operation_steps|idempotency_keys|sqlite_sequence|sequences|route_c\w+)$/
    const rows = async () => {
      const found: string[] = []
      for (const table of tables.filter((name) => !changing.test(name))) {
        const all = await api.database.read
          .selectFrom(table as 'accounts')
          .selectAll()
          .execute()
        found.push(...all.map((row) => `${table} ${JSON.stringify(row)}`))
      }
      return found.sort()
    }
    const before = await rows()
    workOnControl()
    const asked = await remove()
    const { due_at, requested_at, state } = asked.body.data.removal
    expect([Date.parse(due_at) - Date.parse(requested_at), state]).toEqual([7 * DAY_MS, 'waiting'])
    expect((await operator.call('PUT', path('/resume'))).body.code).toBe('account_removal_waits')
    expect((await cancel()).body.data).toMatchObject({ suspended_at: null, removal: null })
    expect(await rows()).toEqual(before)
    expect((await customer.call('GET', '/v1/sites')).status).toBe(200)
    // The operation stays canceled, also when it is retried.
    const id = operationOf(asked)
    expect((await operator.call('POST', `/v1/operations/${id}/retry`)).status).toBe(200)
    expect(await until(async () => (await findOperation(api.database.read, id))?.error)).toContain('was canceled')
    expect(await exists()).toBe(true)
  })

  test('an account that was suspended before stays suspended, and other days replace the first', async () => {
    await operator.call('PUT', path('/suspend'))
    const first = await remove(30)
    const second = await remove(1)
    expect(operationOf(second)).not.toBe(operationOf(first))
    expect(await findOperation(api.database.read, operationOf(first))).toMatchObject({ state: 'canceled' })
    const { due_at, requested_at } = second.body.data.removal
    expect(Date.parse(due_at) - Date.parse(requested_at)).toBe(DAY_MS)
    expect((await cancel()).body.data).toMatchObject({ suspended_at: expect.any(String), removal: null })
    expect((await cancel()).status).toBe(200)
  })

  test('those that wait do not fill the operator’s queue, and those that begin now do', async () => {
    const waiting = (afterMs: number) =>
      api.database.transaction(async (tx) => {
        const input = { accountId: other.accountId, removalId: 1, email: other.email }
        const target = { accountId: operator.accountId, afterMs }
        for (let index = 0; index < 100; index++) await enqueue(tx, removeAccountJob, input, target)
      })
    await waiting(DAY_MS)
    expect(await remove(7)).toMatchObject({ status: 200 })
    expect(await remove(0)).toMatchObject({ status: 200 })
    await cancel()
    await waiting(0)
    expect(await remove(0)).toMatchObject({ status: 429, body: { code: 'operation_limit_reached' } })
  })

  test('is refused with another address, for the operator, for a wrong number of days, and for others', async () => {
    expect((await remove(0, { email: 'other@example.com' })).body.code).toBe('account_name_differs')
    expect((await remove(0, { email: ' Customer@Example.com' })).status).toBe(200)
    await cancel()
    for (const days of [-1, 31, 1.5]) expect((await remove(days)).status).toBe(400)
    const own = { email: operator.email }
    expect((await operator.call('POST', path('/removal', operator.accountId), own)).body.code).toBe('operator_account')
    expect((await operator.call('GET', path('/removal', operator.accountId))).body.data.blockers).toMatchObject([
      { code: 'operator_account' },
    ])
    expect((await operator.call('POST', path('/removal', 999_999), own)).status).toBe(404)
    for (const [method, body] of [['GET'], ['POST', { email: customer.email }], ['DELETE']] as const)
      expect((await customer.call(method, path('/removal'), body)).body.code).toBe('operator_only')
  })

  test('cannot be canceled, changed, or canceled as an operation once it has begun', async () => {
    // The host is away, so the removal waits for it.
    await host.giveDirectory(shop)
    workOnControl()
    const asked = await remove(0)
    const id = operationOf(asked)
    await until(
      async () =>
        (await api.database.read.selectFrom('account_removals').select('begun_at').executeTakeFirst())?.begun_at,
    )
    expect([(await cancel()).body.code, (await remove(7)).body.code]).toEqual(Array(2).fill('account_removal_begun'))
    expect((await operator.call('POST', `/v1/operations/${id}/cancel`)).body.code).toBe('operation_must_end')
    const listed = (await operator.call('GET', '/v1/installation/accounts')).body.data
    expect(listed[1]).toMatchObject({ id: customer.accountId, removal: { state: 'removing', operation_id: id } })
    expect(await findOperation(api.database.read, id)).toMatchObject({ state: 'running' })
    workOnHost()
    await succeeds(id)
  })

  test('a site that is created meanwhile is refused, and one that was created at the last moment goes too', async () => {
    await api.database.transaction((tx) =>
      putAccountAccess(tx, {
        ...{ ownerAccountId: customer.accountId, accountId: other.accountId },
        ...{ addToAllNew: false, createSite: true, roles: [] },
      }),
    )
    const create = () => other.call('POST', '/v1/sites', { name: 'late', account_id: customer.accountId })
    const asked = await remove(0)
    expect((await create()).body.code).toBe('account_leaving')
    workOnControl()
    await until(async () => (await findOperation(api.database.read, operationOf(asked)))?.state === 'running')
    await api.site(customer, 'last-moment')
    workOnHost()
    await succeeds(operationOf(asked))
    const sites = await api.database.read.selectFrom('sites').select('name').execute()
    expect(sites).toEqual([])
  })

  test('a person who is invited elsewhere meanwhile stays', async () => {
    const site = await api.site(other, 'of-other')
    await customer.call('POST', `/v1/sites/${shop}/collaborators`, { email: 'invited@example.com' })
    expect((await report()).people.list).toMatchObject([{ deleted: true }])
    const asked = await remove(0)
    workOnControl()
    await until(async () => (await findOperation(api.database.read, operationOf(asked)))?.state === 'running')
    await other.call('POST', `/v1/sites/${site}/collaborators`, { email: 'invited@example.com' })
    // The account itself is invited, too: it goes nevertheless.
    await other.call('POST', `/v1/sites/${site}/collaborators`, { email: customer.email })
    workOnHost()
    await succeeds(operationOf(asked))
    expect([await exists('invited@example.com'), await exists()]).toEqual([true, false])
  })

  test('people with anything of their own stay', async () => {
    const invite = (email: string) => customer.call('POST', `/v1/sites/${shop}/collaborators`, { email })
    const ensure = (email: string) => api.database.transaction((tx) => ensureAccount(tx, email, 1))
    const set = {
      larger: (id: number) => sql`update accounts set plan = 'Business' where id = ${id}`,
      credential: (
        id: number,
      ) => sql`insert into applications (account_id, name, client_id, secret_hash, is_owner, created_at)
        values (${id}, 'x', 'x', 'x', 1, 1)`,
      zone: (id: number) => sql`insert into zones (account_id, name, created_at, updated_at, serial, change_seq)
        values (${id}, 'x.test', 1, 1, 1, 1)`,
      shared: (
        id: number,
      ) => sql`insert into account_access (owner_account_id, account_id, add_to_all_new, create_site, roles)
        values (${other.accountId}, ${id}, 0, 0, '[]')`,
      sharing: (
        id: number,
      ) => sql`insert into account_access (owner_account_id, account_id, add_to_all_new, create_site, roles)
        values (${id}, ${other.accountId}, 0, 0, '[]')`,
    }
    for (const [name, change] of Object.entries(set)) {
      const { account } = await ensure(`${name}@example.com`)
      await invite(account.email)
      await api.database.transaction((tx) => change(account.id).execute(tx))
    }
    const owner = await ensure('owner@example.com')
    await invite('owner@example.com')
    const site = await api.site({ ...other, accountId: owner.account.id }, 'own')
    await invite('nothing@example.com')
    const { list } = (await report()).people
    const leaving = list.filter(({ deleted }: { deleted: boolean }) => deleted)
    expect([list.length, leaving.map(({ email }: { email: string }) => email)]).toEqual([7, ['nothing@example.com']])
    expect(site).toBeGreaterThan(0)
  })

  test('of two removals at once one counts, and both are answered', async () => {
    const replies = await Promise.all([remove(0), remove(0)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    work()
    const open = await api.database.read
      .selectFrom('operations')
      .select(['id', 'state'])
      .where('type', '=', 'account.remove')
      .execute()
    for (const { id } of open) await ended(api.database, id)
    expect(await exists()).toBe(false)
    const log = (await operator.call('POST', '/v1/account/logs/activity', { per_page: 100 })).body.data
    const removed = log.filter(
      ({ message }: { message: string }) => message === `Removed the account ${customer.email}`,
    )
    expect(removed).toHaveLength(1)
  })

  test('operations of the account are canceled, and a clone for somebody else is awaited', async () => {
    const foreign = await api.site(other, 'clone')
    const about = { siteId: foreign, accountId: other.accountId, hostId: host.hostId }
    const clone = await api.database.transaction((tx) =>
      enqueue(tx, cloneSiteJob, { siteId: foreign, sourceId: shop }, about),
    )
    const waiting = await api.database.transaction((tx) =>
      enqueue(tx, purgeSite, { siteId: shop }, { accountId: customer.accountId, hostId: host.hostId, afterMs: DAY_MS }),
    )
    await api.database.transaction((tx) =>
      tx.updateTable('operations').set({ type: 'site.configure' }).where('id', '=', waiting).execute(),
    )
    expect((await report()).operations).toBe(1)
    const asked = await remove(0)
    workOnHost([purgeSite])
    workOnControl()
    await until(async () => (await findOperation(api.database.read, waiting))?.state === 'canceled')
    const site = () =>
      api.database.read.selectFrom('sites').select('deleted_at').where('id', '=', shop).executeTakeFirst()
    expect(await site()).toEqual({ deleted_at: null })
    await api.database.transaction((tx) =>
      tx.updateTable('operations').set({ state: 'succeeded', finished_at: 1 }).where('id', '=', clone).execute(),
    )
    await succeeds(operationOf(asked))
  })

  test('fails when files cannot be removed, says so, and continues after a retry', async () => {
    await host.giveDirectory(shop)
    const { siteDirectories } = host.services
    let isBroken = true
    const broken = new Proxy(siteDirectories, {
      get: (target, name) => {
        if (name === 'remove' && isBroken) throw new Error('a broken disk')
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    Object.assign(host.services, { siteDirectories: broken })
    workOnHost([{ ...purgeSite, attempts: 1 }])
    workOnControl()
    const id = operationOf(await remove(0))
    expect(await ended(api.database, id)).toMatchObject({
      state: 'failed',
      error: 'The files of shop cannot be removed: a broken disk',
    })
    const listed = (await operator.call('GET', '/v1/installation/accounts')).body.data
    expect(listed[1].removal.state).toBe('failed')
    isBroken = false
    expect((await cancel()).body.code).toBe('account_removal_begun')
    // A request does the same as a retry of the operation.
    const again = await remove(30)
    await succeeds(operationOf(again))
    expect(await exists()).toBe(false)
  })

  test.each(Object.keys(removeAccountJob.steps))(
    'killed in the step %s, the next worker completes it',
    async (name) => {
      await host.giveDirectory(shop)
      await customer.call('POST', `/v1/sites/${shop}/collaborators`, { email: 'invited@example.com' })
      workOnHost()
      const reached = gate()
      const step = removeAccountJob.steps[name] as { run?: unknown; commit?: unknown }
      const method = step.commit ? 'commit' : 'run'
      const cut = {
        ...step,
        async [method](...given: unknown[]) {
          const result = await (step[method] as (...all: unknown[]) => unknown)(...given)
          reached.open()
          throw Object.assign(new Error('killed'), { result })
        },
      }
      const killed = { ...removeAccountJob, steps: { ...removeAccountJob.steps, [name]: cut as never } }
      const first = workOnControl(killed)
      const id = operationOf(await remove(0))
      await reached.opened
      await first.stop(0)
      await api.database.transaction((tx) =>
        tx.updateTable('operations').set({ lease_until: 0, run_at: 0 }).where('id', '=', id).execute(),
      )
      workOnControl()
      await succeeds(id)
      expect([await exists(), await exists('invited@example.com'), host.directoriesOnDisk()]).toEqual([
        false,
        false,
        [],
      ])
    },
  )
})
