import { writeFile } from 'node:fs/promises'
import { createMariaDbContent } from '../../hosting/mariadb/content/mariadb-content.ts'
import { contentByDirectory } from '../../hosting/mariadb/content-by-directory.ts'
import { databaseKindOf } from '../../hosting/php/choose-runtime.ts'
import type { PhpPool } from '../../hosting/php/pool/pool.ts'
import { type PhpRuntime, type PhpVersion, phpVersions, versionForAll } from '../../hosting/php/runtime.ts'
import { type DatabaseContent, type SitePlace, withSnapshot } from '../../hosting/site-database/database-content.ts'
import type { DatabaseKind } from '../../hosting/site-database/database-kind.ts'
import { createSqliteContent } from '../../hosting/site-database/sqlite-content.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import type { ProcessContext } from '../process-context.ts'
import type { MariaDb } from './mariadb.ts'

/** Returns the runtimes and the kinds of databases for sites of each PHP version. */
export function whatIsServed(
  config: Pick<ProcessContext['config'], 'runtime'>,
  runtime: PhpRuntime,
  { ofDirectories }: MariaDb,
) {
  const { runtimes } = runtime.containment()
  const hasWasm = config.runtime !== 'native'
  const databaseKindFor = (version: PhpVersion) => databaseKindOf(runtimes, version, ofDirectories !== undefined)
  const phpVersion = versionForAll(runtimes)
  const usable = phpVersions.filter((version) => runtimes[version] !== 'refused')
  const databases = Object.fromEntries(usable.map((version) => [version, databaseKindFor(version)]))
  return {
    facts: { hasWasm, databases },
    runs: { hasWasm, databaseKindFor, containment: () => runtime.containment() },
    /** The kinds of prepared site directories. */
    kinds: [...new Set([phpVersion, ...usable].map(databaseKindFor))],
    /** The defaults for everything that is prepared ahead. */
    usual: { phpVersion, databaseKind: databaseKindFor(phpVersion) },
  }
}

/** Opens the access to databases of sites as a whole. */
export function openDatabases(context: ProcessContext, pool: PhpPool, { databases, ofDirectories }: MariaDb) {
  const { sandbox, diskReserveMb } = context.config
  const keepFreeBytes = keptFromSites(diskReserveMb << 20)
  const sqlite = createSqliteContent({ pool, sandbox, keepFreeBytes })
  const mariadb = databases && createMariaDbContent({ databases, pool, keepFreeBytes })
  const databaseContent = (kind: DatabaseKind): DatabaseContent => {
    const content = { sqlite, mariadb }[kind]
    if (content) return content
    throw new Error('MariaDB is turned off on this host (STEAD_MARIADB)')
  }
  return {
    doors: { siteDatabase: contentByDirectory(sqlite, mariadb), databaseContent },
    dumpTemplate: ofDirectories && dumpToFile(sandbox),
  }
}

/** Returns a function that dumps the database of a site directory in which nothing runs. */
function dumpToFile(sandbox: ProcessContext['config']['sandbox']): (place: SitePlace, file: string) => Promise<void> {
  const alone = { between: <Result>(_siteId: number, work: () => Promise<Result>) => work() }
  const sqlite = createSqliteContent({ pool: alone, sandbox })
  return (place, file) =>
    withSnapshot(sqlite, place, (snapshot) => writeFile(file, snapshot.dump(), { mode: 0o600, flush: true }))
}
