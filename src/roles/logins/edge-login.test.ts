/** Tests what an edge that has joined can do in the database, also when it was taken over. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { postgresUrl, testDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/stead.ts'
import { revokeRole } from '../../certificates/role-certificates.store.ts'
import { installationOf } from '../../hosting/identity/identity.store.ts'
import type { EdgeKeys } from '../../platform/crypto/edge-keys.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { createLogin, existingGroups, LoginsRefused } from '../../platform/db/logins/logins.store.ts'
import { putRoute } from '../../resources/sites/addresses/route.store.ts'
import { type Joined, readJoined } from '../certificates/join.ts'
import { type Edge, startEdge } from '../edge.ts'
import { openControlDatabase, type ProcessContext } from '../process-context.ts'
import { grantLogins } from './grant-logins.ts'
import {
  isReadable,
  type JoinedMachine,
  type LoginLab,
  openLoginLab,
  sealedTexts,
  whatIsAllowed,
} from './login.fixture.ts'
import { openLogin } from './open-login.ts'
import { edgeRights } from './rules.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64')
const web1 = { role: 'edge', name: 'web1' } as const

test.skipIf(!postgresUrl)('a first start prepares an empty database', async () => {
  const empty = await testDatabase('postgres', {})
  const config = { dataDir: '/nonexistent', databaseUrl: empty.connection.url }
  for (const makes of [true, false]) {
    const { database } = await openControlDatabase(config, { makes, strangers: 'refuse' })
    await database.close()
  }
  await empty.drop()
})

describe.skipIf(!postgresUrl)('the login of an edge', () => {
  let lab: LoginLab
  let machine: JoinedMachine
  let context: ProcessContext
  let siteId: number
  beforeAll(async () => {
    lab = await openLoginLab()
    const owner = await lab.api.person('owner@example.com')
    siteId = await lab.api.site(owner, 'first')
    await lab.api.database.transaction((tx) => putRoute(tx, siteId, 'first.localhost', 1))
    machine = await lab.join(web1)
    context = await machine.open({
      ...{ STEAD_EDGE_LISTEN: '127.0.0.1:0', STEAD_EDGE_TLS_LISTEN: '127.0.0.1:0' },
    })
  })
  afterAll(() => lab?.close())

  const read = () => lab.api.database.read
  const code = (work: Promise<unknown>) => work.then(() => 'allowed').catch((error) => error.code as string)

  test('is not the one of the control, and is only for this machine', async () => {
    const url = new URL(machine.joined.databaseUrl as string)
    expect(url.username).toMatch(/^stead_[0-9a-f]{12}_edge_web1_[0-9a-f]{8}$/)
    expect(url.password).toHaveLength(32)
    expect(context.hasOwnLogin).toBe(true)
    const [row] = await read().selectFrom('role_logins').selectAll().execute()
    expect(row).toMatchObject({ login: url.username, ...web1 })
    expect(JSON.stringify(row)).not.toContain(url.password)
    // A machine with the settings of the control keeps their rights.
    const ofControl = { STEAD_DATABASE_URL: lab.api.connection.url as string, STEAD_MASTER_KEY: masterKey }
    const given = await machine.open(ofControl)
    expect([given.hasOwnLogin, given.masterKey]).toEqual([false, Buffer.from(masterKey, 'base64')])
    await expect(machine.open({ ...ofControl, STEAD_MASTER_KEY: '' })).rejects.toThrow('The master key is missing')
  })

  describe('with which it', () => {
    let host: Server
    let edge: Edge
    beforeAll(async () => {
      host = createServer((_request, response) => response.end('a page')).listen(0, '127.0.0.1')
      await once(host, 'listening')
      const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
      await lab.api.database.transaction((tx) => tx.updateTable('hosts').set({ address }).execute())
      edge = await startEdge(context)
    })
    afterAll(async () => {
      await edge?.stop()
      host?.close()
    })

    const visit = async (path = '/') => {
      const to = { host: '127.0.0.1', port: edge.tlsPort, servername: 'first.localhost', rejectUnauthorized: false }
      const asked = request({ ...to, path, headers: { host: 'first.localhost' }, agent: false }).end()
      const [response] = await once(asked, 'response')
      response.resume()
      await once(response, 'end')
      return response.statusCode
    }

    test('serves a site with a certificate that a control has issued for it', async () => {
      expect(await visit()).toBe(200)
      const [issued] = await read().selectFrom('certificates').select(['host_name', 'site_id']).execute()
      expect(issued).toEqual({ host_name: 'first.localhost', site_id: siteId })
    })

    test('follows routes, and counts visits and itself', async () => {
      await lab.api.database.transaction(async (tx) => {
        await tx.updateTable('sites').set({ maintenance: 1 }).where('id', '=', siteId).execute()
        await putRoute(tx, siteId, 'first.localhost', 2)
      })
      await until('the edge has the new route', async () => (await visit('/?again')) === 503)
      const page = { kind: 'server', siteId, before: { atMs: Date.now() + 1000, id: 0 }, sinceMs: 0, limit: 5 } as const
      await until('the visit is in the log', async () => (await lab.api.logs.page(page)).length > 0)
      const processes = await read().selectFrom('processes').select(['part', 'certificate_serial']).execute()
      expect(processes).toEqual([{ part: 'edge', certificate_serial: expect.stringMatching(/^[0-9A-F]+$/) }])
    })
  })

  test('comes with the keys of edges, so that it starts without the master key', async () => {
    const { mark, ...keys } = machine.joined.keys as EdgeKeys
    expect(context.masterKey).toBeUndefined()
    expect(mark).toBe((await installationOf(read()))?.keyMark)
    expect(new Set(Object.values(keys)).size).toBe(4)
    // Of all that is sealed, it opens what it serves.
    await lab.api.database.transaction((tx) =>
      tx
        .insertInto('tls_ticket_keys')
        .values({ slot: 1, ticket_key: lab.sealer.seal('ticket', 'any') })
        .execute(),
    )
    const sealed = await sealedTexts(lab.api.database)
    const opened = sealed.filter(({ text }) => Object.values(keys).some((key) => isReadable(text, key)))
    expect(new Set(sealed.map(({ column }) => column))).toEqual(
      new Set([
        ...['certificates.private_key', 'certificates.edge_key', 'local_authorities.private_key'],
        ...['role_authorities.private_key', 'edge_ticket_keys.ticket_key', 'tls_ticket_keys.ticket_key'],
      ]),
    )
    expect(new Set(opened.map(({ column }) => column))).toEqual(
      new Set(['certificates.edge_key', 'edge_ticket_keys.ticket_key']),
    )
    const found = lab.api.database.read.selectFrom('role_authorities').select('private_key')
    const [{ private_key: authority } = { private_key: '' }] = await found.execute()
    for (const sealer of [context.sealer, context.edgeSealer])
      expect(() => sealer.open(authority, 'role authority key')).toThrow()
  })

  test('gets its keys from the control if it joined with an earlier version, or they changed', async () => {
    const joined = async () => (await readJoined(machine.dataDir)) as Joined
    const { keys, ...earlier } = await joined()
    await writeFile(join(machine.dataDir, 'joined.json'), JSON.stringify(earlier))
    expect((await machine.open()).edgeSealer.mark('a', 'b')).toBe(context.edgeSealer.mark('a', 'b'))
    expect(await joined()).toMatchObject({ keys })
    await lab.changeMasterKey(Buffer.alloc(32, 8))
    const changed = await machine.open({ STEAD_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') })
    expect(changed.masterKey).toBeUndefined()
    expect(changed.edgeSealer.mark('a', 'b')).not.toBe(context.edgeSealer.mark('a', 'b'))
    expect((await joined()).keys?.mark).toBe((await installationOf(read()))?.keyMark)
    await lab.changeMasterKey(Buffer.alloc(32, 7))
    expect((await machine.open()).hostKey).toBe(context.hostKey)
  })

  test('counts page views', async () => {
    const { saltOfDay, storeViews } = await import('../../edge/records/page-views.store.ts')
    const salt = await saltOfDay(context.database, 20_000)
    expect(await saltOfDay(lab.api.database, 20_000)).toBe(salt)
    const counted = { siteId, day: 20_000, views: 2, visitors: ['a', 'b'] }
    for (const visitors of [
      ['a', 'b'],
      ['b', 'c'],
    ])
      await context.database.transaction((tx) => storeViews(tx, [{ ...counted, visitors }]))
    const [row] = await read().selectFrom('page_view_days').selectAll().where('day', '=', 20_000).execute()
    expect(row).toMatchObject({ views: 4, people: 3 })
  })

  test('reads and changes nothing else', async () => {
    await lab.api.database.transaction((tx) => tx.schema.createTable('later').addColumn('text', 'text').execute())
    // What an earlier version granted ends.
    const [{ group } = { group: '' }] = await existingGroups(read())
    await sql`grant select on accounts to ${sql.id(group)}`.execute(read())
    await grantLogins(lab.api.database)
    const found = await whatIsAllowed(await lab.connect(machine))
    const columns = await lab.api.database.read.introspection.getTables({ withInternalKyselyTables: true })
    const expected = columns.flatMap(({ name, columns: all }) => {
      const rule = edgeRights[name as keyof typeof edgeRights]
      const listed = (right: 'read' | 'insert' | 'update') =>
        rule?.[right] === 'all' ? all.map((column) => column.name) : ((rule?.[right] ?? []) as readonly string[])
      return [
        ...listed('read').map((column) => `select ${name}.${column}`),
        ...listed('insert').map((column) => `insert ${name}.${column}`),
        ...listed('update').map((column) => `update ${name}.${column}`),
        ...(rule?.delete ? [`delete ${name}.*`] : []),
      ]
    })
    // A row of `processes` with only one column is not its own.
    const own = (each: string) => !/^(insert|update) processes/.test(each)
    expect(found.filter(own).sort()).toEqual(expected.filter(own).sort())
    expect(found.filter((each) => /^select (accounts|hosts|role_authorities)\./.test(each)).sort()).toEqual([
      ...['select accounts.id', 'select accounts.suspended_at'],
      ...['address', 'epoch', 'id', 'identity', 'name', 'seen_at'].map((column) => `select hosts.${column}`),
      ...['certificate', 'expires_at', 'number', 'signs_at'].map((column) => `select role_authorities.${column}`),
    ])
    expect(found.filter((each) => each.startsWith('delete')).sort()).toEqual([
      'delete edge_ticket_keys.*',
      'delete processes.*',
      'delete tls_ticket_keys.*',
    ])
  })

  test('cannot claim to be a process without a certificate, or another edge', async () => {
    const client = await lab.connect(machine)
    const other = await lab.join({ role: 'edge', name: 'web2' })
    const { rows } = await (await lab.connect(other)).query('select * from stead_own_serials()')
    const own = await client.query('select * from stead_own_serials()')
    expect([rows.length, own.rows.length]).toEqual([1, 1])
    const insert = (part: string, serial: string | null) =>
      code(client.query('insert into processes values ($1, $2, $3, 0, $4)', [`${part}-${serial}`, part, '{}', serial]))
    const serial = own.rows[0].stead_own_serials as string
    expect(await insert('edge', null)).toBe('42501')
    expect(await insert('edge', rows[0].stead_own_serials)).toBe('42501')
    expect(await insert('host', serial)).toBe('42501')
    expect(await insert('edge', serial)).toBe('allowed')
    await lab.api.database.transaction((tx) =>
      tx
        .insertInto('processes')
        .values({ id: 'host-1', part: 'host', facts: '{}', seen_at: 0, certificate_serial: null })
        .execute(),
    )
    // Its own tables do not change what it owns.
    await client.query(`create temp table role_logins (login text, role text, name text);
      create temp table role_certificates (serial text, role text, name text);
      insert into role_logins values (session_user, 'edge', 'web2');
      insert into role_certificates values ('other', 'edge', 'web2')`)
    expect((await client.query('select * from stead_own_serials()')).rows).toEqual(own.rows)
    await client.query('drop table pg_temp.role_logins, pg_temp.role_certificates')
    await client.query('delete from processes')
    const left = await read().selectFrom('processes').select('id').execute()
    expect(left).toEqual([{ id: 'host-1' }])
  })

  test('does not exist if the login of the control may not create it', async () => {
    const { api } = lab
    const { identity } = await read().selectFrom('installation').select('identity').executeTakeFirstOrThrow()
    // Of its group as well: it goes with the other roles of this installation.
    const user = `stead_${identity.slice(0, 12)}_owner`
    const url = new URL(api.connection.url as string)
    await api.database.transaction(async (tx) => {
      await sql`create role ${sql.id(user)} login password 'owner'`.execute(tx)
      await sql`grant select on installation to ${sql.id(user)}`.execute(tx)
    })
    Object.assign(url, { username: user, password: 'owner' })
    const database = await openDatabase({ url: url.href, file: '' })
    const warnings: unknown[] = []
    const log = { warn: (what: unknown) => warnings.push(what) } as never
    // A role without a group: that of edges exists by now.
    const refused = database.transaction((tx) => createLogin(tx, web1, Date.now()))
    await expect(refused).rejects.toThrow(LoginsRefused)
    const parts = { database, log, logs: api.logs, config: { databaseUrl: url.href } }
    expect(await openLogin(parts, web1)).toBeUndefined()
    expect(warnings).toEqual([expect.objectContaining({ reason: expect.stringContaining('CREATEROLE') })])
    await database.close()
    await api.database.transaction((tx) => sql`drop owned by ${sql.id(user)}`.execute(tx))
  })

  test('does not start on a database that a control has not brought up to date', async () => {
    const last = Object.keys(migrations).at(-1) as string
    const kept = read().withTables<{ kysely_migration: { name: string } }>()
    const all = await kept.selectFrom('kysely_migration').selectAll().where('name', '=', last).execute()
    await sql`delete from kysely_migration where name = ${last}`.execute(read())
    await expect(machine.open()).rejects.toThrow(`without ${last}). Upgrade the controls first.`)
    await kept.insertInto('kysely_migration').values(all).execute()
    expect((await machine.open()).hasOwnLogin).toBe(true)
  })

  test('ends with a revocation, also on open connections, and begins again with another token', async () => {
    const client = await lab.connect(machine)
    await client.query('begin')
    await client.query('select id from sites')
    const late = await lab.api.database.transaction(async (tx) => {
      await revokeRole(tx, web1, Date.now())
      return lab.connect(machine)
    })
    expect(await code(late.query('select id from sites'))).toBe('42501')
    expect(await code(client.query('select id from sites'))).not.toBe('allowed')
    expect(await code(lab.connect(machine))).not.toBe('allowed')
    await expect(machine.open()).rejects.toThrow('refuses the login of edge web1, because it was revoked')
    const again = await lab.connect(await lab.join(web1))
    expect(await code(again.query('select id from sites'))).toBe('allowed')
    expect(await code(lab.connect(machine))).not.toBe('allowed')
  })
})
