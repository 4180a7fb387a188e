import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import { isSiteName } from '../../hosting/host.store.ts'
import { MOST_DOMAINS } from '../dns/site-hosts.ts'
import { insertZone, MOST_EMPTY_ZONES } from '../dns/zone.store.ts'
import { putDomainRoute, putRoute } from '../sites/addresses/route.store.ts'
import { changeSite } from '../sites/site.store.ts'
import { storeCheck } from './check.store.ts'

describe.each(dialects)('domains on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let count = 0
  beforeAll(async () => {
    api = await testApi(dialect, { settings: { STEAD_EDGE_ADDRESSES: '192.0.2.1,192.0.2.2' } })
    owner = await api.person('owner@example.com')
  })
  afterAll(() => api?.close())

  const newSite = async (): Promise<{ id: number; name: string; zone: string }> => {
    const name = `site-${++count}`
    return { id: await api.site(owner, name), name, zone: `zone-${count}.test` }
  }
  const add = (id: number, name: string, more: object = {}) =>
    owner.call('POST', `/v1/sites/${id}/domains`, { name, ...more })
  const list = async (id: number, query = '') => (await owner.call('GET', `/v1/sites/${id}/domains${query}`)).body.data
  const names = (domains: readonly { domainName: string }[]) => domains.map(({ domainName }) => domainName)
  const setPrimary = (id: number, domain: number | string) =>
    owner.call('PUT', `/v1/sites/${id}/domains/${domain}/primary`)
  const detail = async (id: number) => (await owner.call('GET', `/v1/sites/${id}`)).body.data
  const route = (hostName: string) => loadRoute(api.database.read, hostName)
  const written = (id: number, writtenAddress: string) =>
    api.database.transaction((tx) => changeSite(tx, id, { writtenAddress }, 1))
  const told = async (id: number) =>
    (await api.database.read.selectFrom('events').select(['type', 'data']).where('site_id', '=', id).execute()).map(
      ({ type, data }) => [type, JSON.parse(data)],
    )

  /** Returns the newest log message of the site. */
  const newest = async (id: number) =>
    (await owner.call('POST', `/v1/sites/${id}/logs/activity`, {})).body.data[0].message

  test('201: an apex brings its www, and each leads to the site', async () => {
    const { id, zone } = await newSite()
    const { status, body } = await add(id, ` ${zone.toUpperCase()}. `)
    expect(status).toBe(201)
    expect(body.data).toHaveLength(2)
    const common = { primary: false, healthy: false, dnsConfirmed: false, provisioned: false }
    const kind = { type: 'ARecord', displayType: 'A', zoneId: expect.any(Number) }
    const domain = {
      ...common,
      id: expect.any(Number),
      created: expect.any(String),
      ipAddresses: ['192.0.2.1', '192.0.2.2'],
    }
    expect(body.data).toEqual([
      { ...domain, name: null, domainName: zone },
      { ...domain, name: 'www', domainName: `www.${zone}` },
    ])
    // Three fields are only in lists.
    expect(await list(id)).toEqual(body.data.map((made: object) => ({ ...made, ...kind })))
    expect((await route(zone))?.siteId).toBe(id)
    expect((await route(`www.${zone}`))?.siteId).toBe(id)
    expect(await detail(id)).toMatchObject({ domainsCount: 2, url: expect.stringContaining('.localhost') })
    expect(await told(id)).toEqual([
      ['domain_added', { domain: zone }],
      ['domain_added', { domain: `www.${zone}` }],
    ])
    expect(
      names(
        (await owner.call('POST', '/v1/sites/search', { filters: [{ key: 'domain', value: zone }] })).body.data.map(
          (each: { name: string }) => ({ domainName: each.name }),
        ),
      ),
    ).toHaveLength(1)
  })

  test('200: says why a domain is not healthy, on request', async () => {
    const { id, zone } = await newSite()
    await add(id, `www.${zone}`)
    expect((await list(id, '?include=reason'))[0].reason).toBeNull()
    const seen = { isDnsConfirmed: false, isProvisioned: true, isHealthy: false, reason: 'it points elsewhere' }
    await api.database.transaction((tx) =>
      storeCheck(tx, { siteId: id, hostName: `www.${zone}`, before: undefined, confirmedAt: null }, seen, Date.now()),
    )
    expect((await list(id, '?include=reason'))[0].reason).toBe('it points elsewhere')
    expect((await list(id))[0]).not.toHaveProperty('reason')
  })

  test('201: adds other names without www to the same zone, and accepts international ones in both forms', async () => {
    const { id, zone } = await newSite()
    await add(id, `shop.${zone}`)
    const [one, two] = (await add(id, `bücher.${zone}`)).body.data
    expect(names([one, two])).toEqual([`shop.${zone}`, `xn--bcher-kva.${zone}`])
    expect(new Set((await list(id)).map((domain: { zoneId: number }) => domain.zoneId)).size).toBe(1)
    expect((await add(id, `xn--bcher-kva.${zone}`)).body.errors).toEqual([
      `name: xn--bcher-kva.${zone} is already a domain of this site.`,
    ])
  })

  test('201: a wildcard leads names below it to the site, and a separate domain takes precedence', async () => {
    const [network, shop] = [await newSite(), await newSite()]
    const { zone } = network
    expect(names((await add(network.id, `*.${zone}`)).body.data)).toEqual([`*.${zone}`])
    expect(names((await add(shop.id, `shop.${zone}`)).body.data)).toEqual([`shop.${zone}`])
    const [one] = await list(network.id)
    const at = (hostName: string) => loadRoute(api.database.read, hostName)
    expect(await at(`one.${zone}`)).toMatchObject({
      siteId: network.id,
      hostName: `one.${zone}`,
      listedAs: `*.${zone}`,
    })
    expect(await at(`shop.${zone}`)).toMatchObject({ siteId: shop.id, listedAs: `shop.${zone}` })
    // The site's own requests to such a name stay on this machine.
    expect([await isSiteName(api.database.read, `one.${zone}`), await isSiteName(api.database.read, zone)]).toEqual([
      true,
      false,
    ])
    // One label, as in certificates, and not the domain itself.
    for (const name of [`deep.one.${zone}`, zone]) expect(await at(name)).toBeUndefined()
    const primary = await owner.call('PUT', `/v1/sites/${network.id}/domains/${one.id}/primary`, {})
    expect([primary.status, primary.body.errors]).toEqual([
      400,
      [`id: *.${zone} is a wildcard. Add the host name that the site should have.`],
    ])
    expect((await owner.call('DELETE', `/v1/sites/${network.id}/domains/${one.id}`)).status).toBe(200)
    expect(await at(`one.${zone}`)).toBeUndefined()
    expect((await at(`shop.${zone}`))?.siteId).toBe(shop.id)
  })

  test('200: does not redirect names below a wildcard to the site’s primary domain', async () => {
    const { id, zone } = await newSite()
    await add(id, `www.${zone}`)
    await add(id, `*.${zone}`)
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ primary_domain: zone, written_address: zone }).where('id', '=', id).execute(),
    )
    expect((await loadRoute(api.database.read, `www.${zone}`))?.redirectsTo).toBe(zone)
    expect((await loadRoute(api.database.read, `one.${zone}`))?.redirectsTo).toBeNull()
  })

  test('201: leaves a www that is used for something else unchanged', async () => {
    const [first, second] = [await newSite(), await newSite()]
    await add(first.id, `www.${first.zone}`)
    expect(names((await add(second.id, first.zone)).body.data)).toEqual([first.zone])
    expect((await route(`www.${first.zone}`))?.siteId).toBe(first.id)
  })

  test('201: omits a www that exceeds the limit', async () => {
    const { id, zone } = await newSite()
    await api.database.transaction(async (tx) => {
      for (let at = 1; at < MOST_DOMAINS; at++) await putDomainRoute(tx, id, `of-${at}.${zone}`, 1)
    })
    expect(names((await add(id, zone)).body.data)).toEqual([zone])
    expect(await route(`www.${zone}`)).toBeUndefined()
  })

  test('400: for an invalid name, a public suffix, and names under the staging domain', async () => {
    const { id } = await newSite()
    for (const name of ['localhost', '192.0.2.1', 'https://a.test', 'a b.test'])
      expect((await add(id, name)).body.errors).toEqual([
        'name: must be a host name, such as www.example.com or *.example.com',
      ])
    for (const name of ['*.*.a.test', 'a.*.test', '**.a.test', '*', '*.test.'])
      expect([name, (await add(id, name)).status]).toEqual([name, 400])
    for (const suffix of ['co.uk', '*.co.uk', '*.github.io'])
      expect((await add(id, suffix)).body.errors).toEqual([
        'name: must be below a public suffix, such as example.com for com',
      ])
    expect((await add(id, 'mine.localhost')).status).toBe(400)
    expect(await list(id)).toEqual([])
    const zones = (await owner.call('GET', '/v1/zones')).body.data.map((each: { name: string }) => each.name)
    expect(zones.filter((name: string) => /localhost|uk/.test(name))).toEqual([])
  })

  test('200: lists each address separately, if the query or the body asks for it', async () => {
    const { id, zone } = await newSite()
    const made = (await add(id, `www.${zone}`, { separate_records: true })).body.data
    expect(made.map((each: { ipAddresses: string[] }) => each.ipAddresses)).toEqual([['192.0.2.1'], ['192.0.2.2']])
    const listed = await list(id, '?separate_records=true')
    expect(listed).toEqual(made.map((each: object) => expect.objectContaining(each)))
    const [whole] = await list(id)
    expect([whole.id, whole.ipAddresses]).toEqual([made[0].id, ['192.0.2.1', '192.0.2.2']])
    // Any of the ids identifies the domain.
    const read = await owner.call('GET', `/v1/sites/${id}/domains/${made[1].id}`)
    expect(read.body.data).toMatchObject({ id: made[0].id, ipAddresses: ['192.0.2.1', '192.0.2.2'] })
  })

  test('200: makes the primary domain the site’s address, and redirects the others once WordPress uses it', async () => {
    const { id, name, zone } = await newSite()
    await written(id, `${name}.localhost:8081`)
    await api.database.transaction((tx) => putRoute(tx, id, `${name}.localhost`, 1))
    const [apex, www] = (await add(id, zone)).body.data
    const { status, body, headers } = await setPrimary(id, www.id)
    expect([status, body.data.primary, body.data.id]).toEqual([200, true, www.id])
    expect(headers['operation-id']).toMatch(/^\d+$/)
    expect(await detail(id)).toMatchObject({
      url: `www.${zone}:8081`,
      cmsLoginUrl: `www.${zone}:8081/wp-admin`,
      displayName: `www.${zone}`,
    })
    expect((await list(id)).map((each: { primary: boolean }) => each.primary)).toEqual([false, true])
    expect((await told(id)).at(-1)).toEqual(['primary_domain_set', { domain: `www.${zone}` }])
    const leads = async () => [(await route(zone))?.redirectsTo, (await route(`www.${zone}`))?.redirectsTo]
    expect(await leads()).toEqual([null, null])
    await written(id, `www.${zone}:8081`)
    expect(await leads()).toEqual([`www.${zone}`, null])
    expect((await route(`${name}.localhost`))?.redirectsTo).toBeNull()
    // The other domain.
    await setPrimary(id, apex.id)
    expect(await leads()).toEqual([null, null])
    const reset = await setPrimary(id, -1)
    expect(reset.body.data).toMatchObject({ id: -1, primary: true, domainName: `${name}.localhost`, name })
    expect(await detail(id)).toMatchObject({ url: `${name}.localhost:8081`, displayName: name })
    expect((await setPrimary(id, 999_999)).status).toBe(404)
    expect((await setPrimary(id, -2)).status).toBe(404)
  })

  test('200: keeps a display name that a user has set', async () => {
    const { id, zone } = await newSite()
    await owner.call('PUT', `/v1/sites/${id}`, { name: 'My shop' })
    const [domain] = (await add(id, `www.${zone}`)).body.data
    await setPrimary(id, domain.id)
    expect((await detail(id)).displayName).toBe('My shop')
  })

  test('200: removes a domain with its route, and as the primary one, but keeps its zone', async () => {
    const { id, name, zone } = await newSite()
    await written(id, `${name}.localhost:8081`)
    await add(id, zone)
    const [apex, www] = await list(id)
    await setPrimary(id, www.id)
    const removed = await owner.call('DELETE', `/v1/sites/${id}/domains/${www.id}`)
    expect([removed.status, removed.body.data]).toEqual([200, null])
    expect(removed.headers['operation-id']).toMatch(/^\d+$/)
    expect(await route(`www.${zone}`)).toBeUndefined()
    expect(await detail(id)).toMatchObject({ url: `${name}.localhost:8081`, domainsCount: 1 })
    expect(await newest(id)).toBe(`Removed the primary domain www.${zone}: the site is now at ${name}.localhost`)
    expect((await told(id)).at(-1)).toEqual(['domain_removed', { domain: `www.${zone}` }])
    const again = await owner.call('DELETE', `/v1/sites/${id}/domains/${apex.id}`)
    expect(await newest(id)).toBe(`Removed the domain ${zone}`)
    expect(again.headers['operation-id']).toBeUndefined()
    expect((await owner.call('GET', `/v1/zones/${apex.zoneId}/records`)).body.data).toMatchObject({
      name: zone,
      records: [],
    })
    const checks = api.database.read.selectFrom('domain_checks').selectAll().where('site_id', '=', id)
    expect(await checks.execute()).toEqual([])
    // The domain can be added again, in the same zone.
    expect(names((await add(id, zone)).body.data)).toEqual([zone, `www.${zone}`])
    expect((await list(id))[0].zoneId).toBe(apex.zoneId)
  })

  test('another account can take a name whose zone has no records left', async () => {
    const { id, zone } = await newSite()
    const other = await api.person(`other-${count}@example.com`)
    const elsewhere = await api.site(other, `other-${count}`)
    const taking = () => other.call('POST', `/v1/sites/${elsewhere}/domains`, { name: `www.${zone}` })
    const [domain] = (await add(id, `www.${zone}`)).body.data
    expect((await taking()).status).toBe(400)
    await owner.call('DELETE', `/v1/sites/${id}/domains/${domain.id}`)
    expect((await taking()).status).toBe(201)
    expect((await add(id, `shop.${zone}`)).status).toBe(400)
  })

  test('limits the zones without records of an account', async () => {
    const { id } = await newSite()
    const keeper = await api.person(`keeper-${count}@example.com`)
    const own = await api.site(keeper, `keeper-${count}`)
    await api.database.transaction(async (tx) => {
      for (let number = 0; number < MOST_EMPTY_ZONES; number++)
        await insertZone(tx, keeper.accountId, `empty-${number}-of-${count}.test`, number)
    })
    const zones = async () =>
      (await keeper.call('GET', '/v1/zones')).body.data.map((zone: { name: string }) => zone.name)
    const [domain] = (await keeper.call('POST', `/v1/sites/${own}/domains`, { name: `www.kept-${count}.test` })).body
      .data
    await keeper.call('DELETE', `/v1/sites/${own}/domains/${domain.id}`)
    expect(await zones()).toHaveLength(MOST_EMPTY_ZONES)
    expect(await zones()).toContain(`kept-${count}.test`)
    expect(await zones()).not.toContain(`empty-0-of-${count}.test`)
    expect(await list(id)).toEqual([])
  })

  test('201: another site of the account can take the names of a deleted one', async () => {
    const [gone, next] = [await newSite(), await newSite()]
    await add(gone.id, `www.${gone.zone}`)
    await owner.call('DELETE', `/v1/sites/${gone.id}`)
    expect((await add(next.id, `www.${gone.zone}`)).status).toBe(201)
    expect((await route(`www.${gone.zone}`))?.siteId).toBe(next.id)
    expect(names(await list(next.id))).toEqual([`www.${gone.zone}`])
  })

  test('of two sites that add a name at once, one gets it, and one zone is created', async () => {
    const [one, two] = [await newSite(), await newSite()]
    const host = `www.race-${count}.test`
    const replies = await Promise.all([add(one.id, host), add(two.id, host)])
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400])
    const zones = api.database.read.selectFrom('zones').select('id').where('name', '=', `race-${count}.test`)
    expect(await zones.execute()).toHaveLength(1)
    const both = await Promise.all([add(one.id, `a.${two.zone}`), add(two.id, `b.${two.zone}`)])
    expect(both.map(({ status }) => status)).toEqual([201, 201])
  })
})
