import { hkdfSync } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import type { Config } from '../config.ts'
import { createSealer, masterKeyFromFile, type Sealer } from '../platform/crypto/seal.ts'
import { type Database, openDatabase } from '../platform/db/database.ts'
import { migrate } from '../platform/db/migrate.ts'
import { createLog, type Log } from '../platform/log/log.ts'
import type { LogStore } from '../platform/log-store/log-store.ts'
import { openLogStore } from '../platform/log-store/open-log-store.ts'

/** What every role is given. */
export interface Ground {
  readonly config: Config
  readonly log: Log
  readonly database: Database
  readonly sealer: Sealer
  /** Of the sites: web server and PHP. */
  readonly logs: LogStore
  /** What edges show to hosts. */
  readonly hostKey: string
  /** What edges sign challenges of visitors with. */
  readonly challengeKey: Buffer
}

/** A running role. */
export interface Part {
  /** Finishes what is under way, then ends. */
  stop(): Promise<void>
}

/** Opens the data folder and the database, brought up to date. @throws DatabaseTooNew */
export async function openGround(config: Config, name: string): Promise<Ground> {
  // sites' users pass through it to their own folders, and read nothing else
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  const log = createLog(config.logLevel, name)
  const database = await openDatabase({ url: config.databaseUrl, file: join(config.dataDir, 'stead.db') })
  await migrate(database, migrations)
  const key = config.masterKey ?? (await masterKeyFromFile(join(config.dataDir, 'master.key')))
  const hostKey = Buffer.from(hkdfSync('sha256', key, '', 'stead edge to host', 32)).toString('base64url')
  const challengeKey = Buffer.from(hkdfSync('sha256', key, '', 'stead edge challenge', 32))
  const logs = openLogStore({ url: config.databaseUrl, folder: join(config.dataDir, 'logs') })
  return { config, log, database, sealer: createSealer(key), logs, hostKey, challengeKey }
}
