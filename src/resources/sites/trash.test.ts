import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { markDeleted } from './site.store.ts'
import { restoreFromTrash } from './trash.ts'

describe.each(dialects)('the trash on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  test('a site does not come back under a name that another one has by now', async () => {
    const { read, transaction } = api.database
    const lost = await api.site(owner, 'wanted-site')
    await transaction(async (tx) => {
      const home = { host_id: 1, site_id: lost, core_version: '6.8', install: 'wordpress', created_at: 1 }
      await tx
        .insertInto('site_homes')
        .values({ ...home, state: 'taken' })
        .execute()
      await markDeleted(tx, lost, 1)
    })
    await api.site(owner, 'wanted-site')
    await expect(transaction((tx) => restoreFromTrash(tx, 'wanted-site', 2))).rejects.toMatchObject({
      code: 'name_taken',
    })
    expect(await read.selectFrom('activity').select('id').execute()).toEqual([])
  })
})
