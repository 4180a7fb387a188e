import { Problem } from '../platform/http/problem.ts'
import { restoreFromTrash, SiteIsLeaving } from '../resources/sites/trash.ts'
import type { CommandCall } from './arguments.ts'
import { needed, onRecords } from './ground.ts'
import { CommandError, printOne } from './output.ts'

/** `stead site restore`: an operator's undo of a deletion. */
export async function run(call: CommandCall): Promise<number> {
  if (call.words[0] !== 'restore') throw new CommandError('stead site restore. See: stead help')
  const name = needed(call, 'name').toLowerCase()
  return onRecords(call, async ({ database }) => {
    const site = await database
      .transaction((tx) => restoreFromTrash(tx, name, Date.now()))
      .catch((error) => {
        throw error instanceof Problem || error instanceof SiteIsLeaving ? new CommandError(error.message) : error
      })
    if (!site) throw new CommandError(`No deleted site named ${name} is in the trash`)
    printOne({ id: site.id, name: site.name, state: site.state }, call.flags.json === true)
  })
}
