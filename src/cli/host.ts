import type { Records } from '../roles/part.ts'
import type { CommandCall } from './arguments.ts'
import { onRecords } from './ground.ts'
import { CommandError, printOne, printRows } from './output.ts'

/** `stead host`: the part itself; `stead host list|adopt`: hosts and the data folder of this one. */
export async function run(call: CommandCall): Promise<number | undefined> {
  switch (call.words[0]) {
    case undefined:
      return (await import('../roles/process.ts')).run(call)
    case 'list':
      return list(call)
    case 'adopt':
      return adopt(call)
    default:
      throw new CommandError('stead host, stead host list or stead host adopt. See: stead help host')
  }
}

async function list(call: CommandCall): Promise<number> {
  const { hostsInWords, setAsideInWords } = await import('./hosts.ts')
  const work = async (records: Records) => {
    const [hosts, aside] = await Promise.all([hostsInWords(records), setAsideInWords(call.config.dataDir)])
    if (call.flags.json) return console.log(JSON.stringify({ hosts, set_aside: aside }, null, 2))
    printRows(hosts, false)
    if (records.belonging.kind === 'stranger')
      console.log(`\nThe data folder ${call.config.dataDir} does not belong to this database.`)
    if (aside.length === 0) return
    console.log(`\nSet aside in ${call.config.dataDir}; nothing removes them:`)
    printRows(aside, false)
  }
  return onRecords(call, work, { makes: false, strangers: 'look' })
}

async function adopt(call: CommandCall): Promise<number> {
  const { adoptFolder } = await import('./adopt.ts')
  const { host } = call.flags
  printOne(
    { ...(await adoptFolder(call.config, typeof host === 'string' ? host : undefined)) },
    call.flags.json === true,
  )
  return 0
}
