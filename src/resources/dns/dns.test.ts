import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import { siteHooks } from '../../jobs.ts'
import type { Tx } from '../../platform/db/database.ts'
import { purgeSite } from '../sites/remove/remove-site.job.ts'
import { mailProviders } from './records/mail-providers.ts'
import { insertZone } from './zone.store.ts'

interface Shown {
  readonly id: number
  readonly type: string
  readonly name: string
  readonly value: string
  readonly siteId: number | null
  readonly primary: boolean
  readonly ttl: number
}

describe.each(dialects)('zones and records on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let site: number
  let count = 0
  beforeAll(async () => {
    api = await testApi(dialect, {
      settings: { STEAD_EDGE_ADDRESSES: '192.0.2.1,192.0.2.2,2001:db8:0::7,2001:db8::8' },
    })
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'the-site')
  })
  afterAll(() => api?.close())

  /** Creates a zone without records. */
  const zone = async (): Promise<{ id: number; name: string }> => {
    const name = `zone-${++count}.test`
    const { id } = await api.database.transaction((tx) => insertZone(tx, owner.accountId, name, Date.now()))
    return { id, name }
  }
  const add = (id: number, body: object) => owner.call('POST', `/v1/zones/${id}/records`, body)
  const records = async (id: number): Promise<Shown[]> =>
    (await owner.call('GET', `/v1/zones/${id}/records`)).body.data.records
  const short = (all: readonly Shown[]) => all.map(({ type, name, value }) => `${name || '@'} ${type} ${value}`)
  const errorsOf = async (id: number, body: object) => {
    const before = await records(id)
    const { status, body: answer } = await add(id, body)
    expect(await records(id)).toEqual(before)
    return [status, answer.errors]
  }
  const state = (id: number) =>
    api.database.read
      .selectFrom('zones')
      .select(['serial', 'change_seq as seq', 'deleted_at as deletedAt'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()

  test('200: returns the zone with all records, with a dot after names in values', async () => {
    const { id, name } = await zone()
    await add(id, { type: 'MX', value: 'mail.example.net', priority: 10, ttl: 60 })
    const { status, body } = await add(id, { type: 'CNAME', name: 'shop', value: 'shops.example.net.' })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ id, name })
    const [mail, shop] = body.data.records
    const common = { zoneId: id, primary: false, siteId: null, weight: null, port: null }
    expect(mail).toMatchObject({ ...common, type: 'MX', name: '', value: 'mail.example.net.', priority: 10, ttl: 60 })
    expect(shop).toMatchObject({ type: 'CNAME', name: 'shop', value: 'shops.example.net.', ttl: 3600, priority: null })
    const left = await owner.call('DELETE', `/v1/zones/${id}/records/${mail.id}`)
    expect(left.body.data.records).toEqual([shop])
    expect((await owner.call('DELETE', `/v1/zones/${id}/records/${mail.id}`)).status).toBe(404)
  })

  test('400: for duplicates, an alias next to other records, and two TTLs for one name and type', async () => {
    const { id } = await zone()
    await add(id, { type: 'A', name: 'a', value: '192.0.2.9', ttl: 60 })
    expect(await errorsOf(id, { type: 'A', name: 'A', value: '192.0.2.9' })).toEqual([
      400,
      ['value: an identical A record already exists.'],
    ])
    await add(id, { type: 'MX', value: 'mail.test', priority: 10 })
    expect((await errorsOf(id, { type: 'MX', value: 'mail.test', priority: 20 }))[1]).toEqual([
      'value: an identical MX record already exists.',
    ])
    expect(await errorsOf(id, { type: 'CNAME', name: 'a', value: 'b.test' })).toEqual([
      400,
      ['Other records conflict with this one: a has A records and cannot also be an alias (CNAME).'],
    ])
    expect(await errorsOf(id, { type: 'A', name: 'a', value: '192.0.2.8', ttl: 61 })).toEqual([
      400,
      ['ttl: must be 60, like the other A records of a (RFC 2181)'],
    ])
    expect((await add(id, { type: 'A', name: 'a', value: '192.0.2.8' })).body.data.records.at(-1).ttl).toBe(60)
    await add(id, { type: 'CNAME', name: 'c', value: 'b.test' })
    for (const body of [
      { type: 'TXT', value: 'x' },
      { type: 'CNAME', value: 'd.test' },
    ])
      expect(await errorsOf(id, { ...body, name: 'c' })).toEqual([
        400,
        ['Other records conflict with this one: c is an alias (CNAME) of b.test and cannot have other records.'],
      ])
  })

  test('200: merges a second SPF record into the first', async () => {
    const { id } = await zone()
    await add(id, { type: 'TXT', value: 'v=spf1 include:a.test ~all' })
    await add(id, { type: 'TXT', value: 'other' })
    await add(id, { type: 'TXT', name: 'sub', value: 'v=spf1 -all' })
    await add(id, { type: 'TXT', value: 'v=spf1 include:b.test -all' })
    expect(short(await records(id))).toEqual([
      '@ TXT v=spf1 include:a.test include:b.test -all',
      '@ TXT other',
      'sub TXT v=spf1 -all',
    ])
  })

  test('raises the serial with each change, which is the newest of all zones', async () => {
    const [one, other] = [await zone(), await zone()]
    const before = [await state(one.id), await state(other.id)] as const
    await add(one.id, { type: 'TXT', value: 'a' })
    const added = await state(one.id)
    expect(added.serial).toBeGreaterThan(before[0].serial)
    expect(added.seq).toBeGreaterThan(before[1].seq)
    const [record] = await records(one.id)
    await owner.call('DELETE', `/v1/zones/${one.id}/records/${record?.id}`)
    const deleted = await state(one.id)
    expect(deleted.serial).toBeGreaterThan(added.serial)
    expect(deleted.seq).toBeGreaterThan(added.seq)
    expect(await state(other.id)).toEqual(before[1])
  })

  test('returns records as they were written, and serves what they mean', async () => {
    const { id } = await zone()
    const written = [
      ['CNAME', 'Cased', 'Target.Example.COM.'],
      ['CNAME', 'dotless', 'Target.Example.COM'],
      ['AAAA', 'six', '2001:DB8:0::1'],
      ['TXT', 'quoted', '"a" "b"'],
      ['CAA', 'caa', '0 ISSUE ca.example'],
      ['HTTPS', 'https', '1 . alpn="h2,h3"'],
      ['TXT', 'plain', 'a'],
      ['TXT', 'spf', '"v=spf1 include:a.test ~all"'],
    ] as const
    for (const [type, owner, value] of written)
      expect((await add(id, { type, name: owner, value })).body.data.records.at(-1).value).toBe(
        value.endsWith('COM') ? `${value}.` : value,
      )
    expect((await records(id)).map(({ value }) => value)).toEqual(
      written.map(([, , value]) => (value.endsWith('COM') ? `${value}.` : value)),
    )
    // A merged record no longer has the client's own words.
    await add(id, { type: 'TXT', name: 'spf', value: 'v=spf1 include:b.test ~all' })
    expect((await records(id)).at(-1)?.value).toBe('v=spf1 include:a.test include:b.test ~all')
    const { body } = await owner.call('GET', `/v1/zones/${id}/file`)
    for (const served of ['target.example.com.', '2001:db8::1', '"ab"', '0 issue "ca.example"', '1 . alpn=h2,h3'])
      expect(JSON.stringify(body).replaceAll('\\"', '"')).toContain(served)
  })

  test('treats all spellings of an IPv6 address as one record, in the API and in a zone file', async () => {
    const { id } = await zone()
    await add(id, { type: 'AAAA', name: 'six', value: '2001:DB8:0::1' })
    for (const value of ['2001:db8::1', '2001:0db8:0:0:0:0:0:1', '2001:db8::0.0.0.1'])
      expect(await errorsOf(id, { type: 'AAAA', name: 'six', value })).toEqual([
        400,
        ['value: an identical AAAA record already exists.'],
      ])
    const file = 'six AAAA 2001:db8:0:0::1\nsix AAAA 2001:DB8::2\n'
    const imported = await owner.call('PUT', `/v1/zones/${id}/file`, { file })
    expect(short(imported.body.data.records)).toEqual(['six AAAA 2001:DB8:0::1', 'six AAAA 2001:db8::2'])
    const refused = await owner.call('PUT', `/v1/zones/${id}/file`, { file: 'six AAAA fe80::1%eth0\n' })
    expect(refused.body.errors).toEqual(['file: line 1: value: must not contain a zone identifier (%eth0)'])
  })

  test('an A record for a site is a domain of it, with all addresses of the edge, of both kinds, or its own', async () => {
    const { id, name } = await zone()
    const told = async () => {
      const rows = await api.database.read.selectFrom('events').selectAll().where('site_id', '=', site).execute()
      return rows.map(({ type, data }) => [type, JSON.parse(data).domain]).filter(([, domain]) => domain.endsWith(name))
    }
    const made = await add(id, { type: 'A', name: 'www', site_id: site })
    expect(short(made.body.data.records)).toEqual([
      ...['www A 192.0.2.1', 'www A 192.0.2.2', 'www AAAA 2001:db8::7', 'www AAAA 2001:db8::8'],
    ])
    expect(made.body.data.records[0].siteId).toBe(site)
    expect((await loadRoute(api.database.read, `www.${name}`))?.siteId).toBe(site)
    for (const away of [
      { type: 'A', value: '203.0.113.9' },
      { type: 'AAAA', value: '2001:db8::1' },
    ])
      expect(await errorsOf(id, { ...away, name: 'www' })).toEqual([
        400,
        [
          'Other records conflict with this one: www is a domain of a site, and an address of another server would send visitors to both.',
        ],
      ])
    expect((await add(id, { type: 'A', name: 'www', site_id: site })).body.errors).toEqual([
      'value: an identical A record already exists.',
    ])
    await add(id, { type: 'A', name: 'www', value: '192.0.2.3', site_id: site })
    await add(id, { type: 'A', name: 'own', value: '192.0.2.4', site_id: site })
    expect((await loadRoute(api.database.read, `own.${name}`))?.siteId).toBe(site)
    const all = await records(id)
    expect(short(all)).toHaveLength(6)
    // The name stays the site's as long as one of its records exists.
    for (const [at, record] of all.slice(0, 5).entries()) {
      expect((await loadRoute(api.database.read, `www.${name}`))?.siteId, `${at}`).toBe(site)
      await owner.call('DELETE', `/v1/zones/${id}/records/${record.id}`)
    }
    expect(await loadRoute(api.database.read, `www.${name}`)).toBeUndefined()
    expect(await told()).toEqual([
      ['domain_added', `www.${name}`],
      ['domain_added', `own.${name}`],
      ['domain_removed', `www.${name}`],
    ])
    const { body } = await owner.call('POST', `/v1/sites/${site}/logs/activity`, {})
    expect(body.data.map(({ message }: { message: string }) => message)).toEqual(
      expect.arrayContaining([`Added the domain www.${name}`, `Removed the domain www.${name}`]),
    )
  })

  test('400: for a name that leads elsewhere, and an unknown site; a star leads to a site as a wildcard', async () => {
    const { id, name } = await zone()
    await add(id, { type: 'A', name: 'away', value: '203.0.113.9' })
    await add(id, { type: 'AAAA', name: 'away', value: '2001:db8::1' })
    expect(await errorsOf(id, { type: 'A', name: 'away', site_id: site })).toEqual([
      400,
      [`Other records conflict with this one: away.${name} has A and AAAA records that point elsewhere.`],
    ])
    expect((await add(id, { type: 'A', name: '*', site_id: site })).status).toBe(200)
    expect(await loadRoute(api.database.read, `anything.${name}`)).toMatchObject({
      siteId: site,
      listedAs: `*.${name}`,
    })
    expect(await errorsOf(id, { type: 'A', name: 'x', site_id: 999_999 })).toEqual([
      400,
      ['site_id: is not a site that you can see'],
    ])
  })

  test('403, 404: collaborators need the role on all sites of a zone', async () => {
    const { id } = await zone()
    const [first, second] = [await api.site(owner, `first-${count}`), await api.site(owner, `second-${count}`)]
    const helper = await api.person(`helper-${count}@example.com`)
    const read = () => helper.call('GET', `/v1/zones/${id}/records`)
    const listed = async () => (await helper.call('GET', '/v1/zones')).body.data.map((each: { id: number }) => each.id)
    await add(id, { type: 'A', name: 'one', site_id: first })
    await add(id, { type: 'A', name: 'two', site_id: second })
    expect((await read()).status).toBe(404)
    await api.collaborate(helper, first, ['manage_dns'])
    expect([(await read()).status, await listed()]).toEqual([403, []])
    await api.collaborate(helper, second, [])
    expect([(await read()).status, await listed()]).toEqual([403, []])
    await api.collaborate(helper, second, ['manage_dns'])
    expect([(await read()).status, await listed()]).toEqual([200, [id]])
    expect((await helper.call('POST', `/v1/zones/${id}/records`, { type: 'TXT', value: 'x' })).status).toBe(200)
    // Only its owner can access a zone without sites.
    const { id: bare } = await zone()
    expect((await helper.call('GET', `/v1/zones/${bare}/records`)).status).toBe(404)
  })

  describe('mail providers', () => {
    test.each(mailProviders)('%s: repeating it changes nothing, and another one replaces it', async (provider) => {
      const { id } = await zone()
      await add(id, { type: 'MX', value: 'own.example.net', priority: 50 })
      const apply = (code: string) => owner.call('POST', `/v1/zones/${id}/providers`, { provider: code })
      expect((await apply(provider)).body).toEqual({ message: 'Success', data: null, errors: null })
      const made = await records(id)
      expect(short(made).filter((each) => each.startsWith('@ MX')).length).toBeGreaterThan(1)
      expect(short(made).filter((each) => each.startsWith('@ TXT v=spf1 '))).toHaveLength(1)
      await apply(provider)
      expect(await records(id)).toEqual(made)
      const other = provider === 'titan_mail' ? 'zoho-mail' : 'titan-mail'
      expect((await apply(other)).body.errors).toBeNull()
      const after = short(await records(id))
      const host = other === 'titan-mail' ? 'titan.email.' : 'zoho.com.'
      const mail = after.filter((each) => each.includes(' MX '))
      expect(mail[0]).toBe('@ MX own.example.net.')
      expect(mail.slice(1).filter((each) => !each.endsWith(host))).toEqual([])
      expect(after.filter((each) => each.includes('v=spf1'))).toHaveLength(1)
    })

    test('a replaced provider may no longer send mail, but senders that users have added may', async () => {
      const { id } = await zone()
      await add(id, { type: 'TXT', value: 'v=spf1 a include:own.test include:spf.titan.email ~all' })
      const apply = (code: string) => owner.call('POST', `/v1/zones/${id}/providers`, { provider: code })
      for (const code of ['google_workspace', 'zoho_mail', 'icloud_mail']) await apply(code)
      expect(short(await records(id)).filter((each) => each.includes('v=spf1'))).toEqual([
        // Titan's MX records were never there.
        '@ TXT v=spf1 a include:own.test include:spf.titan.email include:icloud.com ~all',
      ])
    })

    test('inserts names of the zone into the records, and logs what only the provider knows', async () => {
      const { id, name } = await zone()
      await owner.call('POST', `/v1/zones/${id}/providers`, { provider: 'microsoft-office365' })
      await owner.call('POST', `/v1/zones/${id}/providers`, { provider: 'apple-icloud-mail' })
      expect(short(await records(id))).toContain(`sig1._domainkey CNAME sig1.dkim.${name}.at.icloudmailadmin.com.`)
      const log = (await owner.call('POST', '/v1/account/logs/activity', {})).body.data.map(
        (entry: { message: string }) => entry.message,
      )
      expect(
        log.find((message: string) => message.startsWith(`${name}: added the records of Microsoft 365`)),
      ).toContain('DKIM')
    })

    test('400: for an unknown one, and for conflicting records, and changes nothing', async () => {
      const { id, name } = await zone()
      const apply = (provider: string) => owner.call('POST', `/v1/zones/${id}/providers`, { provider })
      expect((await apply('constructor')).body.errors[0]).toMatch(/^provider: must be one of google_workspace, /)
      await add(id, { type: 'A', name: 'autodiscover', value: '192.0.2.9' })
      expect((await apply('rackspace_email')).body.errors).toEqual([
        `Other records conflict with this one: autodiscover.${name} has A records, but the provider requires CNAME.`,
      ])
      expect(await records(id)).toHaveLength(1)
    })
  })

  test('a name that a deleted site has left in a zone goes to another site that requests it', async () => {
    const gone = await api.site(owner, `left-${count}`)
    const { id } = await zone()
    await add(id, { type: 'A', name: 'www', site_id: gone })
    await owner.call('DELETE', `/v1/sites/${gone}`)
    expect((await records(id)).map(({ siteId }) => siteId)).toContain(gone)
    expect((await add(id, { type: 'A', name: 'www', site_id: site })).status).toBe(200)
    const left = await records(id)
    expect([left.length > 0, new Set(left.map(({ siteId }) => siteId))]).toEqual([true, new Set([site])])
  })

  test('a deleted site’s records go with its files, and so does a zone without others', async () => {
    const gone = await api.site(owner, `gone-${count}`)
    const [kept, emptied] = [await zone(), await zone()]
    for (const { id } of [kept, emptied]) await add(id, { type: 'A', name: 'www', site_id: gone })
    await add(kept.id, { type: 'TXT', value: 'stays' })
    await owner.call('DELETE', `/v1/sites/${gone}`)
    const forget = purgeSite.steps.records?.commit as (tx: Tx, context: object) => Promise<void>
    await api.database.transaction((tx) => forget(tx, { input: { siteId: gone }, services: { siteHooks } }))
    expect(short(await records(kept.id))).toEqual(['@ TXT stays'])
    expect((await state(kept.id)).deletedAt).toBeNull()
    expect((await owner.call('GET', `/v1/zones/${emptied.id}/records`)).status).toBe(404)
    expect((await state(emptied.id)).deletedAt).not.toBeNull()
    // Name servers learn of it by its number.
    expect((await state(emptied.id)).seq).toBeGreaterThan(0)
  })
})
