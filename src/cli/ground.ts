import { openRecords, type Records, type RecordsOptions } from '../roles/part.ts'
import type { CommandCall } from './arguments.ts'
import { CommandError } from './output.ts'

/** Runs a command's work on the database that the settings name, and closes it. No command makes a folder or a database by itself. */
export async function onRecords(
  call: CommandCall,
  work: (records: Records) => Promise<void>,
  options: RecordsOptions = { makes: false, strangers: 'refuse' },
): Promise<number> {
  const records = await openRecords(call.config, options)
  try {
    await work(records)
    return 0
  } finally {
    await records.database.close()
  }
}

/** The value of a flag that a command cannot do without. */
export function needed({ command, flags }: CommandCall, name: string): string {
  const value = flags[name]
  if (typeof value !== 'string' || value === '')
    throw new CommandError(`--${name} is needed. See: stead help ${command}`)
  return value
}

export function optional({ flags }: CommandCall, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}
