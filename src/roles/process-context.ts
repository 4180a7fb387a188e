import { hkdfSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import type { Config } from '../config.ts'
import { type Belonging, belongingOf, type DatabaseFacts, type FolderFacts } from '../hosting/identity/belonging.ts'
import { databaseMissing, strangers } from '../hosting/identity/faults.ts'
import { folderFacts } from '../hosting/identity/folder.ts'
import {
  claimKeyMark,
  databaseFacts,
  identifyInstallation,
  installationOf,
  raiseNumbers,
} from '../hosting/identity/identity.store.ts'
import { makeMasterKey, markOfKey, masterKeyFile, readMasterKey } from '../platform/crypto/master-key.ts'
import { createSealer, type Sealer } from '../platform/crypto/seal.ts'
import { type Database, openDatabase } from '../platform/db/database.ts'
import { appliedMigrations, isUnused, knowsAll, migrate } from '../platform/db/migrate.ts'
import { databaseLost, describeDatabase, isLost, openFault } from '../platform/db/open-fault.ts'
import { FreeRoom, giveUpReserve } from '../platform/files/free-room.ts'
import { createLog, type Log } from '../platform/log/log.ts'
import type { LogStore } from '../platform/log-store/log-store.ts'
import { openLogStore } from '../platform/log-store/open-log-store.ts'
import { whileRoom } from '../platform/log-store/while-room.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { usableDataFolder } from './data-folder.ts'
import { untilReachable } from './until-reachable.ts'

/** The settings that say where the records are. */
export type ControlDatabaseKey = 'dataDir' | 'databaseUrl'
export type ControlDatabaseSettings = Pick<Config, ControlDatabaseKey>

/** What every role is given. */
export interface ProcessContext {
  readonly config: Config
  readonly log: Log
  readonly database: Database
  readonly sealer: Sealer
  /** What the sealer seals under. */
  readonly masterKey: Buffer
  /** Of the sites: web server and PHP. */
  readonly logs: LogStore
  /** On the disk of the data folder. */
  readonly room: FreeRoom
  /** What edges show to hosts. */
  readonly hostKey: string
  /** What edges sign challenges of visitors with. */
  readonly challengeKey: Buffer
}

/** A running role. */
export interface Role {
  /** Resolves when the part must not go on; nothing of it works as it should any more. */
  readonly fault?: Promise<OperatorError>
  /** Finishes what is under way, then ends. */
  stop(): Promise<void>
}

/** The database, brought up to date, and how the data folder stands to it. */
export interface ControlDatabase {
  readonly database: Database
  readonly folder: FolderFacts
  /** What the database said of itself before it was brought up to date. */
  readonly facts: DatabaseFacts
  readonly belonging: Belonging
}

export interface ControlDatabaseOptions {
  /** An empty database is made where there is none. */
  readonly makes: boolean
  /** What to do about a folder and a database that do not belong together; who only looks leaves both as they are. */
  readonly strangers: 'refuse' | 'look' | 'adopt'
  /** See `DatabaseOptions`. */
  readonly mayLose?: boolean
  /** Nothing is written: the schema stays as it is, and so do identities. */
  readonly isReadOnly?: boolean
}

/** There is nothing to open: Stead has not been started yet. */
export class NothingThere extends OperatorError {
  override readonly name = 'NothingThere'
}

const databaseOf = ({ databaseUrl, dataDir }: ControlDatabaseSettings) => ({
  url: databaseUrl,
  file: join(dataDir, 'stead.db'),
})

/** The database of the settings in words, without a password. */
export const describeControlDatabase = (config: ControlDatabaseSettings): string => describeDatabase(databaseOf(config))

/**
 * Opens the database, if it is the data folder's own. Whoever is refused has changed nothing: neither the folder, nor a database that may be
 * somebody else's and older.
 * @throws DatabaseTooNew, OperatorError
 */
export async function openControlDatabase(
  config: ControlDatabaseSettings,
  options: ControlDatabaseOptions,
): Promise<ControlDatabase> {
  const { dataDir } = config
  const where = databaseOf(config)
  const folder = await folderFacts(dataDir)
  const isMissing = !where.url && !existsSync(where.file)
  if (isMissing && options.strangers !== 'adopt' && (folder.identity || folder.siteDirectories > 0))
    throw databaseMissing(dataDir, folder)
  if (isMissing && !options.makes) throw nothingThere(config)
  // before anything is written: also what only looks has to take locks
  await giveUpReserve(dataDir)
  let database: Database | undefined
  try {
    database = await openDatabase({ ...where, mayLose: options.mayLose === true })
    if (!options.makes && (await isUnused(database))) throw nothingThere(config)
    const facts = await databaseFacts(database)
    const belonging = belongingOf(folder, facts)
    const isStranger = belonging.kind === 'stranger'
    if (isStranger && options.strangers === 'refuse')
      throw strangers(belonging.reason, { dataDir, folder, database: describeControlDatabase(config) })
    if (isStranger && options.strangers === 'look') return { database, folder, facts, belonging }
    if (options.isReadOnly) {
      knowsAll(migrations, await appliedMigrations(database.read))
      return { database, folder, facts, belonging }
    }
    await migrate(database, migrations)
    // a copy of the database from before there were identities is still of the folder's installation
    const wanted = isStranger ? undefined : folder.identity?.installation
    await database.transaction((tx) => identifyInstallation(tx, wanted, Date.now()))
    if (!isStranger && folder.identity) await raiseNumbers(database, folder.identity.lastHome)
    return { database, folder, facts, belonging }
  } catch (error) {
    await database?.close().catch(() => {})
    throw openFault(error, where)
  }
}

/** For who makes nothing and has found nothing. */
export const nothingThere = (config: ControlDatabaseSettings): OperatorError =>
  new NothingThere(
    `No Stead installation found in ${config.databaseUrl ? describeControlDatabase(config) : `${config.dataDir} (no stead.db)`}. Start it first (stead serve), or set its location with STEAD_DATA_DIR or STEAD_DATABASE_URL.`,
  )

/**
 * Opens the data folder and the database, brought up to date. A database server that is starting, or that nobody can reach yet, is
 * waited for.
 * @throws DatabaseTooNew, OperatorError
 */
export async function openProcessContext(config: Config, name: string): Promise<ProcessContext> {
  await usableDataFolder(config.dataDir)
  const log = createLog(config, name)
  const { database, key } = await untilReachable(() => openOwnControlDatabase(config, name))
  try {
    const hostKey = Buffer.from(hkdfSync('sha256', key, '', 'stead edge to host', 32)).toString('base64url')
    const challengeKey = Buffer.from(hkdfSync('sha256', key, '', 'stead edge challenge', 32))
    const room = new FreeRoom(config.dataDir, config.diskReserveMb << 20)
    const folder = join(config.dataDir, 'logs')
    const store = openLogStore({ url: config.databaseUrl, folder, mostBytes: config.logMb * 2 ** 20 })
    const logs = config.databaseUrl ? store : whileRoom(store, room)
    return { room, config, log, database, sealer: createSealer(key), masterKey: key, logs, hostKey, challengeKey }
  } catch (error) {
    await database.close()
    throw error
  }
}

async function openOwnControlDatabase(config: Config, name: string): Promise<{ database: Database; key: Buffer }> {
  // an edge writes page views and figures of its budgets, and answers visitors in the same thread
  const records = await openControlDatabase(config, { makes: true, strangers: 'refuse', mayLose: name === 'edge' })
  try {
    return { database: records.database, key: await masterKey(config, records) }
  } catch (error) {
    await records.database.close().catch(() => {})
    throw openFault(error, databaseOf(config))
  }
}

/** A database that is lost while a part starts is no fault of its code. @returns the error to end with */
export const whileStarting = (error: unknown, config: Config): unknown =>
  isLost(error) ? databaseLost(error, databaseOf(config)) : error

const EGRESS_SOCKET =
  'If it is permanently lost, run stead key accept. Secrets sealed with the old key can then never be read again.'

/** The key that the installation's secrets are sealed under: made by the very first start, and never replaced by itself. */
async function masterKey(config: Config, { database, facts }: ControlDatabase): Promise<Buffer> {
  const file = masterKeyFile(config)
  const given = config.masterKey ?? (await readMasterKey(file))
  const { keyMark = null } = (await installationOf(database.read)) ?? {}
  // a host has run on it: with a key, also when that was before keys left a mark
  const isInUse = keyMark !== null || facts.hosts.length > 0
  if (!given && isInUse)
    throw new OperatorError(
      `The master key is missing: ${file} does not exist, and this installation has secrets sealed with it. Nothing was changed.\n` +
        `Restore the file from a backup, or set STEAD_MASTER_KEY. ${EGRESS_SOCKET}`,
    )
  const key = given ?? (await makeMasterKey(file))
  const mark = markOfKey(key)
  if ((keyMark ?? (await database.transaction((tx) => claimKeyMark(tx, mark)))) !== mark)
    throw new OperatorError(
      `${config.masterKey ? 'STEAD_MASTER_KEY' : file} is not the master key of this installation. Its secrets are sealed with another key. ` +
        `Nothing was changed.\nUse the correct key. All processes of an installation have the same key. ${EGRESS_SOCKET}`,
    )
  return key
}
