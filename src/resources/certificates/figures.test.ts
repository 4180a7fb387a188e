import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { changeName, insertName } from './certificate.store.ts'
import { certificateCounts } from './certificate-counts.store.ts'

describe.each(dialects)('metrics of certificates on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  beforeAll(async () => {
    if (!skip) api = await testApi(dialect)
  })
  afterAll(() => api?.close())

  test.skipIf(skip)(
    'count expired and failing ones, give the next expiry, and ignore those that are never due',
    async () => {
      const { read, transaction } = api.database
      expect(await certificateCounts(read, 100)).toEqual({ ended: 0, failing: 0, firstEndAt: null })
      const siteId = await api.site(await api.person('owner@example.com'), 'figures')
      const never = Number.MAX_SAFE_INTEGER
      const names = [
        { hostName: 'ended.test', dueAt: 1, until: 100 },
        { hostName: 'later.test', dueAt: 1, until: 300 },
        { hostName: 'next.test', dueAt: 1, until: 101 },
        { hostName: 'made-ended.test', dueAt: never, until: 50 },
        { hostName: 'made-next.test', dueAt: never, until: 200 },
      ]
      await transaction(async (tx) => {
        for (const { until, ...name } of names) {
          await insertName(tx, { ...name, siteId, now: 1 })
          await changeName(tx, name.hostName, { expires_at: until })
        }
        await changeName(tx, 'later.test', { reason_at: 5 })
      })
      expect(await certificateCounts(read, 100)).toEqual({ ended: 1, failing: 1, firstEndAt: 101 })
      expect(await certificateCounts(read, 101)).toEqual({ ended: 2, failing: 1, firstEndAt: 300 })
    },
  )
})
