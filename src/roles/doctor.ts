import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { migrations } from '../../migrations/index.ts'
import type { Call } from '../cli/command.ts'
import { masterKeyOf } from '../cli/with-control-database.ts'
import type { SettingKey } from '../config.ts'
import { masterKeyFile } from '../platform/crypto/master-key.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import { appliedMigrations } from '../platform/db/migrate.ts'
import { lockFile } from '../platform/files/lock-file.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { InstallationCheck } from '../resources/installation/installation-check.ts'
import { readJoined } from './certificates/join.ts'
import type { FoundRecords } from './checks/check.ts'
import { LIMIT_MS, runChecks } from './checks/run-checks.ts'
import { NothingThere, openControlDatabase } from './process-context.ts'
import { serveLock } from './start/free-port.ts'

/** The roles of `stead serve`, which all run together. */
const roles = new Set(['control', 'host', 'edge', 'dns'])

/** Runs `stead doctor`, which reports problems and their solutions. Changes nothing. */
export async function doctor({ config, flags }: Call<unknown, SettingKey>): Promise<void> {
  const [records, runs] = await Promise.all([inTime(findRecords(config)), isServed(config.dataDir)])
  const running = runs ? roles : 'stopped'
  const found = await runChecks({ config, records, running, asksOutside: true, now: Date.now })
  console.log(flags.json ? JSON.stringify(found, null, 2) : describeFindings(found))
  // A request that did not finish in time would keep the process running.
  process.exit(found.some(({ state }) => state === 'problem') ? 1 : 0)
}

const WITHOUT_KEY =
  'This machine joined without the master key. To check the control database, run stead doctor on the machine of a control.'

const isWithoutKey = async ({ dataDir, masterKey }: Call<unknown, SettingKey>['config']): Promise<boolean> =>
  !masterKey && !existsSync(masterKeyFile({ dataDir })) && (await readJoined(dataDir)) !== undefined

async function findRecords(config: Call<unknown, SettingKey>['config']): Promise<FoundRecords> {
  try {
    const { database } = await openControlDatabase(config, { makes: false, strangers: 'refuse', isReadOnly: true })
    const isOld = (await appliedMigrations(database.read)).length < Object.keys(migrations).length
    if (isOld) return { kind: 'none', why: 'The next start migrates the control database. It was not checked.' }
    if (await isWithoutKey(config)) return { kind: 'none', why: WITHOUT_KEY }
    return { kind: 'open', database, sealer: createSealer(await masterKeyOf(config, database)) }
  } catch (error) {
    if (error instanceof NothingThere) return { kind: 'none', why: 'Stead has not been started yet.' }
    return { kind: 'fault', error }
  }
}

function inTime(work: Promise<FoundRecords>): Promise<FoundRecords> {
  const error = new OperatorError('The control database does not respond. Check STEAD_DATABASE_URL and the network.')
  return Promise.race([work, pause<FoundRecords>(LIMIT_MS, { kind: 'fault', error }, { ref: false })])
}

/** Returns whether `stead serve` runs on the data folder. */
async function isServed(dataDir: string): Promise<boolean> {
  const file = serveLock(dataDir)
  if (!existsSync(file)) return false
  const unlock = await lockFile(file, { shared: true }).catch(() => () => {})
  unlock?.()
  return unlock === undefined
}

const labels = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM', skipped: 'skipped' } as const

function describeFindings(found: readonly InstallationCheck[]): string {
  const lines = found.map(({ area, state, text, remedy }) => {
    const head = `${labels[state].padEnd(8)} ${area.padEnd(13)}`
    return `${head}${text}${remedy === null ? '' : `\n${' '.repeat(head.length)}${remedy}`}`
  })
  const count = (wanted: InstallationCheck['state']) => found.filter(({ state }) => state === wanted).length
  const amount = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
  return [...lines, '', `${amount(count('problem'), 'problem')}, ${amount(count('warning'), 'warning')}.`].join('\n')
}
