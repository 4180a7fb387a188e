import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'

const URL = 'https://hooks.example.com/stead'

describe.each(dialects)('webhooks on $dialect', ({ dialect, skip }) => {
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

  const add = async (fields: object = {}) =>
    (await owner.call('POST', '/v1/webhooks', { url: URL, ...fields })).body.data as { id: number; secret: string }
  const read = async (id: number) => (await owner.call('GET', `/v1/webhooks/${id}`)).body.data
  const deliveriesOf = async (id: number) => (await owner.call('GET', `/v1/webhooks/${id}/deliveries`)).body.data

  test('reports everything wrong at once, and changes nothing', async () => {
    const stranger = await api.person('stranger@example.com')
    const foreign = await api.site(stranger, 'theirs')
    const { id } = await add()
    const before = await read(id)
    const wrong = { url: 'ftp://example.com', event_types: ['site_created', 'site_eaten'], site_ids: [siteId, foreign] }
    for (const [method, path] of [
      ['POST', '/v1/webhooks'],
      ['PUT', `/v1/webhooks/${id}`],
    ] as const) {
      const { status, body } = await owner.call(method, path, wrong)
      expect([status, body.errors]).toEqual([
        400,
        [
          expect.stringMatching(/^url: must be an http/),
          expect.stringMatching(/^event_types: "site_eaten" is not an event/),
          `site_ids: ${foreign} is not a site of your account`,
        ],
      ])
    }
    expect((await owner.call('GET', '/v1/webhooks')).body.data).toEqual([before])
  })

  test.each([
    'http://localhost/hook',
    'http://app.localhost/hook',
    'http://127.0.0.1/hook',
    'http://10.1.2.3/hook',
    'http://169.254.169.254/latest',
    'http://[::1]/hook',
    'http://0x7f.1/hook',
    'http://user:secret@example.com/hook',
    'http://user@example.com/hook',
    'http://:secret@example.com/hook',
    'ftp://example.com/hook',
    'hooks.example.com',
  ])('refuses %s', async (url) => {
    const { status, body } = await owner.call('POST', '/v1/webhooks', { url })
    expect(status).toBe(400)
    expect(body.errors[0]).toMatch(/^url: must/)
  })

  test('is gone with its deliveries after it is deleted, and others stay', async () => {
    const [{ id }, other] = [await add(), await add()]
    await owner.call('POST', `/v1/webhooks/${id}/test`)
    expect(await deliveriesOf(id)).toHaveLength(1)
    expect((await owner.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(200)
    for (const path of ['', '/deliveries'])
      expect((await owner.call('GET', `/v1/webhooks/${id}${path}`)).status).toBe(404)
    expect((await owner.call('GET', '/v1/webhooks')).body.data).toMatchObject([{ id: other.id }])
    expect(await api.database.read.selectFrom('webhook_deliveries').select('id').execute()).toEqual([])
  })

  test('refuses a deleted site', async () => {
    await api.database.transaction((tx) => tx.updateTable('sites').set({ deleted_at: 1 }).execute())
    expect((await owner.call('POST', '/v1/webhooks', { url: URL, site_ids: [siteId] })).status).toBe(400)
  })

  test('stores duplicates once, and keeps absent fields', async () => {
    const twice = { event_types: ['site_created', 'site_created'], site_ids: [siteId, siteId], description: 'bot' }
    const once = { event_types: ['site_created'], site_ids: [siteId], description: 'bot', url: URL, enabled: true }
    const { id } = await add(twice)
    expect(await read(id)).toMatchObject(once)
    await owner.call('PUT', `/v1/webhooks/${id}`, { ...twice, description: undefined })
    expect(await read(id)).toMatchObject(once)
    const another = await api.site(owner, 'another')
    const other = await add({ site_ids: [siteId] })
    for (const site_ids of [[siteId, another], [another]]) {
      expect((await owner.call('PUT', `/v1/webhooks/${id}`, { site_ids })).status).toBe(200)
      expect((await read(id)).site_ids).toEqual(site_ids)
    }
    expect((await read(other.id)).site_ids).toEqual([siteId])
    await owner.call('PUT', `/v1/webhooks/${id}`, { event_types: null, site_ids: null })
    expect(await read(id)).toMatchObject({ ...once, event_types: null, site_ids: null })
    const others = { url: `${URL}/other`, description: 'other' }
    await owner.call('PUT', `/v1/webhooks/${id}`, others)
    expect(await read(id)).toMatchObject({ ...once, ...others, event_types: null, site_ids: null })
    expect(await read((await add({ enabled: false })).id)).toMatchObject({ enabled: false, disabled_reason: null })
  })

  test('the previous secret signs for a day, and only a rotation shows one', async () => {
    const { id, secret } = await add()
    expect(await read(id)).not.toHaveProperty('secret')
    const changed = await owner.call('PUT', `/v1/webhooks/${id}`, { description: 'x' })
    expect(changed.body.data).toMatchObject({ secret: null, old_secret_until: null })
    const rotated = (await owner.call('PUT', `/v1/webhooks/${id}`, { rotate_secret: true })).body.data
    expect(rotated.secret).toMatch(/^whsec_/)
    expect(rotated.secret).not.toBe(secret)
    expect(Date.parse(rotated.old_secret_until) - Date.parse(rotated.updated_at)).toBe(86_400_000)
    const { secret_sealed: sealed } = await api.database.read
      .selectFrom('webhooks')
      .select('secret_sealed')
      .executeTakeFirstOrThrow()
    expect(sealed).not.toContain(rotated.secret.slice(6))
  })

  test('cannot repeat a delivery of another webhook', async () => {
    const [one, other] = [await add(), await add()]
    const sent = (await owner.call('POST', `/v1/webhooks/${one.id}/test`)).body.data
    expect((await owner.call('POST', `/v1/webhooks/${other.id}/deliveries/${sent.id}/redeliver`)).status).toBe(404)
    expect(await deliveriesOf(other.id)).toEqual([])
  })

  test('other accounts cannot access it', async () => {
    const { id } = await add()
    const before = await read(id)
    const sent = (await owner.call('POST', `/v1/webhooks/${id}/test`)).body.data
    const stranger = await api.person('stranger@example.com')
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${sent.id}/redeliver`],
    ] as const)
      expect([path, (await stranger.call(method, `/v1/webhooks/${id}${path}`, {})).status]).toEqual([path, 404])
    expect(await read(id)).toEqual(before)
    expect(await deliveriesOf(id)).toHaveLength(1)
  })

  test('lists pages of deliveries newest first, with their count', async () => {
    const { id } = await add()
    const sent: number[] = []
    for (let i = 0; i < 5; i++) sent.push((await owner.call('POST', `/v1/webhooks/${id}/test`)).body.data.id)
    const { body } = await owner.call('GET', `/v1/webhooks/${id}/deliveries?page=2&per_page=2`)
    expect(body.data.map((each: { id: number }) => each.id)).toEqual([sent[2], sent[1]])
    expect(body.page).toMatchObject({ totalItems: 5, lastPage: 3 })
  })
})
