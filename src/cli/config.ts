import { printableConfig, type SettingKey } from '../config.ts'
import type { Call } from './command.ts'

/** `stead config`: the settings in force, secrets hidden. */
export async function print({ config, flags }: Call<unknown, SettingKey>): Promise<void> {
  const entries = printableConfig(config)
  if (flags.json)
    console.log(JSON.stringify(Object.fromEntries(entries.map(({ name, value }) => [name, value])), null, 2))
  else for (const { name, value, help } of entries) console.log(`# ${help}\n${name}=${value}\n`)
}
