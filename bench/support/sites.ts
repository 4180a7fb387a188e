import { join } from 'node:path'
import { openDatabase } from '../../src/platform/db/database.ts'
import { putRoute } from '../../src/resources/sites/addresses/route.store.ts'
import { insertSite } from '../../src/resources/sites/site.store.ts'
import { siteDraft } from '../../test/support/site-draft.ts'
import type { Stead } from '../../test/support/stead.ts'

/**
 * Adds live sites `idle-0`, `idle-1`, … with routes to the database of a program, running or not. They have records of
 * site directories but no files.
 * @param options.upstream address of a host that answers for them instead of the program's own
 */
export async function addIdleSites(stead: Stead, options: { count: number; upstream?: string }): Promise<void> {
  const database = await openDatabase({ url: undefined, file: join(stead.dataDir, 'stead.db') })
  const now = Date.now()
  await database.transaction(async (tx) => {
    const host = {
      name: 'bench',
      address: options.upstream ?? '',
      datacenters: '',
      max_sites: 0,
      facts: '{"preparing":false}',
      seen_at: now,
    }
    const { id: hostId } = options.upstream
      ? await tx.insertInto('hosts').values(host).returning('id').executeTakeFirstOrThrow()
      : { id: 1 }
    for (let number = 0; number < options.count; number++) {
      const name = `idle-${number}`
      const site = await insertSite(tx, siteDraft(name, { hostId }), now)
      await putRoute(tx, site.id, `${name}.localhost`, now)
      await tx
        .updateTable('sites')
        .set({ state: 'live', core_version: '6.8', written_address: `${name}.localhost:${stead.edgePort}` })
        .where('id', '=', site.id)
        .execute()
      const directory = { host_id: hostId, state: 'taken', core_version: '6.8', install: 'wordpress' } as const
      await tx
        .insertInto('site_homes')
        .values({ ...directory, site_id: site.id, created_at: now })
        .execute()
    }
  })
  await database.close()
}
