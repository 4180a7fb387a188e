import type { Records, RecordsKey } from '../roles/part.ts'
import { adoptFolder } from './adopt.ts'
import type { Call } from './command.ts'
import { onRecords } from './ground.ts'
import { hostsInWords, setAsideInWords } from './hosts.ts'
import { printOne, printRows } from './output.ts'

/** `stead host list` */
export async function list({ config, flags }: Call<unknown, RecordsKey>): Promise<void> {
  const work = async (records: Records) => {
    const [hosts, aside] = await Promise.all([hostsInWords(records), setAsideInWords(config.dataDir)])
    if (flags.json) return console.log(JSON.stringify({ hosts, set_aside: aside }, null, 2))
    printRows(hosts, false)
    if (records.belonging.kind === 'stranger')
      console.log(`\nThe data folder ${config.dataDir} does not belong to this database.`)
    if (aside.length === 0) return
    console.log(`\nQuarantined in ${config.dataDir}. Stead does not remove these directories:`)
    printRows(aside, false)
  }
  return onRecords(config, work, { makes: false, strangers: 'look' })
}

/** `stead host adopt` */
export async function adopt({ config, flags }: Call<{ host: string | undefined }, RecordsKey>): Promise<void> {
  printOne({ ...(await adoptFolder(config, flags.host)) }, flags.json)
}
