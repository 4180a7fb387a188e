import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentPlace, type DatabaseSnapshot, withSnapshot } from '../../../hosting/site-database/database-content.ts'
import {
  changeBetween,
  type DatabaseChange,
  type DatabaseSums,
  type DatabaseTotals,
  totalsOf,
} from '../../../hosting/site-database/database-sums.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { resultOfStep } from '../../../platform/operations/steps-of.ts'
import { type CreatedUndoPoint, forgetUnfinished, keepUndoPoint, siteOwner } from '../../backups/public.ts'
import type { HostServices } from '../../kit/host-services.ts'
import type { RelocateOrder } from './relocation.ts'

/*
 * How the old host passes the database of a site that moves. It takes a backup while the site is open, and sums up what
 * that has. When the site is closed, it sums up again, and writes only what differs.
 */

/**
 * Sums and changes are in the rows of operations, and the site decides how many tables it has. Beyond this many
 * characters, which about 4,000 tables need, the new host gets the whole closed database.
 */
const MOST_STATED = 256 * 1024

const isStated = (facts: DatabaseTotals | DatabaseChange): boolean => JSON.stringify(facts).length <= MOST_STATED

/** File in the site directory, out of the site's reach. */
const SUMS = 'database-sums'

/** Backup of the database of the open site. */
export interface DatabaseAhead extends CreatedUndoPoint {
  /** Null if this kind of database has no sums. */
  readonly totals: DatabaseTotals | null
}

/** The part of the closed site's database that the new host gets. */
export type DatabaseBehind =
  | CreatedUndoPoint
  | {
      /** Name of the dump in the repository of the site. */
      readonly name: string
      readonly change: DatabaseChange
    }

type Context<Results = unknown> = StepContext<RelocateOrder, HostServices, Results>

async function placeOf({ services, input }: Pick<Context, 'services' | 'input'>) {
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) throw new PermanentFailure('The site has no site directory on this host')
  return contentPlace(input.siteId, directory)
}

/** Backs up the database of the open site. */
export async function keepAhead(context: Context): Promise<DatabaseAhead> {
  const file = join((await placeOf(context)).siteDirectory, SUMS)
  await rm(file, { force: true })
  let totals: DatabaseTotals | null = null
  async function within(snapshot: DatabaseSnapshot): Promise<void> {
    const sums = await snapshot.sums?.()
    const found = sums && totalsOf(sums)
    if (!found || !isStated(found)) return
    totals = found
    await writeFile(file, JSON.stringify(sums), { mode: 0o600 })
  }
  const point = await keepUndoPoint(context, context.input.siteId, 'db', { isTried: false, within })
  return { ...point, totals }
}

/** Backs up what has changed in the database of the closed site, or all of it if the new host cannot use the changes. */
export async function keepBehind(
  context: Context<{ ask_files: { operationId: number }; copy_database?: DatabaseAhead | null }>,
): Promise<DatabaseBehind> {
  const { services, input, operationId, results, signal } = context
  const place = await placeOf(context)
  const all = () => keepUndoPoint(context, input.siteId, 'db', { isTried: false })
  const received = await resultOfStep(services.database.read, results.ask_files.operationId, 'database')
  const before = (received as { isLevel?: boolean } | undefined)?.isLevel
    ? await readSums(place.siteDirectory)
    : undefined
  if (!before) return all()
  const kept = await withSnapshot(services.siteDatabase, place, async (snapshot) => {
    const now = await snapshot.sums?.(before)
    if (!now) return undefined
    const change = changeBetween(before, now)
    if (!isStated(change)) return undefined
    const { whole, parts } = change
    const name = behindOf(operationId)
    const repository = services.backups.repository(siteOwner(input.siteId))
    // A dump of an earlier attempt shows another moment.
    if (context.attempt > 1) await repository.remove(name)
    await repository.writeStream(snapshot.dump({ tables: [...whole, ...Object.keys(parts)], parts, signal }), {
      name,
      signal,
    })
    return { name, change }
  })
  // After that snapshot: it takes another one.
  return kept ?? all()
}

async function readSums(siteDirectory: string): Promise<DatabaseSums | undefined> {
  const text = await readFile(join(siteDirectory, SUMS), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as DatabaseSums)
}

/** Removes what {@link keepAhead} has left beside the site. */
export async function forgetSums(context: Pick<Context, 'services' | 'input'>): Promise<void> {
  const directory = await context.services.siteDirectories.ofSite(context.input.siteId)
  if (directory) await rm(join(directory.path, SUMS), { force: true })
}

/** Removes what {@link keepBehind} has written, which nobody can use without the copy. */
export async function forgetBehind(context: Pick<Context, 'services' | 'input' | 'operationId' | 'transaction'>) {
  const { services, input, operationId } = context
  await services.backups.repository(siteOwner(input.siteId)).remove(behindOf(operationId))
  await forgetUnfinished(context, input.siteId)
}

/** Returns the name of the database dump that an operation passes to the new host. */
export const behindOf = (operationId: number): string => `behind-${operationId}`
