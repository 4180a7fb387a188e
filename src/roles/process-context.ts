import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import type { StoragePlace } from '../backups/storage/signed-storage.ts'
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
import { type Database, openDatabase } from '../platform/db/database.ts'
import { appliedMigrations, isUnused, knowsAll, migrate } from '../platform/db/migrate.ts'
import { DatabaseLost, databaseLost, describeDatabase, isLost, openFault } from '../platform/db/open-fault.ts'
import { FreeRoom, giveUpReserve } from '../platform/files/free-room.ts'
import { createLog, type Log } from '../platform/log/log.ts'
import type { LogStore } from '../platform/log-store/log-store.ts'
import { openLogStore } from '../platform/log-store/open-log-store.ts'
import { whileRoom } from '../platform/log-store/while-room.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { type Joined, readJoined, tokenCommand } from './certificates/join.ts'
import { keysOfJoined } from './keys/keys-of-joined.ts'
import { keysOfMaster, keysOfRole, type ProcessKeys } from './keys/process-keys.ts'
import { knowsSites } from './known/knows-sites.ts'
import { grantLogins } from './logins/grant-logins.ts'
import { usableDataFolder } from './start/data-folder.ts'
import { untilReachable } from './start/until-reachable.ts'

/** The settings that locate the control database. */
export type ControlDatabaseKey = 'dataDir' | 'databaseUrl'
export type ControlDatabaseSettings = Pick<Config, ControlDatabaseKey>

/** The services that every role gets. */
export interface ProcessContext extends ProcessKeys {
  readonly config: Config
  readonly log: Log
  readonly database: Database
  /** The logs of the sites: web server and PHP. */
  readonly logs: LogStore
  /** The free space on the disk of the data folder. */
  readonly room: FreeRoom
  /** Whether this machine joined, and uses a login of its own that has only the rights of its role. */
  readonly hasOwnLogin: boolean
  /** The bucket for backups of a host that joined and has no credentials: a control signs each request. */
  readonly signedStorage?: StoragePlace
  /**
   * Set if the database was away when the process started. Resolves when it is back, brought up to date, and belongs to
   * the data folder. Rejects with the error that a start would have.
   */
  readonly untilBack?: Promise<void>
}

/** A running role. */
export interface RunningRole {
  /** Resolves when the role must end, because it no longer works properly. */
  readonly fault?: Promise<OperatorError>
  /** Finishes its current work, then ends. */
  stop(): Promise<void>
}

/** The database, brought up to date, and its relation to the data folder. */
export interface ControlDatabase {
  readonly database: Database
  readonly folder: FolderFacts
  /** Facts from the database before it was brought up to date. */
  readonly facts: DatabaseFacts
  readonly belonging: Belonging
}

