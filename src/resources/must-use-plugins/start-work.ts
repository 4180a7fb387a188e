import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Change } from '../kit/change.ts'
import type { installMuPlugin } from './bring-mu-plugin.job.ts'
import { changeMuPlugin, hostForWork } from './mu-plugin.store.ts'
import type { MuPlugin } from './mu-plugin.ts'
import { problems } from './problems.ts'

/**
 * Starts work on a plugin, after any that is in progress.
 * @throws Problem `no_host_yet`
 */
export async function startWork(
  context: Change & { readonly tx: Tx },
  plugin: MuPlugin,
  job: typeof installMuPlugin,
): Promise<void> {
  const { tx } = context
  const { id, accountId, operationId } = plugin
  const hostId = await hostForWork(tx, accountId)
  if (hostId === undefined) throw new Problem(problems.no_host_yet, {})
  const about = { accountId, hostId }
  const after = operationId === null ? [] : [operationId]
  const started = await context.start(job, { pluginId: id }, { about, after })
  await changeMuPlugin(tx, id, { operation_id: started })
}
