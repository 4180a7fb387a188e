/** Tests certificates of single first addresses, for installations without one for all of them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type Config, readConfig } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { certificateCheck } from '../../roles/checks/certificates.ts'
import { contextOf } from '../../roles/checks/context.fixture.ts'
import { putRoute } from '../sites/addresses/route.store.ts'
import { changeName } from './certificate.store.ts'
import { MOST_A_WEEK, wantFirstAddress } from './first-addresses.ts'
import { orderOwnNames } from './order-certificate.job.ts'
import { planCertificates } from './plan-certificates.job.ts'

const settings = {
  STEAD_STAGING_DOMAIN: 'sites.example',
  STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443',
  STEAD_ACME_TERMS_AGREED: 'true',
}
const WILDCARD = '*.sites.example'

describe.each(dialects)('first addresses, on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let config: Config
  let now = 0
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect, { settings })
    owner = await api.person('owner@example.com')
    config = readConfig(settings)
    now = Date.now()
  })
  afterEach(() => api?.close())

  const change = <Result>(work: (tx: Tx) => Promise<Result>) => api.database.transaction(work)
  const plan = (given = config) =>
    change((tx) => {
      const commit = planCertificates.steps.plan?.commit as (tx: Tx, context: object) => Promise<void>
      return commit(tx, { now: () => now, services: { config: given } })
    })
  const names = async () => {
    const rows = await api.database.read.selectFrom('certificates').select('host_name').orderBy('host_name').execute()
    return rows.map((row) => row.host_name)
  }
  const orders = async () => {
    const rows = api.database.read.selectFrom('operations').select('input').where('type', '=', 'certificate.order')
    return (await rows.execute()).map(({ input }) => JSON.parse(input as string).hostName).sort()
  }
  const siteAt = async (name: string, domain = 'sites.example') => {
    const id = await api.site(owner, name)
    await change((tx) => putRoute(tx, id, `${name}.${domain}`, now))
    return id
  }
  const wildcardFails = () => change((tx) => changeName(tx, WILDCARD, { reason: 'No zone has it', reason_at: now }))

  test('have certificates of their own only once the shared one has failed', async () => {
    await siteAt('first')
    await siteAt('old', 'earlier.example')
    await plan()
    await plan()
    expect(await names()).toEqual([WILDCARD])
    await wildcardFails()
    await plan(readConfig({ ...settings, STEAD_ACME_TERMS_AGREED: 'false' }))
    expect(await names()).toEqual([WILDCARD])
    await plan()
    await plan()
    expect(await names()).toEqual([WILDCARD, 'first.sites.example'])
    expect(await orders()).toEqual([WILDCARD, 'first.sites.example'])
  })

  test('give them up when there is a shared one, and need them again when that has expired', async () => {
    await siteAt('first')
    await plan()
    await wildcardFails()
    await plan()
    await change((tx) => changeName(tx, WILDCARD, { chain: 'chain', expires_at: now + 1000, issued_at: 1 }))
    await plan()
    expect(await names()).toEqual([WILDCARD])
    now += 1000
    await plan()
    expect(await names()).toEqual([WILDCARD, 'first.sites.example'])
  })

  test('get so many new ones a week as the authority allows', async () => {
    await plan()
    await wildcardFails()
    const id = await siteAt('first')
    for (let at = 0; at <= MOST_A_WEEK; at++) await change((tx) => putRoute(tx, id, `s${at}.sites.example`, now))
    await plan()
    expect(await names()).toHaveLength(1 + MOST_A_WEEK)
    const site = { id: await siteAt('last'), name: 'last' }
    await change((tx) => wantFirstAddress(tx, site, config, now))
    await plan()
    expect(await names()).toHaveLength(1 + MOST_A_WEEK)
    now += 7 * DAY_MS
    await change((tx) => wantFirstAddress(tx, site, config, now))
    expect(await names()).toContain('last.sites.example')
  })

  test('of new sites are ordered with the site', async () => {
    await plan()
    await wildcardFails()
    const { status } = await owner.call('POST', '/v1/sites', { name: 'fresh' })
    expect(status).toBe(201)
    expect(await orders()).toEqual([WILDCARD, 'fresh.sites.example'])
  })

  test('without a shared certificate are a warning of the doctor, with the reason', async () => {
    await plan()
    await wildcardFails()
    const context = contextOf({ ...settings, STEAD_ACME_DIRECTORY: 'https://ca.example' }, { database: api.database })
    expect(await certificateCheck.run(context)).toMatchObject([
      { state: 'warning', text: 'First addresses have no certificate together: No zone has it.' },
    ])
  })

  test('and other names of the installation are ordered once, at the first start with them', async () => {
    const given = readConfig({ ...settings, STEAD_API_TLS_LISTEN: '127.0.0.1:8444', STEAD_API_NAME: 'panel.example' })
    for (let times = 0; times < 2; times++) await change((tx) => orderOwnNames(tx, given, now))
    await plan(given)
    expect(await orders()).toEqual([WILDCARD, 'panel.example'])
  })
})
