import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'

describe.each(dialects)('the PHP version of a new site on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  const hostRuns = (runtimes: Record<string, string>, databases: Record<string, string> = {}) =>
    api.database.transaction((tx) =>
      tx
        .updateTable('hosts')
        .set({ facts: JSON.stringify({ containment: { runtimes }, databases }) })
        .execute(),
    )
  const made = async (name: string, order: object = {}) => {
    const { status, body } = await owner.call('POST', '/v1/sites', { name, ...order })
    return [status, body.data?.phpVersion ?? body.errors]
  }

  test('is the account’s default, or the newest that its host runs if it does not run that', async () => {
    expect(await made('usual')).toEqual([201, '8.3'])
    await hostRuns({ '8.1': 'native', '8.2': 'native', '8.3': 'refused' })
    expect(await made('served')).toEqual([201, '8.2'])
    await owner.call('PUT', '/v1/account', { php_version: '8.1' })
    expect(await made('by-account')).toEqual([201, '8.1'])
    await hostRuns({ '8.1': 'refused', '8.2': 'native', '8.3': 'native' })
    expect(await made('not-by-account')).toEqual([201, '8.3'])
  })

  test('of a shop is one that has MariaDB, if the host has one', async () => {
    const runtimes = { '8.1': 'wasm', '8.2': 'native', '8.3': 'wasm' }
    await hostRuns(runtimes, { '8.1': 'sqlite', '8.2': 'mariadb', '8.3': 'sqlite' })
    expect(await made('plain')).toEqual([201, '8.3'])
    expect(await made('store', { install: 'woocommerce' })).toEqual([201, '8.2'])
    expect(await made('asked-shop', { install: 'woocommerce', php_version: '8.1' })).toEqual([201, '8.1'])
    await hostRuns(runtimes, { '8.2': 'sqlite' })
    expect(await made('embedded', { install: 'woocommerce' })).toEqual([201, '8.3'])
  })

  test('is the requested one, or the request is refused', async () => {
    await hostRuns({ '8.1': 'native', '8.2': 'native', '8.3': 'refused' })
    expect(await made('asked', { php_version: '8.1' })).toEqual([201, '8.1'])
    expect(await made('refused', { php_version: '8.3' })).toEqual([
      400,
      [expect.stringContaining('PHP 8.3 does not run at all on the host of the site')],
    ])
  })
})
