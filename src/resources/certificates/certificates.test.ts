import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { readConfig } from '../../config.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { putRoute } from '../sites/addresses/route.store.ts'
import { alertOfExpiring } from './alert-of-expiring.ts'
import { isCertifiable } from './certifiable.ts'
import { changeName, claimName, insertName, namesWithout, takeDueNames } from './certificate.store.ts'
import { certificateState, dropCertificate, forceTls, retryCertificate, wantCertificate } from './certificate.ts'
import { noteFailure } from './note-failure.ts'
import { NO_SITE, ownNames } from './own-names.ts'
import { planCertificates } from './plan-certificates.job.ts'
import { tellIssued } from './tell-of-certificate.ts'

test.each([
  ['example.com', true],
  ['www.example.com', true],
  ['xn--mnchen-3ya.example', true],
  ['my-site.localhost', false],
  ['localhost', false],
  ['intranet', false],
  ['nas.local', false],
  ['192.0.2.1', false],
  ['[2001:db8::1]', false],
])('an authority could certify %s: %s', (name, expected) => {
  expect(isCertifiable(name)).toBe(expected)
})

describe('names of the installation itself', () => {
  const names = (settings: Record<string, string>) =>
    ownNames(readConfig({ STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443', STEAD_API_TLS_LISTEN: '0.0.0.0:8443', ...settings }))
  test.each([
    [{}, []],
    [{ STEAD_STAGING_DOMAIN: 'sites.office.internal' }, []],
    [{ STEAD_STAGING_DOMAIN: 'sites.test', STEAD_LOCAL_AUTHORITY: 'off' }, []],
    [{ STEAD_STAGING_DOMAIN: 'sites.example' }, ['*.sites.example']],
    [{ STEAD_STAGING_DOMAIN: 'sites.example', STEAD_EDGE_TLS_LISTEN: 'off' }, []],
    [{ STEAD_API_NAME: 'api.example' }, ['api.example']],
    [{ STEAD_API_NAME: 'api.example', STEAD_API_TLS_LISTEN: 'off' }, []],
    [{ STEAD_API_NAME: 'api.example', STEAD_API_TLS_CERTIFICATE: '/chain.pem' }, []],
    [{ STEAD_API_NAME: 'api.localhost' }, []],
    [{ STEAD_API_NAME: 'api.sites.example', STEAD_STAGING_DOMAIN: 'sites.example' }, ['*.sites.example']],
    [
      { STEAD_API_NAME: 'a.b.sites.example', STEAD_STAGING_DOMAIN: 'sites.example' },
      ['*.sites.example', 'a.b.sites.example'],
    ],
    [
      { STEAD_API_NAME: 'api.sites.example', STEAD_STAGING_DOMAIN: 'sites.example', STEAD_EDGE_TLS_LISTEN: 'off' },
      ['api.sites.example'],
    ],
  ])('%j: %j', (settings, expected) => {
    expect(names(settings as Record<string, string>)).toEqual(expected)
  })
})

describe.each(dialects)('names that want a certificate, on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'first')
  })
  afterEach(() => api?.close())

  const hostName = 'www.example.com'
  const want = (id = siteId, name = hostName) =>
    api.database.transaction((tx) => wantCertificate(tx, { hostName: name, siteId: id, now: Date.now() }))
  const orders = () =>
    api.database.read
      .selectFrom('operations')
      .select(['id', 'site_id', 'account_id', 'input'])
      .where('type', '=', 'certificate.order')
      .execute()

  test('starts an order in the transaction, once, and not for a name that no authority knows', async () => {
    expect(await want()).toBe(true)
    expect(await want()).toBe(true)
    expect(await want(siteId, 'first.localhost')).toBe(false)
    const asked = await orders()
    expect(asked).toMatchObject([{ site_id: null, account_id: owner.accountId }])
    expect(JSON.parse(asked[0]?.input as string)).toEqual({ hostName })
    expect(await certificateState(api.database.read, 'first.localhost')).toBeUndefined()
    const before = { orderUrl: null, authzUrl: null, isIssued: false, forceTls: false, reason: null }
    expect(await certificateState(api.database.read, hostName)).toMatchObject(before)
  })

  test('a retry is a new order, and there is none for an unwanted name', async () => {
    await want()
    await api.database.transaction((tx) => retryCertificate(tx, hostName, Date.now()))
    expect(await orders()).toHaveLength(2)
    expect(await api.database.transaction((tx) => retryCertificate(tx, 'b.example.com', 1))).toBeUndefined()
    expect(await orders()).toHaveLength(2)
  })

  test('only one operation at a time handles a name', async () => {
    await want()
    await want(siteId, 'b.example.com')
    const [first, second] = await orders()
    const claim = (id: number) => api.database.transaction((tx) => claimName(tx, hostName, id))
    expect(await claim(first?.id as number)).toBe(true)
    expect(await claim(second?.id as number)).toBe(false)
    expect(await claim(first?.id as number)).toBe(true)
    const over = { state: 'succeeded', finished_at: 1 } as const
    await api.database.transaction((tx) =>
      tx
        .updateTable('operations')
        .set(over)
        .where('id', '=', first?.id as number)
        .execute(),
    )
    expect(await claim(second?.id as number)).toBe(true)
    expect(await api.database.transaction((tx) => claimName(tx, 'c.example.com', 1))).toBe(false)
  })

  test('a name is due at its time, once, and not while its site is in the trash', async () => {
    await want()
    const take = (now: number) =>
      api.database.transaction((tx) => takeDueNames(tx, { now, most: 10, leaseUntil: now + 1000 }))
    const later = Date.now() + 3_600_001
    expect(await take(Date.now())).toEqual([])
    expect(await take(later)).toEqual([{ hostName, siteId, accountId: owner.accountId }])
    expect(await take(later)).toEqual([])
    await owner.call('DELETE', `/v1/sites/${siteId}`)
    expect(await take(later + 1000)).toEqual([])
  })

  test('edges reload the route with all that they need, and it goes with the name', async () => {
    await api.database.transaction((tx) => putRoute(tx, siteId, hostName, 1))
    const route = () => loadRoute(api.database.read, hostName)
    const seq = async () => (await api.database.read.selectFrom('route_clock').select('seq').execute())[0]?.seq ?? 0
    expect((await route())?.challenge).toBeUndefined()
    const unwanted = await seq()
    await want()
    expect(await route()).toMatchObject({ certifiedAt: 0, forceTls: false, challenge: null })
    expect(await seq()).toBe(unwanted + 1)
    const before = await seq()
    await api.database.transaction((tx) => forceTls(tx, hostName, true))
    expect(await seq()).toBe(before + 1)
    const asked = { issued_at: 7, challenge_token: 'a', challenge_answer: 'a.b' }
    await api.database.transaction((tx) => changeName(tx, hostName, asked))
    const full = { certifiedAt: 7, forceTls: true, challenge: { token: 'a', answer: 'a.b' } }
    expect(await route()).toMatchObject(full)
    await api.database.transaction((tx) => dropCertificate(tx, hostName))
    expect(await seq()).toBe(before + 2)
    expect(await route()).toMatchObject({ certifiedAt: 0, forceTls: false })
    expect(await api.database.transaction((tx) => forceTls(tx, hostName, true))).toBe(false)
  })

  test('a certificate that is not renewed 14 days before its end has an alert until it is', async () => {
    await want()
    const day = 86_400_000
    const life = { chain: 'chain', issued_at: 0, expires_at: 90 * day, reason: 'It is away' }
    const change = (changes: object) => api.database.transaction((tx) => changeName(tx, hostName, changes))
    const judge = (atDay: number) => api.database.transaction((tx) => alertOfExpiring(tx, atDay * day))
    const alerts = async () => {
      const rows = api.database.read.selectFrom('alerts').selectAll().where('subject', '=', hostName).orderBy('id')
      return (await rows.execute()).map(({ kind, detail, ended_at: ended }) => [kind, detail, ended === null])
    }
    await judge(91)
    await change(life)
    await judge(75)
    expect(await alerts()).toEqual([])
    await judge(77)
    await judge(91)
    const detail = 'It expires at 1970-04-01 00:00 UTC, and Stead has no newer one: It is away'
    expect(await alerts()).toEqual([['certificate_expiring', detail, true]])
    await change({ ...life, issued_at: 91 * day, expires_at: 181 * day })
    await judge(92)
    expect(await alerts()).toEqual([['certificate_expiring', detail, false]])
    // One that lives for six days is renewed after four.
    await change({ ...life, issued_at: 92 * day, expires_at: 98 * day })
    await judge(96.5)
    expect(await alerts()).toHaveLength(1)
    await judge(97.5)
    expect(await alerts()).toHaveLength(2)
    const events = api.database.read.selectFrom('events').select('type').where('data', 'like', `%${hostName}%`)
    expect((await events.orderBy('id').execute()).map(({ type }) => type).slice(-3)).toEqual([
      ...['certificate_expiring', 'alert_resolved', 'certificate_expiring'],
    ])
  })

  test('the operator gets the alerts of names of the installation', async () => {
    const life = { chain: 'chain', issued_at: 0, expires_at: 90 * 86_400_000 }
    await api.database.transaction(async (tx) => {
      await insertName(tx, { hostName: 'api.example', siteId: NO_SITE, dueAt: 1, now: 1 })
      await changeName(tx, 'api.example', life)
      await alertOfExpiring(tx, 80 * 86_400_000)
    })
    const events = await api.database.read.selectFrom('events').select(['type', 'site_id', 'account_id']).execute()
    expect(events).toContainEqual({
      ...{ type: 'platform_certificate_expiring', site_id: null, account_id: owner.accountId },
    })
  })

  test('logs each new reason why there is no certificate', async () => {
    await want()
    const operationId = (await orders())[0]?.id as number
    await api.database.transaction((tx) => changeName(tx, hostName, { operation_id: operationId }))
    for (const error of ['It is away', 'It is away', 'It is back'])
      await api.database.transaction((tx) =>
        noteFailure(tx, {
          ...{ operationId, siteId: null, accountId: owner.accountId, source: null, input: { hostName } },
          ...{ canceled: false, yielded: false, error, now: () => 1 },
        }),
      )
    const logged = api.database.read.selectFrom('activity').select('message').where('action', '=', 'certificate.failed')
    expect((await logged.execute()).map(({ message }) => message).filter((each) => each.includes(hostName))).toEqual([
      `No certificate for ${hostName}: It is away`,
      `No certificate for ${hostName}: It is back`,
    ])
  })

  test('pauses grow up to a day after refusals of an authority, but not after delays or because of another operation', async () => {
    await want()
    const [mine, other] = [(await orders())[0]?.id as number, 999_999]
    await api.database.transaction((tx) => changeName(tx, hostName, { operation_id: mine }))
    const row = () =>
      api.database.read
        .selectFrom('certificates')
        .select(['failures', 'due_at', 'reason'])
        .where('host_name', '=', hostName)
        .executeTakeFirstOrThrow()
    const fail = (operationId = mine, error = 'It is away') =>
      api.database.transaction((tx) =>
        noteFailure(tx, {
          ...{ operationId, siteId: null, accountId: owner.accountId, source: null, input: { hostName } },
          ...{ canceled: false, yielded: false, error, now: () => 1000 },
        }),
      )
    await fail(other, 'of another')
    expect(await row()).toMatchObject({ failures: 0, reason: null })
    const pauses: number[] = []
    for (let times = 0; times < 6; times++) {
      await fail()
      pauses.push(((await row()).due_at - 1000) / 60_000)
    }
    expect(pauses).toEqual([15, 60, 240, 960, 1440, 1440])
    await api.database.transaction((tx) => changeName(tx, hostName, { not_before: 5_000_000 }))
    await fail()
    expect(await row()).toMatchObject({ failures: 6, due_at: 5_000_000 })
    // After the delay is over, failures count again.
    await api.database.transaction((tx) => changeName(tx, hostName, { not_before: 999 }))
    await fail()
    expect(await row()).toMatchObject({ failures: 7, due_at: 1000 + 1440 * 60_000 })
    await fail(mine, 'Something else')
    const logged = api.database.read
      .selectFrom('activity')
      .select('message')
      .where('action', '=', 'certificate.failed')
      .orderBy('id')
    expect((await logged.execute()).map(({ message }) => message)).toEqual([
      `No certificate for ${hostName}: It is away`,
      `No certificate for ${hostName}: Something else`,
    ])
  })

  test('logs an issued certificate for the site, or for the operator if the name is the installation’s', async () => {
    const context = { operationId: 1, accountId: owner.accountId, now: () => 1000 }
    await want()
    await want(NO_SITE, '*.sites.example')
    await api.database.transaction(async (tx) => {
      for (const name of [hostName, '*.sites.example', 'of-nobody.example']) await tellIssued(tx, context, name)
    })
    const logged = api.database.read.selectFrom('activity').select(['action', 'site_id', 'message']).orderBy('id')
    expect(await logged.execute()).toEqual([
      { action: 'certificate.issued', site_id: siteId, message: `A certificate was issued for ${hostName}` },
      { action: 'own_certificate.issued', site_id: null, message: 'A certificate was issued for *.sites.example' },
    ])
  })

  test('forgets names of the installation that the settings no longer contain', async () => {
    const planned = async (settings: Record<string, string>) => {
      const plan = planCertificates.steps.plan?.commit as (tx: Tx, context: object) => Promise<void>
      const given = { STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443', ...settings }
      const context = { now: () => 1000, services: { config: readConfig(given) } }
      await api.database.transaction((tx) => plan(tx, context))
      const rows = await api.database.read.selectFrom('certificates').select('host_name').execute()
      return rows.map((row) => row.host_name)
    }
    expect(await planned({ STEAD_STAGING_DOMAIN: 'one.example' })).toEqual(['*.one.example'])
    expect(await planned({ STEAD_STAGING_DOMAIN: 'two.example' })).toEqual(['*.two.example'])
    // They belong to no site, so the first account gets the reports on their orders.
    const first = await api.database.read.selectFrom('accounts').select('id').orderBy('id').executeTakeFirst()
    expect(new Set((await orders()).map(({ account_id }) => account_id))).toEqual(new Set([first?.id]))
  })

  test('the schedule orders for domains from before TLS, but not for staging addresses, deleted sites and local names', async () => {
    const second = await api.site(owner, 'second')
    await api.database.transaction(async (tx) => {
      await putRoute(tx, siteId, 'first.staging.example', 1)
      for (const name of ['one.example', 'nas.local', 'mylocal.example']) await putRoute(tx, siteId, name, 1, true)
      await putRoute(tx, second, 'two.example', 1, true)
    })
    await owner.call('DELETE', `/v1/sites/${second}`)
    const names = () => api.database.read.selectFrom('certificates').select('host_name').orderBy('host_name').execute()
    const planned = async (settings: Record<string, string>) => {
      const plan = planCertificates.steps.plan?.commit as (tx: Tx, context: object) => Promise<void>
      const context = { now: () => 1000, services: { config: readConfig(settings) } }
      await api.database.transaction((tx) => plan(tx, context))
    }
    await planned({})
    expect(await names()).toEqual([])
    for (let times = 0; times < 2; times++) await planned({ STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443' })
    expect((await names()).map((row) => row.host_name)).toEqual(['mylocal.example', 'one.example'])
    const orders = api.database.read.selectFrom('operations').select('id').where('type', '=', 'certificate.order')
    expect(await orders.execute()).toHaveLength(2)
    // Names with an entry take no place of those without.
    expect(await api.database.transaction((tx) => namesWithout(tx, 1))).toEqual([])
    await api.database.transaction((tx) => putRoute(tx, siteId, 'z.example', 1, true))
    expect(await api.database.transaction((tx) => namesWithout(tx, 1))).toEqual([{ hostName: 'z.example', siteId }])
  })
})
