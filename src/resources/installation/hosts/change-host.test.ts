import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import { siteDraft } from '../../../../test/support/site-draft.ts'
import { knownRoles } from '../../../certificates/role-certificates.store.ts'
import { isNewestStart, reportHost } from '../../../hosting/host.store.ts'
import { makeAccount } from '../../account/account.ts'
import { insertSite } from '../../sites/site.store.ts'
import { markLost, markRemoved, markReturned, setCordoned } from './change-host.ts'

describe.each(dialects)('an operator’s changes of a host on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
    await made.database.transaction(async (tx) => {
      await makeAccount(tx, { email: 'a@example.com', plan: 'High Traffic', now: 1 })
      for (const name of ['h1', 'h2'])
        await tx
          .insertInto('hosts')
          .values({ name, address: '', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 })
          .execute()
    })
  })
  afterEach(() => made?.drop())

  const report = (hostId: number) => made.database.transaction((tx) => reportHost(tx, { hostId, epoch: 0 }, {}))
  const change = async (by: typeof markLost, name: string) =>
    made.database
      .transaction((tx) => by(tx, name, 5))
      .then(
        ({ state }) => state as string,
        (error) => error.message as string,
      )
  const cordon: typeof markLost = (tx, name, now) => setCordoned(tx, name, true, now)
  const uncordon: typeof markLost = (tx, name, now) => setCordoned(tx, name, false, now)

  test('a cordoned host reports and keeps running, and an unknown one is refused', async () => {
    expect(await change(cordon, 'h1')).toBe('cordoned')
    expect(await report(1)).toBe(true)
    expect(await change(uncordon, 'h1')).toBe('active')
    expect(await change(cordon, 'h9')).toBe('We could not locate the requested resources.')
  })

  // On SQLite everything is one machine, and no host takes over from another.
  test.skipIf(dialect === 'sqlite')(
    'refuses to mark a host lost while it reports, and while there is no other host',
    async () => {
      expect(await change(markLost, 'h1')).toMatch(/^No other host can take its sites/)
      await report(2)
      await report(1)
      expect(await change(markLost, 'h1')).toMatch(/^h1 is running: it reported in the last ten seconds/)
      await made.database.transaction((tx) => tx.updateTable('hosts').set({ seen_at: 0 }).where('id', '=', 1).execute())
      const certify = (name: string) => ({ ...{ serial: name, role: 'host' as const, name }, ...lasting })
      const lasting = { issued_at: 1, expires_at: 9, revoked_at: null }
      const certificates = ['h1', 'h2'].map(certify)
      await made.database.transaction((tx) => tx.insertInto('role_certificates').values(certificates).execute())
      await change(cordon, 'h1')
      expect((await knownRoles(made.database.read, 5)).revoked).toEqual([])
      expect(await change(markLost, 'h1')).toBe('lost')
      expect((await knownRoles(made.database.read, 5)).revoked).toEqual(['h1'])
      // It can no longer report, and learns at once that it must stop.
      expect(await report(1)).toBe(false)
      expect(await isNewestStart(made.database.read, { hostId: 1, epoch: 0 })).toBe(false)
      // Repeating it does no harm, and starts no second evacuation while one is queued.
      expect(await change(markLost, 'h1')).toBe('lost')
      const rounds = made.database.read.selectFrom('operations').select('id').where('type', '=', 'hosts.evacuate')
      expect((await rounds.execute()).length).toBe(1)
      expect(await change(cordon, 'h1')).toMatch(/^h1 is marked lost\. To use it again/)
      expect(await change(markReturned, 'h1')).toBe('active')
      expect(await report(1)).toBe(true)
      expect(await change(markReturned, 'h1')).toBe('h1 is not marked lost. It is active.')
    },
  )

  test.skipIf(dialect === 'sqlite')('refuses to remove a host while it runs or has a site', async () => {
    await report(1)
    expect(await change(markRemoved, 'h1')).toMatch(/^h1 is running/)
    await made.database.transaction((tx) => insertSite(tx, siteDraft('shop', { hostId: 2 }), 1))
    expect(await change(markRemoved, 'h2')).toMatch(/^h2 still has sites/)
    await made.database.transaction(async (tx) => {
      await tx.updateTable('hosts').set({ seen_at: 0 }).execute()
      await tx.updateTable('sites').set({ host_id: 1 }).execute()
    })
    expect(await change(markRemoved, 'h2')).toBe('removed')
    expect(await change(cordon, 'h2')).toMatch(/^We could not locate/)
  })
})
