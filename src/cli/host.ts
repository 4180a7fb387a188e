import type { Tx } from '../platform/db/database.ts'
import { Problem } from '../platform/http/problem.ts'
import { markLost, markRemoved, markReturned, setCordoned } from '../resources/installation/hosts/change-host.ts'
import type { ChangedHost } from '../resources/installation/hosts/host-changes.store.ts'
import type { ControlDatabase, ControlDatabaseKey } from '../roles/process-context.ts'
import type { Call } from './command.ts'
import { describeHosts, describeQuarantined } from './hosts.ts'
import { adoptFolder } from './installation/adopt.ts'
import { CommandError, printOne, printRows } from './output.ts'
import { withControlDatabase } from './with-control-database.ts'

/** Runs `stead host list`. */
export async function list({ config, flags }: Call<unknown, ControlDatabaseKey>): Promise<void> {
  const work = async (records: ControlDatabase) => {
    const [hosts, aside] = await Promise.all([describeHosts(records), describeQuarantined(config.dataDir)])
    if (flags.json) return console.log(JSON.stringify({ hosts, set_aside: aside }, null, 2))
    printRows(hosts, false)
    if (records.belonging.kind === 'stranger')
      console.log(`\nThe data folder ${config.dataDir} does not belong to this database.`)
    if (aside.length === 0) return
    console.log(`\nQuarantined in ${config.dataDir}. Stead does not remove these directories:`)
    printRows(aside, false)
  }
  return withControlDatabase(config, work, { makes: false, strangers: 'look' })
}

/** Runs `stead host adopt`. */
export async function adopt({
  config,
  flags,
}: Call<{ host: string | undefined }, ControlDatabaseKey | 'hostName'>): Promise<void> {
  printOne({ ...(await adoptFolder(config, flags.host)) }, flags.json)
}

interface HostName {
  readonly name: string
}

/**
 * Changes one host in one transaction, and prints its new state.
 * @throws CommandError
 */
const changing =
  (by: (tx: Tx, name: string, now: number) => Promise<ChangedHost>) =>
  async ({ config, flags }: Call<HostName, ControlDatabaseKey>): Promise<void> =>
    withControlDatabase(config, async ({ database }) => {
      const { name, state } = await database
        .transaction((tx) => by(tx, flags.name, Date.now()))
        .catch((error) => {
          if (!(error instanceof Problem)) throw error
          const isUnknown = error.status === 404
          throw new CommandError(
            isUnknown ? `No host is named ${flags.name}. To list hosts, run stead host list` : error.message,
          )
        })
      printOne({ name, state }, flags.json)
    })

/** Runs `stead host cordon`. */
export const cordon = changing((tx, name, now) => setCordoned(tx, name, true, now))
/** Runs `stead host uncordon`. */
export const uncordon = changing((tx, name, now) => setCordoned(tx, name, false, now))
/** Runs `stead host return`. */
export const giveBack = changing(markReturned)
/** Runs `stead host remove`. */
export const remove = changing(markRemoved)

/** Runs `stead host lost`. */
export async function lost(call: Call<HostName & { confirm: string }, ControlDatabaseKey>): Promise<void> {
  const { name, confirm } = call.flags
  if (confirm !== name)
    throw new CommandError(`This gives the sites of ${name} to other hosts. To confirm, add --confirm=${name}`)
  await changing(markLost)(call)
  if (call.flags.json) return
  console.log(
    '\nThe control recovers its sites on other hosts from their newest backups, the most visited first. Until then, their visitors get an error.\n' +
      'Sites without a complete backup stay on this host. To follow the progress, run stead host list.',
  )
}
