import type { TestApi } from '../../../test/support/api.ts'
import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'

/** Records that the hosts have Adminer. */
export const withAdminer = ({ database }: TestApi): Promise<unknown> =>
  database.transaction((tx) => tx.updateTable('hosts').set({ facts: '{"hasDatabaseAdmin":true}' }).execute())

export const samples: readonly Sample[] = [
  {
    endpoint: 'getDatabaseAdminUrl',
    path: onSite('/cms/dbadmin'),
    roles: ['db_admin_access'],
    prepare: (_, api) => withAdminer(api),
  },
]

export const examples: Examples = {
  async getDatabaseAdminUrl({ api }) {
    await withAdminer(api)
    return {}
  },
}
