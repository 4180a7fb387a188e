import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { safeUpdateSettingsOf } from './safe-update-settings.store.ts'

describe.each(dialects)('the safe update settings of a site on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let site: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'masked')
  })
  afterEach(() => api?.close())

  const path = () => `/v1/sites/${site}/safe-update-settings`
  const put = (body: object) => owner.call('PUT', path(), body)
  const masks = ['.counter', 'ul > li:nth-child(2)']

  test('are empty at first, and each list replaces the one before', async () => {
    expect((await owner.call('GET', path())).body.data).toEqual({ masks: [], paths: [] })
    await put({ masks: [...masks, '.counter'], paths: ['/a/', '/a/'] })
    expect((await put({ paths: ['/b/?c=d'] })).body.data).toEqual({ masks, paths: ['/b/?c=d'] })
    expect((await owner.call('GET', path())).body.data).toEqual({ masks, paths: ['/b/?c=d'] })
    expect((await put({ masks: [] })).body.data).toEqual({ masks: [], paths: ['/b/?c=d'] })
    expect((await put({})).status).toBe(400)
  })

  test.each([
    ['a rule', 'a{} b'],
    ['the end of a rule', 'a} b'],
    ['an at-rule', '@import url(x)'],
    ['a tag', '</style>'],
    ['a comment', 'a /* b'],
    ['a line', 'a\nb'],
    ['nothing', ''],
    ['more than 200 characters', `.${'a'.repeat(200)}`],
  ])('refuse %s', async (_what, selector) => {
    await put({ masks })
    const { status, body } = await put({ masks: ['a', selector], paths: ['/b/'] })
    expect([status, body.errors]).toEqual([400, [expect.stringContaining('masks[1]')]])
    expect((await owner.call('GET', path())).body.data).toEqual({ masks, paths: [] })
  })

  test('have at most 20 selectors and 10 paths', async () => {
    const many = (count: number, one: string) => Array.from({ length: count }, (_, index) => `${one}${index}`)
    expect((await put({ masks: many(20, '.a'), paths: many(10, '/a') })).status).toBe(200)
    expect((await put({ masks: many(21, '.a') })).status).toBe(400)
    expect((await put({ paths: many(11, '/a') })).status).toBe(400)
  })

  test('are copied to a clone, and both change apart', async () => {
    await put({ masks, paths: ['/a/'] })
    const { body } = await owner.call('POST', `/v1/sites/${site}/clone`, { name: 'masked-too' })
    await put({ masks: [] })
    expect(await safeUpdateSettingsOf(api.database.read, body.data.id)).toEqual({ masks, paths: ['/a/'] })
  })
})
