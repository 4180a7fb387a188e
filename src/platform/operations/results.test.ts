import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { enqueue } from './enqueue.ts'
import { oneStep } from './harness.ts'
import { forgetResult, recordResults, resultsOfOperation } from './results.ts'

describe.each(dialects)('results of an operation on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
  })
  afterEach(() => made?.drop())

  test('forgets only the result of one thing of a site at its next attempt', async () => {
    const id = await made.database.transaction((tx) =>
      enqueue(
        tx,
        oneStep(() => {}),
        {},
        { accountId: null },
      ),
    )
    const all = [
      { siteId: 1, subject: 'forms', outcome: 'failed', message: null },
      { siteId: 1, subject: 'mail', outcome: 'updated', message: null },
      { siteId: 2, subject: 'forms', outcome: 'failed', message: null },
    ]
    await made.database.transaction(async (tx) => {
      await recordResults(tx, id, all)
      await forgetResult(tx, id, { siteId: 1, subject: 'forms' })
    })
    const left = await resultsOfOperation(made.database.read, id)
    expect(left.map(({ siteId, subject }) => [siteId, subject])).toEqual([
      [1, 'mail'],
      [2, 'forms'],
    ])
  })
})
