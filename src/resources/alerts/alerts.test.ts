import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { edgesSay } from '../monitoring/monitoring.fixture.ts'
import { closeAlertsOfDeleted } from './alert.store.ts'
import { alertMails, end, raise, tellAt } from './alerts.fixture.ts'
import { durationText } from './tell/alert-mail.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test.each([
  [10_000, '1 minute'],
  [5 * MINUTE, '5 minutes'],
  [3 * HOUR, '3 hours'],
  [72 * HOUR, '3 days'],
])('%i ms are %s', (ms, text) => expect(durationText(ms)).toBe(text))

describe.each(dialects)('alerts on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let operator: Person
  let owner: Person
  let mate: Person
  let site = 0
  let other = 0
  let named = 0
  beforeAll(async () => {
    api = await testApi(dialect)
    operator = await api.person('operator@example.com')
  })
  beforeEach(async () => {
    named++
    owner = await api.person(`owner-${named}@example.com`)
    mate = await api.person(`mate-${named}@example.com`)
    site = await api.site(owner, `shop-${named}`)
    other = await api.site(owner, `blog-${named}`)
  })
  afterAll(() => api?.close())

  const list = async (who: Person, query = '') => (await who.call('GET', `/v1/alerts${query}`)).body
  const ids = async (who: Person, query = '') =>
    (await list(who, query)).data.map((each: { site_id: number | null }) => each.site_id)
  const mailsTo = async (who: Person) => (await alertMails(api)).filter(({ to }) => to === who.email)
  const now = Date.now()

  test('monitoring opens an alert with an incident, and ends it', async () => {
    await edgesSay(api, site, { one: 'up' }, now - 2 * HOUR)
    await edgesSay(api, site, { one: 'down' }, now - HOUR)
    await edgesSay(api, site, { one: 'down' }, now - HOUR + MINUTE, 'The front page answers 500')
    const { data, page } = await list(owner)
    expect(data).toEqual([
      {
        ...{ id: data[0].id, kind: 'site_down', severity: 'critical', state: 'firing', subject: '' },
        ...{ title: `shop-${named} is down`, detail: 'The front page answers 500' },
        ...{ site_id: site, site_name: `shop-${named}`, read: false, muted: false },
        ...{ began_at: new Date(now - HOUR).toISOString(), ended_at: null },
      },
    ])
    expect(page.totalItems).toBe(1)
    await edgesSay(api, site, { one: 'up' }, now - 30 * MINUTE)
    expect((await list(owner)).data).toMatchObject([
      { state: 'resolved', ended_at: new Date(now - 30 * MINUTE).toISOString() },
    ])
  })

  test('200: people see alerts of the sites that they see, and the operator those of the installation', async () => {
    await raise(api, site)
    await raise(api, other)
    await raise(api, 0)
    await api.collaborate(mate, site, [])
    expect(await ids(owner)).toEqual([other, site])
    expect(await ids(mate)).toEqual([site])
    expect(await ids(operator)).toEqual([null])
    expect((await list(mate, `?site_id=${other}`)).data).toEqual([])
    await end(api, 0)
    await owner.call('DELETE', `/v1/sites/${other}`)
    expect(await ids(owner)).toEqual([site])
  })

  test('200: filters, pages, and reads in order of id', async () => {
    for (let round = 0; round < 3; round++) {
      await raise(api, site)
      await end(api, site)
    }
    await raise(api, other)
    expect(await ids(owner, '?state=firing')).toEqual([other])
    expect(await ids(owner, '?state=resolved')).toEqual([site, site, site])
    expect(await ids(owner, `?site_id=${site}&kind=site_down`)).toEqual([site, site, site])
    const { data, page } = await list(owner, '?per_page=3&page=2')
    expect([data.length, page.totalItems, page.lastPage]).toEqual([1, 4, 2])
    const first = await owner.call('GET', '/v1/alerts?after=0&per_page=3')
    const next = await owner.call('GET', `/v1/alerts?after=${first.headers['next-after']}&per_page=3`)
    expect([...first.body.data, ...next.body.data].map(({ site_id }) => site_id)).toEqual([other, site, site, site])
  })

  test('200: the bell shows open alerts of chosen kinds until they are read or muted', async () => {
    await raise(api, site)
    await raise(api, other)
    await end(api, other)
    const [alert] = (await list(owner, '?bell=true&unread=true')).data
    expect(alert).toMatchObject({ site_id: site, read: false })
    await owner.call('POST', '/v1/alerts/read', { up_to: alert.id })
    expect((await list(owner, '?bell=true&unread=true')).data).toEqual([])
    expect((await list(owner, '?bell=true')).data).toMatchObject([{ site_id: site, read: true }])
    // An older number takes nothing back, and one from the future hides nothing.
    await owner.call('POST', '/v1/alerts/read', { up_to: 0 })
    await owner.call('POST', '/v1/alerts/read', { up_to: Number.MAX_SAFE_INTEGER })
    await raise(api, other)
    expect(await ids(owner, '?bell=true&unread=true')).toEqual([other])
    await owner.call('PUT', '/v1/alerts/settings', { bell: [] })
    expect(await ids(owner, '?bell=true')).toEqual([])
    expect(await ids(owner, '?bell=true&kind=site_down')).toEqual([])
    await owner.call('PUT', '/v1/alerts/settings', { bell: ['site_down'] })
    const mute = await owner.call('POST', '/v1/alerts/mutes', { site_id: other })
    expect(mute.body.data).toMatchObject({ site_id: other, site_name: `blog-${named}` })
    expect(await ids(owner, '?bell=true')).toEqual([site])
    expect((await list(owner, '?state=firing')).data.map(({ muted }: { muted: boolean }) => muted)).toEqual([
      true,
      false,
    ])
    await owner.call('DELETE', `/v1/alerts/mutes/${mute.body.data.id}`)
    expect(await ids(owner, '?bell=true')).toEqual([other, site])
  })

  test('a mail tells of everything that began within half a minute, and another one that it ended', async () => {
    await raise(api, site, now)
    await raise(api, other, now + 10_000)
    await tellAt(api, now + 20_000)
    expect(await mailsTo(owner)).toEqual([])
    await tellAt(api, now + MINUTE)
    await tellAt(api, now + 2 * MINUTE)
    expect(await mailsTo(owner)).toMatchObject([{ subject: `shop-${named} is down (and 1 more)` }])
    expect((await mailsTo(owner))[0]?.text).toContain(`blog-${named} is down: The front page answers 502. Since `)
    await end(api, site, now + 10 * MINUTE)
    await tellAt(api, now + 10 * MINUTE)
    await tellAt(api, now + 11 * MINUTE)
    const [, over] = await mailsTo(owner)
    expect(over).toMatchObject({ subject: `shop-${named} is no longer down` })
    expect(over?.text).toContain('lasted 10 minutes')
  })

  test('nothing is mailed twice within an hour for one cause', async () => {
    for (let minute = 0; minute < 180; minute += 4) {
      await raise(api, site, now + minute * MINUTE)
      await tellAt(api, now + minute * MINUTE)
      await tellAt(api, now + (minute + 1) * MINUTE)
      await end(api, site, now + (minute + 2) * MINUTE)
      await tellAt(api, now + (minute + 2) * MINUTE)
      await tellAt(api, now + (minute + 3) * MINUTE)
    }
    const subjects = (await mailsTo(owner)).map(({ subject }) => subject)
    const begins = subjects.filter((subject) => subject === `shop-${named} is down`)
    expect([begins.length, subjects.length]).toEqual([3, 6])
  })

  test('an alert that begins again within the hour is mailed when the hour is over, if it still lasts', async () => {
    await raise(api, site, now)
    await tellAt(api, now)
    await tellAt(api, now + MINUTE)
    await end(api, site, now + 10 * MINUTE)
    await raise(api, site, now + 20 * MINUTE)
    await tellAt(api, now + 20 * MINUTE)
    await tellAt(api, now + 50 * MINUTE)
    expect((await mailsTo(owner)).filter(({ subject }) => subject.endsWith('is down'))).toHaveLength(1)
    await tellAt(api, now + 62 * MINUTE)
    expect((await mailsTo(owner)).filter(({ subject }) => subject.endsWith('is down'))).toHaveLength(2)
  })

  test('a person gets at most one mail in five minutes', async () => {
    await raise(api, site, now)
    await tellAt(api, now)
    await tellAt(api, now + MINUTE)
    await raise(api, other, now + MINUTE)
    await tellAt(api, now + MINUTE)
    await tellAt(api, now + 2 * MINUTE)
    expect(await mailsTo(owner)).toHaveLength(1)
    await tellAt(api, now + 6 * MINUTE)
    expect(await mailsTo(owner)).toMatchObject([{}, { subject: `blog-${named} is down` }])
  })

  test('what ended before its mail is not mailed at all', async () => {
    await raise(api, site, now)
    await tellAt(api, now)
    await end(api, site, now + 1000)
    await tellAt(api, now + MINUTE)
    await tellAt(api, now + 2 * MINUTE)
    expect(await mailsTo(owner)).toEqual([])
  })

  test('mutes and choices keep mails away, also from a person who no longer sees the site', async () => {
    await api.collaborate(mate, site, [])
    await mate.call('PUT', '/v1/alerts/settings', { mail_shared_sites: true })
    await owner.call('POST', '/v1/alerts/mutes', { site_id: site, until: new Date(now + HOUR).toISOString() })
    await raise(api, site, now)
    await tellAt(api, now)
    await tellAt(api, now + MINUTE)
    expect([await mailsTo(owner), (await mailsTo(mate)).length]).toEqual([[], 1])
    await owner.call('PUT', '/v1/alerts/settings', { mail: [] })
    await raise(api, other, now)
    await tellAt(api, now)
    await tellAt(api, now + MINUTE)
    expect(await mailsTo(owner)).toEqual([])
    // A mute of another kind or site changes nothing, and neither does one that has ended.
    await owner.call('PUT', '/v1/alerts/settings', { mail: ['site_down'] })
    await end(api, other, now)
    await end(api, site, now + 2 * HOUR)
    await raise(api, site, now + 2 * HOUR)
    await raise(api, other, now + 2 * HOUR)
    await tellAt(api, now + 2 * HOUR)
    await api.database.transaction((tx) =>
      tx.deleteFrom('site_access').where('account_id', '=', mate.accountId).execute(),
    )
    await tellAt(api, now + 2 * HOUR + MINUTE)
    expect((await mailsTo(owner)).map(({ subject }) => subject)).toEqual([`shop-${named} is down (and 1 more)`])
    expect(await mailsTo(mate)).toHaveLength(1)
  })

  test('200: mutes have the name of the site, as long as the person sees it', async () => {
    const mutes = async () =>
      (await mate.call('GET', '/v1/alerts/mutes')).body.data.map((each: Record<string, unknown>) => [
        each.site_id,
        each.site_name,
      ])
    const membership = await api.collaborate(mate, site, [])
    await mate.call('POST', '/v1/alerts/mutes', { site_id: site })
    await mate.call('POST', '/v1/alerts/mutes', { kind: 'site_down' })
    expect(await mutes()).toEqual([
      [site, `shop-${named}`],
      [null, null],
    ])
    await owner.call('DELETE', `/v1/sites/${site}/collaborators/${membership}`)
    expect(await mutes()).toEqual([
      [site, null],
      [null, null],
    ])
  })

  test('mails to collaborators have the brand of the account, unless they are about sites of several', async () => {
    await owner.call('PUT', '/v1/account/branding', { name: 'Northlight', reply_to: 'hello@example.com' })
    await api.collaborate(mate, site, [])
    await mate.call('PUT', '/v1/alerts/settings', { mail_shared_sites: true })
    await raise(api, site, now)
    await tellAt(api, now)
    await tellAt(api, now + MINUTE)
    expect(await mailsTo(mate)).toMatchObject([{ senderName: 'Northlight', replyTo: 'hello@example.com' }])
    expect((await mailsTo(owner))[0]).not.toHaveProperty('senderName')
    const own = await api.site(mate, `own-${named}`)
    await end(api, site, now + 10 * MINUTE)
    await raise(api, own, now + 10 * MINUTE)
    await tellAt(api, now + 10 * MINUTE)
    await tellAt(api, now + 11 * MINUTE)
    expect((await mailsTo(mate))[1]).not.toHaveProperty('senderName')
  })

  test('collaborators get no mails before they choose so, and suspended accounts none at all', async () => {
    await api.collaborate(mate, site, [])
    await api.database.transaction((tx) =>
      tx.updateTable('accounts').set({ suspended_at: 1 }).where('id', '=', owner.accountId).execute(),
    )
    await raise(api, site, now)
    await tellAt(api, now)
    await tellAt(api, now + MINUTE)
    expect([await mailsTo(owner), await mailsTo(mate)]).toEqual([[], []])
  })

  test('a clock that was set back delays no mail for longer than it would have waited', async () => {
    await raise(api, site, now)
    await tellAt(api, now + 24 * HOUR)
    await tellAt(api, now + MINUTE)
    expect(await mailsTo(owner)).toHaveLength(1)
    await raise(api, other, now)
    await tellAt(api, now - 24 * HOUR)
    await tellAt(api, now - 24 * HOUR + MINUTE)
    expect(await mailsTo(owner)).toHaveLength(2)
  })

  test('alerts of a deleted site end, and nobody is told', async () => {
    await raise(api, site, now)
    await tellAt(api, now)
    await tellAt(api, now + MINUTE)
    await owner.call('DELETE', `/v1/sites/${site}`)
    await api.database.transaction((tx) => closeAlertsOfDeleted(tx, now + MINUTE))
    await tellAt(api, now + 10 * MINUTE)
    await tellAt(api, now + 20 * MINUTE)
    expect(await mailsTo(owner)).toHaveLength(1)
    const open = api.database.read.selectFrom('alerts').selectAll().where('site_id', '=', site)
    expect(await open.where('ended_at', 'is', null).execute()).toEqual([])
  })

  test('400: mutes of foreign sites, of the past, of everything forever; settings without a field', async () => {
    const foreign = await api.site(mate, `foreign-${named}`)
    const fault = async (path: string, body: object, method: 'POST' | 'PUT' = 'POST') => {
      const answer = await owner.call(method, `/v1/alerts/${path}`, body)
      return [answer.status, answer.body.errors[0]]
    }
    expect(await fault('mutes', { site_id: foreign })).toEqual([
      400,
      `site_id: ${foreign} is not a site that you can see`,
    ])
    const past = [400, 'until: must be a time in the future']
    expect(await fault('mutes', { kind: 'site_down', until: '2020-01-01T00:00:00Z' })).toEqual(past)
    expect(await fault('mutes', { kind: 'site_down', until: 'tomorrow' })).toEqual(past)
    expect(await fault('mutes', {})).toEqual([400, 'Send at least one of site_id, kind, until'])
    expect((await fault('settings', {}, 'PUT'))[1]).toBe('Send at least one of mail, bell, mail_shared_sites')
    expect((await fault('settings', { mail: ['nonsense'] }, 'PUT'))[0]).toBe(400)
    expect((await owner.call('GET', '/v1/alerts/mutes')).body.data).toEqual([])
  })

  test('200: settings have the kinds that can reach a person', async () => {
    const { data } = (await owner.call('GET', '/v1/alerts/settings')).body
    expect(data).toMatchObject({ mail_shared_sites: false })
    expect(data.mail).toContain('site_down')
    expect(data.kinds).toContainEqual({ kind: 'site_down', title: 'Site is down', severity: 'critical' })
    const changed = await owner.call('PUT', '/v1/alerts/settings', { mail_shared_sites: true })
    expect(changed.body.data).toEqual({ ...data, mail_shared_sites: true })
    expect((await owner.call('PUT', '/v1/alerts/settings', { mail: [] })).body.data).toMatchObject({
      ...{ mail: [], bell: data.bell, mail_shared_sites: true },
    })
  })
})
