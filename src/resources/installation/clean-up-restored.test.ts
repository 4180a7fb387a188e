/** Tests of a restored control database next to a storage that is newer. */
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import type { SourceEntry } from '../../backups/backup-store.ts'
import { siteOwner } from '../backups/backup.ts'
import { backupIn, DUMP, nameIn, store } from '../backups/backups.fixture.ts'
import { cleanUpRestored } from './clean-up-restored.ts'

const NOW = 5_000_000

describe.each(dialects)('a restored control database, on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  /** Creates a site with a site directory, according to the database. */
  const site = async (name: string) => {
    const id = await api.site(owner, name)
    await api.home(id)
    return id
  }
  const dump = (siteId: number, name: string) =>
    api.backups.repository(siteOwner(siteId)).writeStream(Readable.from([Buffer.from(DUMP)]), { name })
  const files = (siteId: number, name: string) => {
    const entry: SourceEntry = { kind: 'folder', path: 'a', mode: 0o755, mtimeMs: 1 }
    return api.backups.repository(siteOwner(siteId)).writeTree(Readable.from([entry]), { name })
  }
  const cleanUp = () => api.database.transaction((tx) => cleanUpRestored(tx, api.backups, NOW))
  const backups = (siteId: number) =>
    api.database.read.selectFrom('backups').select(['id', 'kind', 'name']).where('site_id', '=', siteId).orderBy('id')

  test('requests each site and closes it until it is recovered, and names sites without backups and unknown ones', async () => {
    const [whole, half, bare] = [await site('whole'), await site('half'), await site('bare')]
    await api.site(owner, 'homeless')
    const known = await backupIn(api, whole)
    await store(api, whole, known)
    const lost = await backupIn(api, whole)
    await files(whole, 'b700')
    await dump(half, 'b701')
    await dump(whole + 500, 'b802')
    await api.database.transaction((tx) => tx.updateTable('zone_clock').set({ made_with: 'of before' }).execute())
    expect(await cleanUp()).toEqual({ sites: 3, withoutBackup: ['half', 'bare'], unknown: [whole + 500] })
    // Name servers rebuild their zones.
    expect(await api.database.read.selectFrom('zone_clock').select('made_with').execute()).toEqual([{ made_with: '' }])
    expect((await backups(whole).execute()).map(({ id }) => id)).toEqual([known, 700])
    expect(await backups(half).execute()).toMatchObject([{ id: 701, kind: 'db', name: 'b701' }])
    expect(lost).toBeGreaterThan(known)
    const asked = await api.database.read
      .selectFrom('operations')
      .select(['id', 'site_id'])
      .where('type', '=', 'site.bring_back')
      .orderBy('site_id')
      .execute()
    expect(asked.map(({ site_id }) => site_id)).toEqual([whole, half, bare])
    const closed = api.database.read.selectFrom('sites').select('closed_by').where('closed_by', 'is not', null)
    expect((await closed.orderBy('id').execute()).map(({ closed_by }) => closed_by)).toEqual(asked.map(({ id }) => id))
    // No number is reused, not even one of an unknown site.
    expect(await backupIn(api, whole)).toBe(803)
    expect(await api.site(owner, 'next')).toBe(whole + 501)
  })

  test('a backup whose number another site’s has gets a new one, and keeps its own name', async () => {
    const [first, second] = [await site('first'), await site('second')]
    const known = await backupIn(api, first)
    await store(api, first, known)
    const clashing = `b${known}-00000000000000aa`
    await dump(second, clashing)
    await cleanUp()
    const [entered] = await backups(second).execute()
    expect(entered).toMatchObject({ kind: 'db', name: clashing })
    expect(entered?.id).toBeGreaterThan(known)
    expect((await backups(first).execute()).map(({ id }) => id)).toEqual([known])
    expect(await nameIn(api, entered?.id as number)).toBe(clashing)
  })
})