export interface ControlDatabaseOptions {
  /** Whether to create a missing database. */
  readonly makes: boolean
  /** How to handle a folder and a database that do not belong together. `look` leaves both as they are. */
  readonly strangers: 'refuse' | 'look' | 'adopt'
  /** See `DatabaseOptions`. */
  readonly mayLose?: boolean
  /** Whether to write nothing: the schema and identities stay as they are. */
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

/** Describes the database of the settings, without a password. */
export const describeControlDatabase = (config: ControlDatabaseSettings): string => describeDatabase(databaseOf(config))

/**
 * Opens the database, if it belongs to the data folder. A refusal changes nothing: neither the folder, nor a database
 * that may be older and belong to someone else.
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
  // Before anything is written: even reading requires locks.
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
    // A copy of the database from before identities were introduced still belongs to the folder's installation.
    const wanted = isStranger ? undefined : folder.identity?.installation
    await database.transaction((tx) => identifyInstallation(tx, wanted, Date.now()))
    // Their names contain the identity.
    await grantLogins(database)
    if (!isStranger && folder.identity) await raiseNumbers(database, folder.identity.lastHome)
    return { database, folder, facts, belonging }
  } catch (error) {
    await database?.close().catch(() => {})
    throw openFault(error, where)
  }
}

/** Returns the error for a command that creates nothing and has found nothing. */
export const nothingThere = (config: ControlDatabaseSettings): OperatorError =>
  new NothingThere(
    `No Stead installation found in ${config.databaseUrl ? describeControlDatabase(config) : `${config.dataDir} (no stead.db)`}. Start it first (stead serve), or set its location with STEAD_DATA_DIR or STEAD_DATABASE_URL.`,
  )

/**
 * Opens the data folder and the database, brought up to date. Waits for a database server that is starting, or is not
 * reachable yet. A host or an edge that knows its sites does not wait: see `untilBack`.
 * @throws DatabaseTooNew, OperatorError
 */
export async function openProcessContext(settings: Config, name: string): Promise<ProcessContext> {
  await usableDataFolder(settings.dataDir)
  const log = createLog(settings, name)
  const joined = await joinedAs(settings, { name, log })
  const hasOwnLogin = joined?.databaseUrl !== undefined
  const own = hasOwnLogin ? { ...settings, databaseUrl: joined.databaseUrl } : settings
  const open = () => openOwnControlDatabase(own, name, joined)
  const { database, keys, storage, untilBack } = await openOrAway(own, { name, log, open, joined })
  const config = storage ? { ...own, ...settingsOfPlace(storage) } : own
  try {
    const room = new FreeRoom(config.dataDir, config.diskReserveMb << 20)
    const folder = join(config.dataDir, 'logs')
    const mostBytes = config.logMb * 2 ** 20
    const store = openLogStore({ url: config.databaseUrl, folder, mostBytes, mayReadBack: !hasOwnLogin })
    const logs = config.databaseUrl ? store : whileRoom(store, room)
    const opened = {
      ...{ room, config, log, database, logs, hasOwnLogin, ...keys },
      ...(storage && { signedStorage: storage }),
    }
    return untilBack ? { ...opened, untilBack } : opened
  } catch (error) {
    await database.close()
    throw error
  }
}

interface OpenedDatabase extends Pick<ProcessContext, 'untilBack'> {
  readonly database: Database
  readonly keys: ProcessKeys
  /** Set if a control signs the requests of this host to the storage. */
  readonly storage?: StoragePlace | undefined
}

interface Opening {
  /** The role. */
  readonly name: string
  readonly log: Log
  /** Set if the machine joined as this role, and has no master key. */
  readonly joined: Joined | undefined
  readonly open: () => Promise<OpenedDatabase>
}

async function openOrAway(config: Config, opening: Opening): Promise<OpenedDatabase> {
  const { log, open, joined } = opening
  const keys = config.databaseUrl ? await keysToServeWith(config, opening) : undefined
  if (!keys) return untilReachable(open)
  return open().catch(async (error) => {
    if (!(error instanceof DatabaseLost)) throw error
    log.warn({ reason: error.message }, 'serves what it knew of sites until the database is back')
    const check = async () => (await open()).database.close()
    const untilBack = untilReachable(check, { waitMs: Number.POSITIVE_INFINITY, say: () => {} })
    untilBack.catch(() => {})
    const database = await openDatabase({ ...databaseOf(config), mayBeAway: true })
    const storage = needsStorage(config, joined) ? joined?.storage : undefined
    return { database, keys, storage, untilBack }
  })
}

/** @returns the keys of a process that knows enough to serve visitors without the database */
async function keysToServeWith(config: Config, { name, log, joined }: Opening): Promise<ProcessKeys | undefined> {
  const keys = joined ? joined.keys && keysOfRole(joined.keys) : await keysGiven(config)
  const knows = keys && (await knowsSites({ config, log, sealer: keys.sealer }, name))
  return knows ? keys : undefined
}

async function keysGiven(config: Config): Promise<ProcessKeys | undefined> {
  const key = config.masterKey ?? (await readMasterKey(masterKeyFile(config)))
  return key && keysOfMaster(key)
}

/**
 * Returns how this machine joined, if it uses the keys that it got instead of the master key.
 * @returns with `databaseUrl` only if it also uses the login that it got
 */
async function joinedAs(settings: Config, opening: Pick<Opening, 'name' | 'log'>): Promise<Joined | undefined> {
  const joined = await readJoined(settings.dataDir)
  if (joined?.role !== opening.name) return undefined
  return opening.name === 'host' ? joinedHost(settings, joined, opening.log) : joinedEdge(settings, joined, opening.log)
}

/** An edge with the settings of the control uses all of them. */
function joinedEdge({ databaseUrl, masterKey }: Config, joined: Joined, log: Log): Joined | undefined {
  if (joined.databaseUrl === undefined) return undefined
  if (databaseUrl) {
    log.warn('STEAD_DATABASE_URL is set, so this machine does not use the login that it got when it joined')
    return undefined
  }
  if (masterKey) log.warn('STEAD_MASTER_KEY is set, but this machine does not need it: remove it from its settings')
  return joined
}

/** A host with the settings of the control uses those. With the master key, it runs as one that did not join. */
async function joinedHost(config: Config, joined: Joined, log: Log): Promise<Joined | undefined> {
  const hasMasterKey = (await keysGiven(config)) !== undefined
  const given = config.masterKey ? 'STEAD_MASTER_KEY is set' : `${masterKeyFile(config)} exists`
  if (!config.databaseUrl && (hasMasterKey || joined.databaseUrl === undefined))
    throw new OperatorError(
      joined.databaseUrl === undefined
        ? 'This host has joined an installation. Set STEAD_DATABASE_URL as on the control.'
        : `${given}, but this host does not need the master key: remove it. It has a login of its own for the database.`,
    )
  if (hasMasterKey) {
    if (joined.keys) log.warn(`${given}, but this host does not need the master key: remove it`)
    return undefined
  }
  if (config.backupS3Bucket !== undefined)
    log.warn(
      'STEAD_BACKUP_S3_BUCKET is set, so this host has credentials of the whole storage for backups. Remove the STEAD_BACKUP_S3 settings, and a control signs its requests',
    )
  if (!config.databaseUrl) return joined
  const { databaseUrl: own, ...others } = joined
  if (own !== undefined)
    log.warn(
      'STEAD_DATABASE_URL is set, so this host has all rights in the database. Remove it, and the host uses the login that it got when it joined',
    )
  return others
}

/** Returns whether a machine that joined gets its storage for backups from a control. */
const needsStorage = ({ backupS3Bucket, backupDir }: Config, joined: Joined | undefined): boolean =>
  joined?.role === 'host' && backupS3Bucket === undefined && backupDir === undefined

const settingsOfPlace = ({ bucket, endpoint, region, prefix }: StoragePlace): Partial<Config> => ({
  ...{ backupS3Bucket: bucket, backupS3Region: region, backupS3Prefix: prefix },
  ...(endpoint !== undefined && { backupS3Endpoint: endpoint }),
})

async function openOwnControlDatabase(
  config: Config,
  name: string,
  joined: Joined | undefined,
): Promise<OpenedDatabase> {
  const hasOwnLogin = joined?.databaseUrl !== undefined
  // An edge writes page views and metrics of its budgets, and serves visitors in the same thread.
  const mayLose = name === 'edge'
  const options = { makes: !joined, strangers: 'refuse', mayLose, isReadOnly: hasOwnLogin } as const
  const records = await openControlDatabase(config, options).catch((error) => {
    throw hasOwnLogin ? loginFault(error, joined) : error
  })
  try {
    if (!joined) return { database: records.database, keys: keysOfMaster(await masterKey(config, records)) }
    if (hasOwnLogin) await mustBeUpToDate(records.database)
    const needed = { dataDir: config.dataDir, needsStorage: needsStorage(config, joined) }
    const { keys, storage } = await keysOfJoined(records.database, needed, joined)
    return { database: records.database, keys: keysOfRole(keys), storage: needed.needsStorage ? storage : undefined }
  } catch (error) {
    await records.database.close().catch(() => {})
    throw openFault(error, databaseOf(config))
  }
}

/** Returns what to do when the database refuses the login of a machine that joined. Returns any other error unchanged. */
function loginFault(error: unknown, { role, name }: Joined): unknown {
  const { code } = Object((error as Error).cause) as { code?: string }
  if (!code?.startsWith('28')) return error
  return new OperatorError(
    `The database refuses the login of ${role} ${name}, because it was revoked or replaced. Create a token on a control (${tokenCommand({ role, name })}), and run the command that it prints on this machine.`,
    { cause: error },
  )
}

/** Only controls may migrate. */
async function mustBeUpToDate({ read }: Database): Promise<void> {
  const applied = await appliedMigrations(read)
  const missing = Object.keys(migrations).filter((name) => !applied.includes(name))
  if (missing.length > 0)
    throw new OperatorError(
      `The database belongs to an older version of Stead (without ${missing.join(', ')}). Upgrade the controls first.`,
      { exitCode: 1 },
    )
}

/**
 * Converts the error of a database that is lost while a role starts, because its code is not at fault.
 * @returns the error to end with
 */
export const whileStarting = (error: unknown, config: Config): unknown =>
  isLost(error) ? databaseLost(error, databaseOf(config)) : error

const IF_LOST =
  'If it is permanently lost, run stead key accept. Secrets sealed with the old key can then never be read again.'

/**
 * Returns the key that seals the installation's secrets. The very first start creates it. Stead never replaces it
 * automatically.
 */
async function masterKey(config: Config, { database, facts }: ControlDatabase): Promise<Buffer> {
  const file = masterKeyFile(config)
  const given = config.masterKey ?? (await readMasterKey(file))
  const { keyMark = null } = (await installationOf(database.read)) ?? {}
  // A host has run on it, so it has a key, even if that was before keys left a mark.
  const isInUse = keyMark !== null || facts.hosts.length > 0
  if (!given && isInUse)
    throw new OperatorError(
      `The master key is missing: ${file} does not exist, and this installation has secrets sealed with it. Nothing was changed.\n` +
        `Restore the file from a backup, or set STEAD_MASTER_KEY. ${IF_LOST}`,
    )
  const key = given ?? (await makeMasterKey(file))
  const mark = markOfKey(key)
  if ((keyMark ?? (await database.transaction((tx) => claimKeyMark(tx, mark)))) !== mark)
    throw new OperatorError(
      `${config.masterKey ? 'STEAD_MASTER_KEY' : file} is not the master key of this installation. Its secrets are sealed with another key. ` +
        `Nothing was changed.\nUse the correct key. All processes of an installation have the same key. ${IF_LOST}`,
    )
  return key
}
