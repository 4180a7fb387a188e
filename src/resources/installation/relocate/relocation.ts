import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import { PageMarks } from '../../../hosting/php/same-page.ts'
import type { DatabaseChange, DatabaseTotals } from '../../../hosting/site-database/database-sums.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findRunningHost } from './relocation.store.ts'

/** Input of the operation that moves a site to another host. It runs on the host that has the site. */
export const RelocateOrder = Type.Object({ siteId: Type.Integer(), toHostId: Type.Integer() })
export type RelocateOrder = Type.Static<typeof RelocateOrder>

const copied = { directoryId: Type.Integer(), siteId: Type.Integer(), siteName: Type.String() }
const firstFiles = {
  ...copied,
  /** Name of the file backup in the repository of the site. */
  files: Type.String(),
}

/** A copy of a site that is served elsewhere, as input of an operation. */
export const Copied = Type.Object(copied)

/** Input of the work of the new host while the site is open. */
export const FirstContent = Type.Object({
  ...firstFiles,
  /** Name of the database backup in the repository of the site, if the copy can be brought level with it later. */
  database: Type.Optional(Type.String()),
  /** Sums of what it contains. */
  totals: Type.Optional(Type.Unsafe<DatabaseTotals>(Type.Object({}))),
  /** Whether nothing follows, because nobody changes the site: it is deleted. */
  isComplete: Type.Optional(Type.Boolean()),
})
export type FirstContent = Type.Static<typeof FirstContent>

/** Input of its work while the site is closed. */
export const WholeContent = Type.Object({
  ...firstFiles,
  /** Name of the database backup in the repository of the site, or of the dump of what has changed. */
  database: Type.String(),
  /** The changes since the copy was filled. Without it, the backup is complete. */
  change: Type.Optional(Type.Unsafe<DatabaseChange>(Type.Object({}))),
  /** The host that has the site. */
  fromHostId: Type.Integer(),
  /** The homepage there. Null if it could not be requested. */
  page: Type.Union([PageMarks, Type.Null()]),
})
export type WholeContent = Type.Static<typeof WholeContent>

/** How often the old host reads how far the new one is. */
const LOOK_EVERY_MS = 100

/**
 * Waits until an operation on the new host has succeeded, and reports its progress.
 * @throws PermanentFailure when it has failed, or when that host stopped reporting
 */
export async function awaitNewHost(
  { services, input, signal, progress }: StepContext<RelocateOrder, HostServices>,
  operationId: number,
): Promise<void> {
  const { read } = services.database
  for (;;) {
    const operation = await findOperation(read, operationId)
    if (operation?.state === 'succeeded') return
    if (!operation || operation.finishedAt !== null)
      throw new PermanentFailure(operation?.error ?? 'The work on the new host was canceled')
    if (!(await findRunningHost(read, input.toHostId)))
      throw new PermanentFailure('The new host stopped reporting during the move')
    progress(operation.progress / 100)
    await pause(LOOK_EVERY_MS, undefined, { signal })
  }
}

/** Returns the context for each of several works that run at the same time. The step's progress is their average. */
export function sharing<Of extends Pick<StepContext, 'progress' | 'progressBytes'>, const Names extends string>(
  context: Of,
  names: readonly Names[],
): Readonly<Record<Names, Of>> {
  const done = new Map<string, number>()
  const contexts = names.map((name) => {
    const progress = (fraction: number) => {
      done.set(name, Math.max(fraction, done.get(name) ?? 0))
      context.progress([...done.values()].reduce((all, each) => all + each, 0) / names.length)
    }
    const progressBytes = (doneBytes: number, total: number) => progress(total > 0 ? doneBytes / total : 0)
    return [name, { ...context, progress, progressBytes }]
  })
  return Object.fromEntries(contexts)
}

/** Waits for all, also when one fails, so that nothing runs while a step is rolled back. @throws the first error */
export async function settleAll<const Results extends readonly unknown[]>(
  works: { readonly [At in keyof Results]: Promise<Results[At]> },
): Promise<Results> {
  for (const outcome of await Promise.allSettled(works)) if (outcome.status === 'rejected') throw outcome.reason
  return (await Promise.all(works)) as unknown as Results
}
