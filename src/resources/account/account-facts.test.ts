import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import {
  allApplications,
  endApplication,
  ensurePanelApplicationRow,
  findAccount,
  insertApplication,
  listLiveApplications,
  setDefaults,
  setFacts,
  setPlan,
} from './account.store.ts'

describe.each(dialects)('facts of an account on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  beforeAll(async () => {
    if (!skip) api = await testApi(dialect)
  })
  afterAll(() => api?.close())

  test.skipIf(skip)('are what the operator sets, true or false, and absent ones stay', async () => {
    const { accountId } = await api.person('owner@example.com')
    const say = (facts: Parameters<typeof setFacts>[2]) =>
      api.database.transaction((tx) => setFacts(tx, accountId, facts))
    const facts = () => findAccount(api.database.read, accountId)
    await say({ name: 'Ada', isPreview: true, hasAutomaticUpdates: false })
    expect(await facts()).toMatchObject({ name: 'Ada', isPreview: true, hasAutomaticUpdates: false })
    await say({ isPreview: false, hasAutomaticUpdates: true })
    expect(await facts()).toMatchObject({ name: 'Ada', isPreview: false, hasAutomaticUpdates: true })
  })

  test.skipIf(skip)('belong to that account only, like its plan and its defaults', async () => {
    const [mine, other] = [await api.person('mine@example.com'), await api.person('other@example.com')]
    const before = await findAccount(api.database.read, other.accountId)
    await api.database.transaction(async (tx) => {
      await setFacts(tx, mine.accountId, { name: 'Grace', isAffiliate: true })
      await setDefaults(tx, mine.accountId, { defaultPhpVersion: '8.1', defaultDatacenter: null })
      expect(await setPlan(tx, mine.accountId, 'agency')).toBe(true)
      expect(await setPlan(tx, 999_999, 'agency')).toBe(false)
    })
    const facts = { name: 'Grace', isAffiliate: true, defaultPhpVersion: '8.1', plan: 'agency' }
    expect(await findAccount(api.database.read, mine.accountId)).toMatchObject(facts)
    expect(await findAccount(api.database.read, other.accountId)).toEqual(before)
  })

  test.skipIf(skip)(
    'applications: lists the active ones of one account, without that of the panel, and ends one only once',
    async () => {
      const [mine, other] = [await api.person('with-apps@example.com'), await api.person('without@example.com')]
      const make = (clientId: string, accountId: number, isOwner: boolean) =>
        api.database.transaction((tx) =>
          insertApplication(tx, { accountId, name: clientId, clientId, secretHash: 'x', isOwner, now: 1 }),
        )
      const live = async () =>
        (await listLiveApplications(api.database.read, mine.accountId)).map(({ clientId }) => clientId)
      const revoke = (clientId: string) => api.database.transaction((tx) => endApplication(tx, clientId, 2))
      const before = await live()
      const [own, robot] = [
        await make(`own-${dialect}`, mine.accountId, true),
        await make('robot', mine.accountId, false),
      ]
      await make('stranger', other.accountId, true)
      expect([own.isOwner, robot.isOwner]).toEqual([true, false])
      await api.database.transaction((tx) =>
        ensurePanelApplicationRow(tx, { accountId: mine.accountId, secretHash: 'y', now: 1 }),
      )
      expect(await live()).toEqual([...before, own.clientId, robot.clientId])
      const heard = Promise.withResolvers<void>()
      const end = api.database.changes.subscribe('tokens', heard.resolve)
      expect(await revoke('robot')).toBe(true)
      await heard.promise
      end()
      expect(await revoke('robot')).toBe(false)
      expect(await live()).toEqual([...before, own.clientId])
      const all = await allApplications(api.database.read, mine.accountId)
      expect(all.find(({ clientId }) => clientId === 'robot')?.revokedAt).toBe(2)
      expect(all.map(({ accountId }) => accountId)).toEqual(all.map(() => mine.accountId))
    },
  )
})
