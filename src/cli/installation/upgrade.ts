import { join } from 'node:path'
import { sql } from 'kysely'
import { aboutMigrations } from '../../../migrations/about.ts'
import { migrations } from '../../../migrations/index.ts'
import type { Tx } from '../../platform/db/database.ts'
import { measureMigrations } from '../../platform/db/measure-migrations.ts'
import { appliedMigrations } from '../../platform/db/migrate.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { timestamp } from '../../platform/http/schemas.ts'
import type { ControlDatabaseKey } from '../../roles/process-context.ts'
import { openControlDatabase } from '../../roles/process-context.ts'
import { version } from '../../version.ts'
import type { Call } from '../command.ts'
import { CommandError, printRows } from '../output.ts'

/** The last migration of the oldest version whose data folders the tests upgrade. */
export const OLDEST_TESTED = '0007-host-counts'

/** Runs `stead upgrade`. @returns 1 when something must be done before the upgrade */
export async function upgrade({ config, flags }: Call<{ check: boolean }, ControlDatabaseKey>): Promise<number> {
  const options = { makes: false, strangers: 'refuse', isReadOnly: true } as const
  const { database } = await openControlDatabase(config, options)
  try {
    if (!flags.check)
      throw new CommandError(
        'Stead upgrades its database when it starts. To see the changes, run stead upgrade --check',
      )
    const applied = await appliedMigrations(database.read)
    requireTested(applied)
    const changes = await measureMigrations(database, join(config.dataDir, 'stead.db'), migrations)
    const backedUpAt = await newestBackup(database.read)
    const isBackedUp = changes.length === 0 || (backedUpAt ?? 0) > Date.now() - DAY_MS
    const where = database.dialect === 'sqlite' ? 'on a copy' : 'in a transaction that was rolled back'
    const found = {
      version,
      records: applied.at(-1) ?? '',
      records_after: Object.keys(migrations).at(-1) as string,
      changes: changes.map(({ name, ms }) => ({ name, ms: Math.ceil(ms), about: aboutMigrations[name] ?? '' })),
      backed_up: backedUpAt === null ? null : timestamp(backedUpAt),
    }
    if (flags.json) console.log(JSON.stringify(found, null, 2))
    else for (const line of describeUpgrade(found, where)) console.log(line)
    if (!isBackedUp)
      console.error('The control database has no backup of the last day. Run stead backup create with the old version.')
    return isBackedUp ? 0 : 1
  } finally {
    await database.close()
  }
}

/**
 * Checks that the tests upgrade a database like this one.
 * @param applied names of migrations, in order
 * @throws CommandError
 */
export function requireTested(applied: readonly string[], all: readonly string[] = Object.keys(migrations)): void {
  const missing = all.slice(0, all.indexOf(applied.at(-1) ?? '') + 1).filter((name) => !applied.includes(name))
  if (missing.length > 0)
    throw new CommandError(
      `The database lacks ${missing.join(', ')}, although it has later changes. No version of Stead created it like this, so no upgrade of it is tested. Restore a backup.`,
    )
  if (!applied.includes(OLDEST_TESTED))
    throw new CommandError(
      `The database ends at ${applied.at(-1)}. Upgrades are tested from ${OLDEST_TESTED} on. Start a version in between first.`,
    )
}

/** Returns when the control database was backed up. Old databases have no record of it. */
const newestBackup = (tx: Tx): Promise<number | null> =>
  sql<{ at: number | null }>`select records_backed_up_at as at from installation where id = 1`.execute(tx).then(
    ({ rows }) => (rows[0]?.at == null ? null : Number(rows[0].at)),
    () => null,
  )

interface FoundUpgrade {
  readonly version: string
  readonly records: string
  readonly records_after: string
  readonly changes: readonly { readonly name: string; readonly ms: number; readonly about: string }[]
  readonly backed_up: string | null
}

function describeUpgrade(
  { version: program, records, records_after, changes, backed_up }: FoundUpgrade,
  where: string,
): string[] {
  if (changes.length === 0) return [`The control database is up to date with Stead ${program}: ${records}.`]
  const rows: string[] = []
  printRows(changes, false, { write: (text) => rows.push(text.trimEnd()) })
  const total = changes.reduce((sum, { ms }) => sum + ms, 0)
  return [
    `Control database now: ${records}`,
    `With Stead ${program}: ${records_after}`,
    `Newest backup of it: ${backed_up ?? 'none'}`,
    '',
    ...rows,
    '',
    `The next start makes these ${changes.length} changes. They took ${total} ms ${where}.`,
  ]
}
