import type { Tx } from '../../platform/db/database.ts'
import type { Change } from '../change.ts'
import type { installMuPlugin } from './bring-mu-plugin.job.ts'
import { changeMuPlugin, hostForWork } from './mu-plugin.store.ts'
import type { MuPlugin } from './mu-plugin.ts'

/** Starts work on a plugin, after what is under way with it. */
export async function startWork(
  context: Change & { readonly tx: Tx },
  plugin: MuPlugin,
  job: typeof installMuPlugin,
): Promise<void> {
  const { tx } = context
  const { id, accountId, operationId } = plugin
  const about = { accountId, hostId: (await hostForWork(tx, accountId)) ?? null }
  const after = operationId === null ? [] : [operationId]
  const started = await context.start(job, { pluginId: id }, { about, after })
  await changeMuPlugin(tx, id, { operation_id: started })
}
