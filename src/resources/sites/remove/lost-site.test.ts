import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { subjectsTo } from '../../collaborators/mails.fixture.ts'
import { markDeleted } from '../site.store.ts'
import { tellOfLostSite } from './lost-site.ts'

const DAY_MS = 86_400_000

describe.each(dialects)('a site whose files are missing, on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'shop')
  })
  afterEach(() => api?.close())

  const tell = (now: number) =>
    api.database.transaction((tx) =>
      tellOfLostSite(tx, { siteId, fault: 'its database file is missing', operatorEmail: 'chief@example.com', now }),
    )
  const entries = async () =>
    await api.database.read.selectFrom('activity').select(['action', 'message', 'site_id', 'account_id']).execute()
  const mails = async () => [
    await subjectsTo(api.database, owner.email),
    await subjectsTo(api.database, 'chief@example.com'),
  ]

  test('is reported in its log, and by mail to its owner and the operator, once a day', async () => {
    const entry = {
      action: 'site.lost',
      message: 'The site cannot be served: its database file is missing',
      site_id: siteId,
      account_id: owner.accountId,
    }
    const subject = 'shop cannot be served'
    const other = await api.site(owner, 'other')
    await tell(1)
    await tell(DAY_MS + 1)
    expect(await entries()).toEqual([entry])
    const lost = api.database.read.selectFrom('sites').select('id').where('lost_at', 'is not', null)
    expect(await lost.execute()).toEqual([{ id: siteId }])
    expect(other).not.toBe(siteId)
    expect(await mails()).toEqual([[subject], [subject]])
    await tell(DAY_MS + 2)
    expect(await entries()).toEqual([entry, entry])
    expect(await mails()).toEqual([
      [subject, subject],
      [subject, subject],
    ])
  })

  test('is not reported once it is deleted', async () => {
    await api.database.transaction((tx) => markDeleted(tx, siteId, 1))
    await tell(2)
    expect(await entries()).toEqual([])
    expect(await mails()).toEqual([[], []])
  })
})
