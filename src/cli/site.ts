import { Problem } from '../platform/http/problem.ts'
import { restoreFromTrash, SiteIsLeaving } from '../resources/sites/trash.ts'
import type { RecordsKey } from '../roles/part.ts'
import type { Call } from './command.ts'
import { onRecords } from './ground.ts'
import { CommandError, printOne } from './output.ts'

/** `stead site restore`: an operator's undo of a deletion. */
export async function restore({ config, flags }: Call<{ name: string }, RecordsKey>): Promise<void> {
  const name = flags.name.toLowerCase()
  return onRecords(config, async ({ database }) => {
    const site = await database
      .transaction((tx) => restoreFromTrash(tx, name, Date.now()))
      .catch((error) => {
        throw error instanceof Problem || error instanceof SiteIsLeaving ? new CommandError(error.message) : error
      })
    if (!site) throw new CommandError(`No deleted site named ${name} is in the trash`)
    printOne({ id: site.id, name: site.name, state: site.state }, flags.json)
  })
}
