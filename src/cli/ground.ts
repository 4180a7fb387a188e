import type { Ground } from '../roles/part.ts'
import { openGround } from '../roles/part.ts'
import type { CommandCall } from './arguments.ts'
import { CommandError } from './output.ts'

/** Runs a command's work on the database that the settings name, and closes it. */
export async function onGround(call: CommandCall, work: (ground: Ground) => Promise<void>): Promise<number> {
  const ground = await openGround({ ...call.config, logLevel: 'warn' }, 'cli')
  try {
    await work(ground)
    return 0
  } finally {
    await ground.database.close()
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
