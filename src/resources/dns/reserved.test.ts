import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { takenReservedNames } from '../installation/taken-names.store.ts'
import { putDomainRoute, putRoute } from '../sites/addresses/route.store.ts'
import { insertRecords, insertZone } from './zone.store.ts'

const settings = {
  STEAD_API_NAME: 'portal.localhost',
  STEAD_PANEL_URL: 'https://panel.hoster.test',
  STEAD_DNS_NAMESERVERS: 'ns1.hoster.test,ns2.hoster.test',
  STEAD_EDGE_ADDRESSES: '192.0.2.1',
}

describe.each(dialects)('names of the installation on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let operator: Person
  let tenant: Person
  let site: number
  let ofOperator: number
  beforeAll(async () => {
    api = await testApi(dialect, { settings })
    operator = await api.person('operator@example.com')
    tenant = await api.person('tenant@example.com')
    site = await api.site(tenant, 'of-tenant')
    ofOperator = await api.site(operator, 'of-operator')
  })
  afterAll(() => api?.close())

  const addDomain = (person: Person, id: number, name: string) =>
    person.call('POST', `/v1/sites/${id}/domains`, { name })
  const zones = () => api.database.read.selectFrom('zones').select('name').where('deleted_at', 'is', null).execute()
  /** Creates a zone with a record, as if an account had got it before the current settings. */
  const zoneOf = (accountId: number, name: string) =>
    api.database.transaction(async (tx) => {
      const { id } = await insertZone(tx, accountId, name, 1)
      const draft = { priority: null, weight: null, port: null, ttl: 60, siteId: null }
      await insertRecords(tx, id, [{ ...draft, type: 'TXT', name: 'note', value: 'x' }], 1)
      return id
    })
  const dropZone = (id: number) =>
    api.database.transaction((tx) => tx.updateTable('zones').set({ deleted_at: 1 }).where('id', '=', id).execute())

  test.each([
    'hoster.test',
    'www.hoster.test',
    'panel.hoster.test',
    'ns1.hoster.test',
    'a.b.hoster.test',
    'portal.localhost',
  ])('400: %s cannot be a domain of a tenant', async (name) => {
    const { status, body } = await addDomain(tenant, site, name)
    expect([status, body.code]).toEqual([400, 'reserved_name'])
    expect(await zones()).toEqual([])
  })

  test.each(['metadata.google.internal', 'nas.local', 'x.invalid', 'www.0x7f'])(
    '400: %s, which is never public, cannot be a domain',
    async (name) => {
      for (const [person, id] of [
        [tenant, site],
        [operator, ofOperator],
      ] as const) {
        const { status, body } = await addDomain(person, id, name)
        expect([status, body.code, body.errors]).toEqual([400, 'invalid_input', [expect.stringMatching(/^name: /)]])
      }
      expect(await zones()).toEqual([])
    },
  )

  test('400: no account creates a site at the name of the API, or clones one to it', async () => {
    const orders: [Person, string][] = [
      [tenant, '/v1/sites'],
      [tenant, `/v1/sites/${site}/clone`],
      [operator, '/v1/sites'],
      [operator, `/v1/sites/${ofOperator}/clone`],
    ]
    for (const [person, path] of orders) {
      const { status, body } = await person.call('POST', path, { name: 'Portal' })
      expect([status, body.code]).toEqual([400, 'name_reserved'])
    }
    const { body } = await tenant.call('POST', '/v1/sites/validate', { name: 'portal' })
    expect(body.data).toEqual({ valid: false })
  })

  test('201: the operator can host a site at the domain of the installation, but not at a service', async () => {
    expect((await addDomain(operator, ofOperator, 'hoster.test')).status).toBe(201)
    expect((await addDomain(operator, ofOperator, 'panel.hoster.test')).body.code).toBe('reserved_name')
    const [zone] = (await operator.call('GET', '/v1/zones')).body.data
    const records = `/v1/zones/${zone.id}/records`
    const record = { type: 'A', name: 'panel', value: '192.0.2.9' }
    expect((await operator.call('POST', records, record)).status).toBe(200)
    expect((await operator.call('POST', records, { type: 'A', name: 'ns1', site_id: ofOperator })).body.code).toBe(
      'reserved_name',
    )
    // Otherwise, collaborators who manage the site's DNS could move the panel.
    await api.collaborate(tenant, ofOperator, ['manage_dns'])
    const { data } = (await tenant.call('GET', records)).body
    const panel = data.records.find((each: { name: string }) => each.name === 'panel')
    expect((await tenant.call('POST', records, { ...record, name: 'ns2' })).body.code).toBe('reserved_name')
    expect((await tenant.call('DELETE', `${records}/${panel.id}`)).body.code).toBe('reserved_name')
    expect((await addDomain(tenant, ofOperator, 'shop.hoster.test')).body.code).toBe('reserved_name')
    await dropZone(zone.id)
  })

  test('400: an account can only empty a zone that it had before', async () => {
    const zone = await zoneOf(tenant.accountId, 'hoster.test')
    const path = `/v1/zones/${zone}`
    const [note] = (await tenant.call('GET', `${path}/records`)).body.data.records
    for (const [method, end, body] of [
      ['POST', '/records', { type: 'NS', value: 'ns.evil.test' }],
      ['POST', '/records', { type: 'A', name: '*', value: '192.0.2.66' }],
      ['POST', '/records', { type: 'TXT', name: '_acme-challenge.panel', value: 'x' }],
      ['POST', '/records', { type: 'CAA', value: '0 issue "evil.test"' }],
      ['POST', '/providers', { provider: 'titan_mail' }],
      ['PUT', '/file', { file: 'panel 60 IN A 192.0.2.66' }],
      ['PUT', '/dnssec', { enabled: true }],
      ['POST', '/dnssec/keys', {}],
    ] as const)
      expect((await tenant.call(method, path + end, body)).body.code, end).toBe('reserved_name')
    expect((await tenant.call('DELETE', `${path}/records/${note.id}`)).status).toBe(200)
    await dropZone(zone)
  })

  test('lists zones that others had before, but not those of the operator', async () => {
    expect(await takenReservedNames(api.database.read, api.config)).toEqual([])
    await zoneOf(tenant.accountId, 'hoster.test')
    await api.database.transaction(async (tx) => {
      await putRoute(tx, site, 'portal.localhost', 1)
      await putDomainRoute(tx, ofOperator, 'panel.hoster.test', 1)
      await putDomainRoute(tx, ofOperator, 'hoster.test', 1)
      await putDomainRoute(tx, site, 'free.test', 1)
    })
    const taken = [
      { name: 'hoster.test', kind: 'zone', account: tenant.email },
      { name: 'panel.hoster.test', kind: 'domain', site: 'of-operator', account: operator.email },
      { name: 'portal.localhost', kind: 'site', site: 'of-tenant', account: tenant.email },
    ]
    expect(await takenReservedNames(api.database.read, api.config)).toEqual(taken)
    const { names } = (await operator.call('GET', '/v1/installation')).body.data.health
    expect(names.shared_domain).toBeNull()
    expect(names.taken.map(({ name }: { name: string }) => name)).toEqual(taken.map(({ name }) => name))
  })
})
