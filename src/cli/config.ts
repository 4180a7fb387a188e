import { printableConfig, type SettingKey } from '../config.ts'
import { phpVersions } from '../hosting/php/runtime.ts'
import { missingFor } from '../roles/checks/php.ts'
import type { Call } from './command.ts'

type Config = Call<unknown, SettingKey>['config']

/** Runs `stead config`: prints the effective settings with secrets hidden, and their consequences on this machine. */
export async function print({ config, flags }: Call<unknown, SettingKey>): Promise<void> {
  const entries = printableConfig(config)
  if (flags.json) {
    console.log(JSON.stringify(Object.fromEntries(entries.map(({ name, value }) => [name, value])), null, 2))
    return
  }
  for (const { name, value, help } of entries) console.log(`# ${help}\n${name}=${value}\n`)
  const refusal = await refusalOf(config)
  if (refusal !== undefined) return console.log(`# Stead does not start on this server: ${refusal}`)
  for (const version of phpVersions)
    console.log(`# New sites with PHP ${version} on this server: ${await servedBy(config, version)}`)
}

/** Returns why no host can start with these settings, as far as it can be determined without one. */
async function refusalOf({ mariadb, mariadbUrl }: Config): Promise<string | undefined> {
  if (mariadb !== 'own' || mariadbUrl !== undefined) return undefined
  const { findPrograms } = await import('../hosting/mariadb/server/programs.ts')
  return findPrograms().then(
    () => undefined,
    (error: Error) => error.message,
  )
}

/** Returns what runs new sites. A running host reports the same in `/readyz`. */
async function servedBy(config: Config, version: (typeof phpVersions)[number]): Promise<string> {
  const inWasm = 'PHP in WebAssembly, SQLite'
  if (config.runtime === 'wasm') return inWasm
  const hasMariaDb = config.mariadb === 'own' || config.mariadbUrl !== undefined
  const missing = await missingFor(config, version, hasMariaDb)
  if (missing === undefined && (hasMariaDb || config.runtime === 'native'))
    return `native PHP, ${hasMariaDb ? 'MariaDB' : 'SQLite'}`
  const why = missing ?? 'MariaDB is off (STEAD_MARIADB)'
  return config.runtime === 'native' ? `refused: ${why}` : `${inWasm}: ${why}`
}
