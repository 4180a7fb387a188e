import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { findAccount, setFacts } from './account.ts'

describe.each(dialects)('facts of an account on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  beforeAll(async () => {
    if (!skip) api = await testApi(dialect)
  })
  afterAll(() => api?.close())

  test.skipIf(skip)('are what the operator says, yes as well as no; what he does not name stays', async () => {
    const { accountId } = await api.person('owner@example.com')
    const say = (facts: Parameters<typeof setFacts>[2]) =>
      api.database.transaction((tx) => setFacts(tx, accountId, facts))
    const facts = () => findAccount(api.database.read, accountId)
    await say({ name: 'Ada', isPreview: true, hasAutomaticUpdates: false })
    expect(await facts()).toMatchObject({ name: 'Ada', isPreview: true, hasAutomaticUpdates: false })
    await say({ isPreview: false, hasAutomaticUpdates: true })
    expect(await facts()).toMatchObject({ name: 'Ada', isPreview: false, hasAutomaticUpdates: true })
  })
})
