import type { ControlDatabase, ControlDatabaseKey } from '../roles/process-context.ts'
import type { Call } from './command.ts'
import { describeHosts, describeQuarantined } from './hosts.ts'
import { adoptFolder } from './installation/adopt.ts'
import { printOne, printRows } from './output.ts'
import { withControlDatabase } from './with-control-database.ts'

/** `stead host list` */
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

/** `stead host adopt` */
export async function adopt({ config, flags }: Call<{ host: string | undefined }, ControlDatabaseKey>): Promise<void> {
  printOne({ ...(await adoptFolder(config, flags.host)) }, flags.json)
}
