import type { TestApi } from '../../../test/support/api.ts'

/** Records that the hosts have Adminer. */
export const withAdminer = ({ database }: TestApi): Promise<unknown> =>
  database.transaction((tx) => tx.updateTable('hosts').set({ facts: '{"hasDatabaseAdmin":true}' }).execute())
