import { expect, test } from 'vitest'
import { testApi } from '../../../../test/support/api.ts'
import { findSite } from '../../sites/site.store.ts'
import type { Site } from '../../sites/site.ts'
import type { RestoreOrder } from './restore.ts'
import { tellOfRestore } from './restore-mail.ts'

test('mails the owner and the requester how a restore ended, why, and what to do, and only once if they are the same person', async (context) => {
  const api = await testApi('sqlite')
  context.onTestFinished(() => api.close())
  const [owner, friend] = [await api.person('owner@example.com'), await api.person('friend@example.com')]
  const site = (await findSite(api.database.read, await api.site(owner, 'my-shop'))) as Site
  const mails = async () => {
    const rows = api.database.read.selectFrom('operations').select('input').where('type', '=', 'mail.send')
    return (await rows.orderBy('id').execute()).map(({ input }) => JSON.parse(input as string))
  }
  const tell = (askedById: number, outcome: { what: string } | { reason: string; state: string }) =>
    api.database.transaction((tx) => tellOfRestore(tx, { site, order: { askedById } as RestoreOrder, outcome, now: 1 }))
  await tell(owner.accountId, { what: 'its files of yesterday' })
  const [done, ...others] = await mails()
  expect([done.to, done.subject, others]).toEqual(['owner@example.com', 'my-shop was restored', []])
  expect(done.text).toContain('The site my-shop was restored: its files of yesterday. It is open to visitors.')
  expect(done.text).toContain('You can undo the restore for 7 days. Open the backups of the site:')
  expect(done.text.trim()).toMatch(new RegExp(`/#/sites/${site.id}/backups$`))
  await owner.call('PUT', '/v1/account/branding', { name: 'Northlight', reply_to: 'hello@example.com' })
  await tell(friend.accountId, { reason: 'the disk is full', state: 'Nothing was changed' })
  const failed = (await mails()).slice(1)
  expect(failed.map(({ to }) => to).toSorted()).toEqual(['friend@example.com', 'owner@example.com'])
  // The owner knows whose mail it is.
  expect(failed.map(({ to, senderName, replyTo }) => [to, senderName, replyTo]).toSorted()).toEqual([
    ['friend@example.com', 'Northlight', 'hello@example.com'],
    ['owner@example.com', undefined, undefined],
  ])
  for (const { subject, text } of failed) {
    expect(subject).toBe('my-shop could not be restored')
    expect(text).toContain('The site my-shop could not be restored: the disk is full.')
    expect(text).toContain('Nothing was changed. To try again, open the backups of the site:')
  }
})
