import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apiOver, type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { putChallenge } from '../../dns/zones/challenges.store.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { countMail } from '../../platform/mail/mail-limit.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import type { Worker } from '../../platform/operations/worker/worker.ts'
import { mailsTo } from '../collaborators/mails.fixture.ts'
import { insertClaim } from './claim.store.ts'
import { MOST_CLAIMS, NOTICE_MS } from './claim.ts'
import { completeClaims } from './complete-claims.job.ts'
import { type Outside, startOutside } from './outside.fixture.ts'

describe.each(dialects)('claims of domains on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let holder: Person
  let claimant: Person
  let worker: Worker
  let held: number
  let site: number
  let now: number
  let outside: Outside
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = Date.now()
    outside = await startOutside()
    const settings = { ...outside.settings, STEAD_EDGE_ADDRESSES: '192.0.2.1', STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443' }
    api = await testApi(dialect, { now: () => now, settings })
    await api.person('operator@example.com')
    holder = await person('holder@example.com')
    claimant = await person('claimant@example.com')
    held = await api.site(holder, 'site-of-holder')
    site = await api.site(claimant, 'site-of-claimant')
    worker = startWorker(api.database, [completeClaims], {
      services: { database: api.database, config: api.config },
      clock: () => now,
    })
    await add(holder, held, 'claimed.test')
  })
  afterEach(async () => {
    await worker?.stop(1000)
    await api?.close()
    await outside?.close()
  })

  const add = (person: Person, id: number, name: string) => person.call('POST', `/v1/sites/${id}/domains`, { name })
  /** Creates a person whose token lasts for days. */
  const person = async (email: string): Promise<Person> => {
    const made = await api.person(email)
    const expires_at = now + 10 * NOTICE_MS
    await api.database.transaction((tx) => tx.updateTable('tokens').set({ expires_at }).execute())
    return made
  }
  const RECORD = '_stead-challenge.claimed.test'
  /** Returns the value that the record must have, according to the error. */
  const valueFor = async (person: Person, id: number) => {
    const { status, body } = await add(person, id, 'claimed.test')
    expect(status).toBe(400)
    const [, record, value] = /create the TXT record (\S+) with the value (\S+),/.exec(
      body.errors[0],
    ) as RegExpExecArray
    expect(record).toBe(RECORD)
    return value as string
  }
  const prove = async (person: Person, id: number, name = 'claimed.test') => {
    outside.texts[RECORD] = ['v=spf1 -all', ...(outside.texts[RECORD] ?? []), await valueFor(person, id)]
    return add(person, id, name)
  }
  const settle = async () => {
    const id = await api.database.transaction((tx) => enqueue(tx, completeClaims, {}, { siteId: null }))
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
  }
  const afterNotice = async () => {
    now += NOTICE_MS
    await settle()
  }
  const names = async (person: Person, id: number) =>
    (await person.call('GET', `/v1/sites/${id}/domains`)).body.data.map(
      ({ domainName }: { domainName: string }) => domainName,
    )
  const zones = async (person: Person) =>
    (await person.call('GET', '/v1/zones')).body.data.map(({ name }: { name: string }) => name)
  const log = async ({ accountId }: Person) =>
    (
      await api.database.read
        .selectFrom('activity')
        .select(['action', 'message', 'actor_email'])
        .where('account_id', '=', accountId)
        .where('action', 'in', ['domain.claimed', 'domain.claim_ended', 'zone.claimed', 'zone.claim_ended'])
        .orderBy('id')
        .execute()
    ).map(({ action, message }) => `${action}: ${message}`)
  const events = async ({ accountId }: Person) =>
    (
      await api.database.read
        .selectFrom('events')
        .select(['type', 'data'])
        .where('account_id', '=', accountId)
        .where('type', 'like', 'domain_claim%')
        .orderBy('id')
        .execute()
    ).map(({ type, data }) => [type, JSON.parse(data)])

  test('400: names the record to create; 201 once it is seen; a day later the domain moves', async () => {
    await holder.call('POST', `/v1/zones/${await zoneId(holder)}/records`, {
      type: 'MX',
      name: '@',
      value: 'a.test',
      priority: 1,
    })
    const { body } = await add(claimant, site, 'claimed.test')
    expect(body.errors[0]).toContain('So far the DNS does not have this record.')
    outside.texts[RECORD] = ['another']
    expect((await add(claimant, site, 'claimed.test')).body.errors[0]).toContain('with another value')
    const begun = await prove(claimant, site)
    const day = new Date(now + NOTICE_MS).toISOString()
    expect([begun.status, begun.body.data]).toEqual([201, []])
    expect(begun.body.message).toContain(`The claim of claimed.test has begun: the domain moves at ${day.slice(0, 10)}`)
    expect(await log(claimant)).toEqual([
      expect.stringMatching(/^domain.claimed: Claimed claimed.test for claimed.test/),
    ])
    expect(await log(holder)).toEqual([
      expect.stringMatching(/^zone.claimed: Another account claims claimed.test with/),
    ])
    expect(await events(claimant)).toEqual([
      ['domain_claimed', { domain: 'claimed.test', role: 'claimant', moves_at: day }],
    ])
    expect(await events(holder)).toEqual([
      ['domain_claimed', { domain: 'claimed.test', role: 'holder', moves_at: day }],
    ])
    const [mail, ...others] = await mailsTo(api.database, holder.email)
    expect(others).toEqual([])
    expect(mail?.subject).toBe('Another account claims claimed.test')
    expect(mail?.text).toContain('Your sites then lose claimed.test, www.claimed.test.')
    expect(JSON.stringify([mail, await log(holder)])).not.toContain(claimant.email)

    now += NOTICE_MS - 1
    await settle()
    expect([await names(holder, held), await names(claimant, site)]).toEqual([['claimed.test', 'www.claimed.test'], []])

    now += 1
    await settle()
    expect([await names(holder, held), await names(claimant, site)]).toEqual([[], ['claimed.test', 'www.claimed.test']])
    expect([await zones(holder), await zones(claimant)]).toEqual([[], ['claimed.test']])
    expect((await loadRoute(api.database.read, 'www.claimed.test'))?.siteId).toBe(site)
    const records = (await claimant.call('GET', `/v1/zones/${await zoneId(claimant)}/records`)).body.data.records
    expect(records.map(({ type }: { type: string }) => type)).toEqual(['A', 'A'])
    expect((await log(claimant)).at(-1)).toBe('domain.claim_ended: claimed.test moved to this account')
    expect((await log(holder)).at(-1)).toContain('claimed.test moved to the account')
    expect((await events(holder)).at(-1)).toEqual([
      'domain_claim_ended',
      { domain: 'claimed.test', role: 'holder', moved: true },
    ])
    expect((await add(claimant, site, 'claimed.test')).body.errors[0]).toContain('is already a domain of this site')
  })

  const zoneId = async (person: Person) => (await person.call('GET', '/v1/zones')).body.data[0].id

  test('removes the holder’s keys, certificates and primary domain with the zone', async () => {
    const id = await zoneId(holder)
    const [domain] = (await holder.call('GET', `/v1/sites/${held}/domains`)).body.data
    await holder.call('PUT', `/v1/sites/${held}/domains/${domain.id}/primary`)
    expect((await holder.call('PUT', `/v1/zones/${id}/dnssec`, { enabled: true })).status).toBe(200)
    await api.database.transaction((tx) =>
      putChallenge(
        tx,
        {
          hostName: 'claimed.test',
          zone: { id, name: 'claimed.test' },
          name: '_acme-challenge.claimed.test',
          value: 'a',
        },
        now,
      ),
    )
    await prove(claimant, site, 'shop.claimed.test')
    await afterNotice()
    const { read } = api.database
    expect(await read.selectFrom('zone_keys').selectAll().execute()).toEqual([])
    expect(await read.selectFrom('dns_challenges').selectAll().execute()).toEqual([])
    expect(await read.selectFrom('certificates').select(['host_name', 'site_id']).execute()).toEqual([
      { host_name: 'shop.claimed.test', site_id: site },
    ])
    const serials = await read
      .selectFrom('zones')
      .select(['serial', 'deleted_at'])
      .where('name', '=', 'claimed.test')
      .orderBy('id')
      .execute()
    expect(serials).toMatchObject([{ deleted_at: now }, { deleted_at: null }])
    expect(serials[1]?.serial).toBeGreaterThan(serials[0]?.serial as number)
    expect((await holder.call('GET', `/v1/sites/${held}`)).body.data.url).toContain('site-of-holder')
    const told = await read.selectFrom('operations').select('site_id').where('type', '=', 'site.configure').execute()
    expect(told).toEqual([{ site_id: held }, { site_id: held }])
    expect(await names(claimant, site)).toEqual(['shop.claimed.test'])
  })

  test('ends without a move when the record is gone at the second check', async () => {
    await prove(claimant, site)
    outside.texts[RECORD] = []
    await afterNotice()
    expect(await names(holder, held)).toHaveLength(2)
    expect(await zones(claimant)).toEqual([])
    expect((await log(claimant)).at(-1)).toBe(
      `domain.claim_ended: The claim of claimed.test ended: the TXT record ${RECORD} is missing`,
    )
    expect((await events(holder)).at(-1)).toEqual([
      'domain_claim_ended',
      { domain: 'claimed.test', role: 'holder', moved: false },
    ])
    // It can be claimed again.
    expect((await prove(claimant, site)).status).toBe(201)
    expect(await log(holder)).toHaveLength(3)
  })

  test('200: the claimant cancels it; 404: for a site that does not claim it, and a second time', async () => {
    const other = await api.site(claimant, 'another-of-claimant')
    const cancel = (person: Person, id: number, name = 'www.claimed.test') =>
      person.call('DELETE', `/v1/sites/${id}/domain-claims/${name}`)
    expect((await cancel(claimant, site)).status).toBe(404)
    await prove(claimant, site)
    const refused = [cancel(claimant, other), cancel(holder, held), cancel(holder, site), cancel(claimant, site, 'com')]
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect((await cancel(claimant, site)).status).toBe(200)
    expect((await cancel(claimant, site)).status).toBe(404)
    expect((await log(claimant)).at(-1)).toBe('domain.claim_ended: The claim of claimed.test ended: it was canceled')
    expect((await log(holder)).at(-1)).toContain('The claim of claimed.test by another account ended: it was canceled')
    const ended = (role: string) => ['domain_claim_ended', { domain: 'claimed.test', role, moved: false }]
    expect([(await events(claimant)).at(-1), (await events(holder)).at(-1)]).toEqual([
      ended('claimant'),
      ended('holder'),
    ])
    await afterNotice()
    expect([await zones(holder), await zones(claimant)]).toEqual([['claimed.test'], []])
  })

  test('is listed for claimant and holder, without the other’s secret, and for no other account', async () => {
    const other = await api.site(claimant, 'another-of-claimant')
    const list = async (person: Person, id: number) => {
      const { status, body } = await person.call('GET', `/v1/sites/${id}/domain-claims`)
      return status === 200 ? body.data : status
    }
    expect(await Promise.all([list(claimant, site), list(holder, held)])).toEqual([[], []])
    await prove(claimant, site, 'shop.claimed.test')
    const ofBoth = { domain: 'claimed.test', recordName: RECORD, movesAt: new Date(now + NOTICE_MS).toISOString() }
    const value = outside.texts[RECORD]?.at(-1)
    expect(await list(claimant, site)).toEqual([
      { ...ofBoth, role: 'claimant', domainName: 'shop.claimed.test', recordValue: value },
    ])
    expect(await list(holder, held)).toEqual([{ ...ofBoth, role: 'holder', domainName: null, recordValue: null }])
    // Sites of strangers, and other sites of the same account, do not list it.
    const unrelated = await api.site(holder, 'unrelated-of-holder')
    expect(await list(claimant, other)).toEqual([])
    expect(await list(holder, unrelated)).toEqual([])
    expect([await list(holder, site), await list(claimant, held)]).toEqual([404, 404])
    await afterNotice()
    expect([await list(claimant, site), await list(holder, held)]).toEqual([[], []])
  })

  test('canceling while the job checks the record moves nothing, and ends the claim once', async () => {
    await prove(claimant, site)
    const canceled: number[] = []
    outside.meanwhile = async () => {
      canceled.push((await claimant.call('DELETE', `/v1/sites/${site}/domain-claims/claimed.test`)).status)
    }
    await afterNotice()
    expect(canceled[0]).toBe(200)
    expect([await zones(holder), await zones(claimant)]).toEqual([['claimed.test'], []])
    expect((await log(claimant)).slice(1)).toEqual([
      'domain.claim_ended: The claim of claimed.test ended: it was canceled',
    ])
  })

  test('of a cancellation and the job at the same moment one wins, and both accounts learn which', async () => {
    await prove(claimant, site)
    now += NOTICE_MS
    const cancel = () => claimant.call('DELETE', `/v1/sites/${site}/domain-claims/claimed.test`)
    const [{ status }] = await Promise.all([cancel(), settle()])
    const hasMoved = status === 404
    expect([await zones(holder), await zones(claimant)]).toEqual(
      hasMoved ? [[], ['claimed.test']] : [['claimed.test'], []],
    )
    const ends = [...(await events(claimant)), ...(await events(holder))].filter(
      ([type]) => type === 'domain_claim_ended',
    )
    expect(ends.map(([, { role, moved }]) => [role, moved])).toEqual([
      ['claimant', hasMoved],
      ['holder', hasMoved],
    ])
  })

  test('does not move while the DNS does not respond, and ends after another day', async () => {
    await prove(claimant, site)
    outside.isFailing = true
    await afterNotice()
    expect(await log(holder)).toHaveLength(1)
    expect((await add(claimant, site, 'claimed.test')).status).toBe(201)
    now += NOTICE_MS + 1
    await settle()
    expect((await log(holder)).at(-1)).toContain('cannot be looked up in the DNS')
    expect(await names(holder, held)).toHaveLength(2)
    expect((await add(claimant, site, 'claimed.test')).body.errors[0]).toContain('Stead could not check:')
  })

  test('is one claim for each account, whichever site or name it is requested for', async () => {
    const other = await api.site(claimant, 'other-of-claimant')
    const first = await prove(claimant, site)
    now += 60_000
    expect((await add(claimant, other, 'www.claimed.test')).body.message).toBe(first.body.message)
    expect(await log(holder)).toHaveLength(1)
    expect(await mailsTo(api.database, holder.email)).toHaveLength(1)
    const at = [add(claimant, site, 'claimed.test'), add(claimant, other, 'claimed.test')]
    expect((await Promise.all(at)).map(({ status }) => status)).toEqual([201, 201])
    expect(await api.database.read.selectFrom('zone_claims').select('site_id').execute()).toEqual([{ site_id: site }])
  })

  test('of two accounts that claim it, the first one gets it, and the other must claim it again', async () => {
    const third = await person('third@example.com')
    const ofThird = await api.site(third, 'site-of-third')
    await prove(claimant, site)
    now += 60_000
    await prove(third, ofThird)
    now += NOTICE_MS
    await Promise.all([settle(), settle()])
    expect([await names(claimant, site), await names(third, ofThird)]).toEqual([
      ['claimed.test', 'www.claimed.test'],
      [],
    ])
    expect((await log(third)).at(-1)).toContain('a third account got the domain in the meantime')
    expect(await log(claimant)).toHaveLength(2)
    // Now the first claimant gets the notice.
    expect((await add(third, ofThird, 'claimed.test')).status).toBe(201)
    expect(await mailsTo(api.database, claimant.email)).toHaveLength(1)
  })

  test('a record of one account, or of another installation, proves nothing for another', async () => {
    const third = await person('third@example.com')
    const ofThird = await api.site(third, 'site-of-third')
    await prove(claimant, site)
    expect((await add(third, ofThird, 'claimed.test')).body.errors[0]).toContain('with another value')
    const other = await apiOver(api.database, { settings: outside.settings }, createSealer(randomBytes(32)))
    const headers = { authorization: `Bearer ${third.token}` }
    const { errors } = (
      await other.app.inject({
        method: 'POST',
        url: `/v1/sites/${ofThird}/domains`,
        headers,
        payload: { name: 'claimed.test' },
      })
    ).json()
    await other.app.close()
    expect(errors[0]).not.toContain(await valueFor(third, ofThird))
  })

  test('ends when its site was deleted, or its names were reserved meanwhile', async () => {
    await prove(claimant, site)
    await claimant.call('DELETE', `/v1/sites/${site}`)
    await afterNotice()
    expect((await log(holder)).at(-1)).toContain('the site was deleted')
    const next = await api.site(claimant, 'next-of-claimant')
    expect((await add(claimant, next, 'claimed.test')).status).toBe(201)
    await worker.stop(1000)
    worker = startWorker(api.database, [completeClaims], {
      services: { database: api.database, config: { ...api.config, panelUrl: 'https://panel.claimed.test' } },
      clock: () => now,
    })
    await afterNotice()
    expect((await log(holder)).at(-1)).toContain('belongs to this installation')
    expect(await names(holder, held)).toHaveLength(2)
  })

  test('does not wait if the holder has given up the domain meanwhile', async () => {
    await prove(claimant, site)
    for (const { id } of (await holder.call('GET', `/v1/sites/${held}/domains`)).body.data)
      expect((await holder.call('DELETE', `/v1/sites/${held}/domains/${id}`)).status).toBe(200)
    await afterNotice()
    expect(await names(claimant, site)).toEqual(['claimed.test', 'www.claimed.test'])
  })

  test('a site of the holder in the trash does not keep the domain when it is recovered', async () => {
    await prove(claimant, site, 'shop.claimed.test')
    await holder.call('DELETE', `/v1/sites/${held}`)
    await afterNotice()
    const left = await api.database.read.selectFrom('routes').select('host_name').where('site_id', '=', held).execute()
    expect(left.map(({ host_name }) => host_name).filter((name) => name.endsWith('claimed.test'))).toEqual([])
    expect(await names(claimant, site)).toEqual(['shop.claimed.test'])
  })

  test('400: limits an account to twenty claims', async () => {
    await api.database.transaction(async (tx) => {
      const of = {
        accountId: claimant.accountId,
        holderId: holder.accountId,
        siteId: site,
        hostName: 'a',
        value: 'a',
        movesAt: now * 2,
      }
      for (let at = 0; at < MOST_CLAIMS; at++) await insertClaim(tx, { ...of, zone: `zone-${at}.test` })
    })
    expect((await add(claimant, site, 'claimed.test')).body.errors[0]).toContain(
      'An account can have 20 pending claims',
    )
  })

  test('400: does not start without the holder’s mail, when their mailbox got too many in this hour', async () => {
    await api.database.transaction(async (tx) => {
      for (let at = 0; at < 10; at++)
        await countMail(tx, { accountId: claimant.accountId, to: holder.email, says: `${at}`, now })
    })
    expect((await prove(claimant, site)).status).toBe(400)
    expect(await log(holder)).toEqual([])
    now += 3_600_001
    expect((await add(claimant, site, 'claimed.test')).status).toBe(201)
    expect(await mailsTo(api.database, holder.email)).toHaveLength(1)
  })

  test('400 as before for staging sites, and names that no site may have', async () => {
    await api.database.transaction((tx) => tx.updateTable('sites').set({ staging: 1 }).where('id', '=', site).execute())
    expect((await add(claimant, site, 'claimed.test')).body.errors[0]).toContain('A staging site cannot have domains')
  })
})
