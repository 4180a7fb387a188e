import { expect, test } from 'vitest'
import { testApi } from '../../../../test/support/api.ts'
import type { BackupFacts } from '../../../backups/backup-store.ts'
import { backupIn, nameIn } from '../backups.fixture.ts'
import { backupNumber, reconcileBackups } from './reconcile-backups.ts'

test('reads the number of a backup from its name', () => {
  const names = ['b7', 'b7-0123456789abcdef', 'b0', 'b07', 'core', 'b7-0123', 'xb7']
  expect(names.map(backupNumber)).toEqual([7, 7, undefined, undefined, undefined, undefined, undefined])
})

test('matches a site’s records to its storage, and leaves known backups and unrelated content unchanged', async () => {
  const api = await testApi('sqlite')
  const owner = await api.person('owner@example.com')
  const [siteId, other] = [await api.site(owner, 'first'), await api.site(owner, 'second')]
  const [lost, kept] = [await backupIn(api, siteId), await backupIn(api, siteId)]
  const failed = await backupIn(api, siteId)
  const ofOther = await backupIn(api, other)
  await api.database.transaction((tx) =>
    tx.updateTable('backups').set({ state: 'failed' }).where('id', '=', failed).execute(),
  )
  const facts = (name: string, kind: BackupFacts['kind'] = 'stream') =>
    ({ name, kind, sizeBytes: 7, createdAt: 5000 }) as BackupFacts
  const stored = [
    ...[facts(await nameIn(api, kept)), facts('b900', 'tree'), facts('b901'), facts('templates')],
    facts(`b${ofOther}-00000000000000aa`),
  ]
  const clashing = await api.database.transaction((tx) =>
    reconcileBackups(tx, { siteId, coreVersion: '6.8', now: 9000, stored }),
  )
  // A backup of another site has this number.
  expect(clashing.map(({ name }) => name)).toEqual([`b${ofOther}-00000000000000aa`])
  const rows = await api.database.read
    .selectFrom('backups')
    .select(['id', 'site_id', 'state', 'kind', 'core_version', 'taken_at'])
    .orderBy('id')
    .execute()
  const entered = (id: number, kind: string, core: string | null) => ({
    ...{ id, site_id: siteId, state: 'completed', kind, core_version: core, taken_at: 5000 },
  })
  expect(rows.map(({ id }) => id)).toEqual([kept, failed, ofOther, 900, 901])
  expect(rows.slice(-2)).toEqual([entered(900, 'fs', '6.8'), entered(901, 'db', null)])
  expect(lost).toBeGreaterThan(0)
  await api.close()
})
