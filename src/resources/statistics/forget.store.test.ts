import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { deleteStatisticsOfAccount, foldOldDays } from './forget.store.ts'

describe.each(dialects)('days too old to be kept separately, on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
  })
  afterEach(() => made?.drop())

  test('are merged into one row a site in batches; later days stay, and no view is lost', async () => {
    const { database } = made
    const dayOf = (site_id: number, day: number, views: number) => ({ site_id, day, views, people: views / 10 })
    const days = [dayOf(1, 97, 10), dayOf(1, 98, 20), dayOf(1, 99, 30), dayOf(1, 100, 40), dayOf(2, 98, 50)]
    await database.transaction((tx) => tx.insertInto('page_view_days').values(days).execute())
    const fold = (beforeDay: number) => database.transaction((tx) => foldOldDays(tx, beforeDay, 2))
    const rows = async () =>
      (await database.read.selectFrom('page_view_days').selectAll().orderBy('site_id').orderBy('day').execute()).map(
        ({ site_id, day, views, people }) => [site_id, day, Number(views), Number(people)],
      )
    expect([await fold(100), await fold(100), await fold(100)]).toEqual([2, 2, 0])
    expect(await rows()).toEqual([
      [1, 0, 60, 6],
      [1, 100, 40, 4],
      [2, 0, 50, 5],
    ])
    // The views are added to those of an existing row.
    expect([await fold(101), await fold(101)]).toEqual([1, 0])
    expect(await rows()).toEqual([
      [1, 0, 100, 10],
      [2, 0, 50, 5],
    ])
  })
})

test('those of an account that is removed go, and those of others stay', async () => {
  const made = await testDatabase('sqlite')
  const row = (account_id: number) => ({ account_id, page_views: '{}', refreshed_at: 1 })
  await made.database.transaction(async (tx) => {
    await tx
      .insertInto('account_statistics')
      .values([row(1), row(2)])
      .execute()
    await deleteStatisticsOfAccount(tx, 1)
  })
  expect(await made.database.read.selectFrom('account_statistics').selectAll().execute()).toEqual([row(2)])
  await made.drop()
})
