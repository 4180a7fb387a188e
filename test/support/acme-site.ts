import { insertSite } from '../../src/resources/sites/site.store.ts'
import type { ProcessContext } from '../../src/roles/process-context.ts'
import { siteDraft } from './site-draft.ts'

/** Adds a site on a host that is only an address. */
export async function addSite({ database }: ProcessContext, address: string): Promise<number> {
  const now = Date.now()
  return database.transaction(async (tx) => {
    const texts = { email: 'a@b.test', name: '', organization: '', phone_number: '', plan: 'agency' }
    const account = { ...texts, default_php_version: '8.3', created_at: now }
    const { id: accountId } = await tx.insertInto('accounts').values(account).returning('id').executeTakeFirstOrThrow()
    const host = { name: 'h', address, datacenters: '', max_sites: 1e6, facts: '{}', seen_at: now }
    const { id: hostId } = await tx.insertInto('hosts').values(host).returning('id').executeTakeFirstOrThrow()
    const site = await insertSite(tx, siteDraft('first', { accountId, hostId }), now)
    await tx.updateTable('sites').set({ state: 'live' }).where('id', '=', site.id).execute()
    return site.id
  })
}
