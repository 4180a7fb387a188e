import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { maintenance } from '../../edge/rules/maintenance.ts'
import type { Visit } from '../../edge/visit.ts'
import { withAdminer } from './database-admin.fixture.ts'
import { createDatabaseAdmin } from './enter.ts'
import { deleteLinksOfAccount } from './link.store.ts'

const MINUTE = 60_000
const visit = { userAgent: 'Browser/1.0', remoteAddress: '192.0.2.1' }

describe.each(dialects)('links to a database on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let site: number
  let now: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = Date.UTC(2026, 0, 31, 9, 30)
    api = await testApi(dialect, { now: () => now })
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'tables')
    await withAdminer(api)
  })
  afterEach(() => api?.close())

  const admin = () => createDatabaseAdmin({ database: api.database, now: () => now })
  const token = async (who = owner) => {
    const { status, body } = await who.call('GET', `/v1/sites/${site}/cms/dbadmin`)
    expect([status, body.errors]).toEqual([200, null])
    return new URL(body.data).searchParams.get('token') as string
  }
  const open = async (given: string, onto = site) => admin().open(onto, given, visit)
  const session = async (given: string) => {
    const opened = await open(given)
    if (typeof opened === 'string') throw new Error(opened)
    return opened.session
  }

  test('open once, for the first browser', async () => {
    const given = await token()
    const first = await session(given)
    expect(await open(given)).toBe('used')
    expect(await admin().mayEnter(site, first, visit)).toBeUndefined()
    const both = await token()
    const outcomes = await Promise.all([open(both), open(both)])
    expect(outcomes.filter((each) => each === 'used')).toHaveLength(1)
  })

  test('400: a disabled site has no link', async () => {
    await owner.call('PUT', `/v1/sites/${site}/disable`)
    const { status, body } = await owner.call('GET', `/v1/sites/${site}/cms/dbadmin`)
    expect([status, body.errors]).toEqual([400, ['This operation requires a live site, and this site is disabled.']])
  })

  test('open in maintenance mode: the edge lets their path through', async () => {
    await owner.call('PUT', `/v1/sites/${site}/maintenance-mode`, { enabled: true })
    const { status, body } = await owner.call('GET', `/v1/sites/${site}/cms/dbadmin`)
    expect(status).toBe(200)
    const { pathname, search } = new URL(body.data)
    const visitTo = (target: string) =>
      ({ route: { isInMaintenance: true }, target, request: { headers: {} } }) as Visit
    expect(maintenance(visitTo(pathname + search))).toBeUndefined()
  })

  test('open within five minutes, and last an hour', async () => {
    const [late, inTime] = [await token(), await token()]
    now += 5 * MINUTE - 1
    const begun = await session(inTime)
    now += 1
    expect(await open(late)).toBe('late')
    now += 60 * MINUTE - 2
    expect(await admin().mayEnter(site, begun, visit)).toBeUndefined()
    now += 1
    expect(await admin().mayEnter(site, begun, visit)).toBe('over')
  })

  test('work only in that browser, and only for that site', async () => {
    const other = await api.site(owner, 'other')
    const given = await token()
    expect(await open(given, other)).toBe('unknown')
    const begun = await session(given)
    expect(await admin().mayEnter(site, begun, { ...visit, userAgent: 'Another/1.0' })).toBe('unknown')
    expect(await admin().mayEnter(other, begun, visit)).toBe('unknown')
    expect(await admin().mayEnter(site, `${begun}x`, visit)).toBe('unknown')
    expect(await open('guessed')).toBe('unknown')
  })

  test('end when the person loses the role', async () => {
    const helper = await api.person('helper@example.com')
    await api.collaborate(helper, site, ['db_admin_access'])
    const [opened, unopened] = [await token(helper), await token(helper)]
    const begun = await session(opened)
    expect(await admin().mayEnter(site, begun, visit)).toBeUndefined()
    await api.collaborate(helper, site, ['wp_access'])
    expect(await admin().mayEnter(site, begun, visit)).toBe('unknown')
    expect(await open(unopened)).toBe('unknown')
  })

  test('end when the person leaves the site', async () => {
    const helper = await api.person('helper@example.com')
    await api.collaborate(helper, site, ['db_admin_access'])
    const [begun, unopened] = [await session(await token(helper)), await token(helper)]
    const [listed] = (await owner.call('GET', `/v1/sites/${site}/collaborators`)).body.data
    await owner.call('DELETE', `/v1/sites/${site}/collaborators/${listed.id}`)
    expect(await admin().mayEnter(site, begun, visit)).toBe('unknown')
    expect(await open(unopened)).toBe('unknown')
  })

  test('open nothing on a site that was disabled since, and end when the site is deleted', async () => {
    const [begun, unopened] = [await session(await token()), await token()]
    await owner.call('PUT', `/v1/sites/${site}/disable`)
    expect(await admin().mayEnter(site, begun, visit)).toBe('unknown')
    expect(await open(unopened)).toBe('unknown')
    await owner.call('PUT', `/v1/sites/${site}/enable`)
    expect(await admin().mayEnter(site, begun, visit)).toBeUndefined()
    await owner.call('DELETE', `/v1/sites/${site}`)
    expect(await admin().mayEnter(site, begun, visit)).toBe('unknown')
    expect(await open(unopened)).toBe('unknown')
    expect(await api.database.read.selectFrom('sites').select('id').where('deleted_at', 'is', null).execute()).toEqual(
      [],
    )
  })

  test('of an account that is removed end, and those of others stay', async () => {
    const mate = await api.person('mate@example.com')
    await api.collaborate(mate, site, ['db_admin_access'])
    const [kept, gone] = [await token(), await token(mate)]
    await api.database.transaction((tx) => deleteLinksOfAccount(tx, mate.accountId))
    expect(await open(gone)).toBe('unknown')
    await session(kept)
  })

  test('are logged without their secret when they are created and when they are opened', async () => {
    const given = await token()
    await open(given)
    const { body } = await owner.call('POST', `/v1/sites/${site}/logs/activity`, {})
    expect(body.data.slice(0, 2).map(({ message }: { message: string }) => message)).toEqual([
      'owner@example.com opened the database with a link from 192.0.2.1',
      'Created a link to the database for owner@example.com',
    ])
    const rows = await api.database.read.selectFrom('database_admin_links').selectAll().execute()
    expect(JSON.stringify([rows, body])).not.toContain(given)
  })

  test('are limited to a hundred of a site', async () => {
    const first = await token()
    for (let times = 0; times < 100; times++) await token()
    expect(await open(first)).toBe('unknown')
    expect(await api.database.read.selectFrom('database_admin_links').select('id').execute()).toHaveLength(100)
  })
})
