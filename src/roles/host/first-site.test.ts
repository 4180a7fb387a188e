import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/support/database.ts'
import { siteDraft } from '../../../test/support/site-draft.ts'
import { registerHost } from '../../hosting/host.store.ts'
import { announce } from '../../platform/db/database.ts'
import { makeAccount } from '../../resources/account/account.ts'
import { insertSite } from '../../resources/sites/site.store.ts'
import { followFirstSite } from './first-site.ts'

test('PHP yields from the moment when the first site is live', async () => {
  const now = Date.now()
  const { database, drop } = await testDatabase('sqlite')
  try {
    const site = await database.transaction(async (tx) => {
      const host = { name: 'one', address: '', datacenters: '', identity: 'i', epoch: 0, maxSites: 1000 }
      const hostId = await registerHost(tx, host)
      const account = await makeAccount(tx, { email: 'one@example.com', plan: 'Personal', now })
      return insertSite(tx, siteDraft('one', { accountId: account.id, hostId }), now)
    })
    const become = (state: 'deploying' | 'live') =>
      database.transaction(async (tx) => {
        await tx.updateTable('sites').set({ state }).where('id', '=', site.id).execute()
        await announce(tx, 'routes')
      })
    await become('deploying')
    const isLive = await followFirstSite({ database })
    expect(isLive()).toBe(false)
    await become('live')
    await expect.poll(isLive).toBe(true)
    expect((await followFirstSite({ database }))()).toBe(true)
  } finally {
    await drop()
  }
})
