import { printableConfig } from '../config.ts'
import type { CommandCall } from './arguments.ts'

/** `stead config`: the settings in force, secrets hidden. */
export async function run({ config, flags }: CommandCall): Promise<number> {
  const entries = printableConfig(config)
  if (flags.json)
    console.log(JSON.stringify(Object.fromEntries(entries.map(({ name, value }) => [name, value])), null, 2))
  else for (const { name, value, help } of entries) console.log(`# ${help}\n${name}=${value}\n`)
  return 0
}
