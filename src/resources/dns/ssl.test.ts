import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'

describe.each(dialects)('SSL of a record on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let site: number
  let count = 0
  beforeAll(async () => {
    api = await testApi(dialect, { settings: { STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443' } })
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'certified')
  })
  afterAll(() => api?.close())

  const added = async () => {
    const name = `www.a${++count}.test`
    await owner.call('POST', `/v1/sites/${site}/domains`, { name })
    const [domain] = (await owner.call('GET', `/v1/sites/${site}/domains`)).body.data.slice(-1)
    return { name, id: domain.id, path: `/v1/zones/${domain.zoneId}/records/${domain.id}/ssl` }
  }
  const rowOf = (hostName: string) =>
    api.database.read.selectFrom('certificates').selectAll().where('host_name', '=', hostName).executeTakeFirst()
  const orders = async (hostName: string) => {
    const rows = await api.database.read
      .selectFrom('operations')
      .select('input')
      .where('type', '=', 'certificate.order')
      .execute()
    return rows.filter(({ input }) => JSON.parse(input).hostName === hostName).length
  }
  const set = (hostName: string, values: object) =>
    api.database.transaction((tx) =>
      tx.updateTable('certificates').set(values).where('host_name', '=', hostName).execute(),
    )

  test('a domain gets one automatically if the edge listens for TLS, and loses it with the domain', async () => {
    const { name, id } = await added()
    expect(await rowOf(name)).toMatchObject({ site_id: site, force_tls: 0 })
    expect(await orders(name)).toBe(1)
    await owner.call('DELETE', `/v1/sites/${site}/domains/${id}`)
    expect(await rowOf(name)).toBeUndefined()
  })

  test('400 first, then the reason only, then all fields', async () => {
    const { name, path } = await added()
    const nothing = await owner.call('GET', path)
    expect([nothing.status, nothing.body.message, nothing.body.errors]).toEqual([
      400,
      'No information found',
      ['No information found'],
    ])
    await set(name, { reason: `${name} has no address in the DNS`, reason_at: 1 })
    expect((await owner.call('GET', path)).body.data).toEqual({
      broken_record: name,
      broken_check: `${name} has no address in the DNS`,
    })
    const order = { order_url: 'https://ca.example/order/1', authz_url: 'https://ca.example/authz/1' }
    await set(name, { ...order, reason: null, authz_expires_at: 1000, expires_at: 2000 })
    expect((await owner.call('GET', path)).body.data).toEqual({
      force_ssl: 'false',
      acme_certificate_id: order.order_url,
      validation_expiration: '1970-01-01T00:00:01.000Z',
      authz_uri: order.authz_url,
      options: ['http-01'],
      certificate_expiration_date: '1970-01-01T00:00:02.000Z',
      broken_record: null,
      broken_check: null,
    })
  })

  test('PUT retries, and turns https for all visitors on and off', async () => {
    const { name, path } = await added()
    const { status, body, headers } = await owner.call('PUT', path)
    expect([status, body.data]).toEqual([200, null])
    expect(headers['operation-id']).toMatch(/^\d+$/)
    expect(await orders(name)).toBe(2)
    await owner.call('PUT', path, { force_ssl: true })
    expect(await rowOf(name)).toMatchObject({ force_tls: 1 })
    await owner.call('PUT', path)
    expect(await rowOf(name)).toMatchObject({ force_tls: 1 })
    await owner.call('PUT', path, { force_ssl: false })
    expect(await rowOf(name)).toMatchObject({ force_tls: 0 })
    const log = await owner.call('POST', '/v1/account/logs/activity', {})
    const said = `Requested a retry of the certificate for ${name}`
    expect(log.body.data.slice(0, 4).map(({ message }: { message: string }) => message)).toEqual([
      `${said}; visitors are not redirected to https`,
      said,
      `${said}; with a certificate, visitors are redirected to https`,
      said,
    ])
  })

  test('400 for other records, with the text of the API description', async () => {
    const { path } = await added()
    const zone = path.replace(/\/records.*/, '')
    const records = (await owner.call('POST', `${zone}/records`, { type: 'TXT', value: 'x' })).body.data.records
    const other = `${zone}/records/${records.at(-1).id}/ssl`
    expect((await owner.call('GET', other)).body).toMatchObject({
      message: 'Only A records are supported',
      errors: ['Only A records are supported'],
    })
    expect((await owner.call('PUT', other)).body).toMatchObject({
      message: 'There was a problem processing your request.',
      errors: ['SSL can only be retried on A records'],
    })
  })
})
