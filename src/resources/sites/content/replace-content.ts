import { contentPlace } from '../../../hosting/site-database/database-content.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { type FailureContext, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { wasUndone } from '../../../platform/operations/steps-of.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { holdSite } from '../site.store.ts'
import type { Site } from '../site.ts'
import { closeForWork, openAfterWork } from '../switches/close-for-work.ts'
import { openSite } from '../switches/closing.store.ts'
import { type PurgeOrder, purgeCaches } from '../switches/purge.store.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

/*
 * Builds the steps of an operation that replaces the content of a site: a restore, a sync, an import, a move, or a
 * WordPress update.
 *
 * The new content is staged next to the site while visitors use it. Then the site is closed, and its content at that
 * moment is kept. The new content is switched in and adapted, and the site opens when its WordPress responds. Until
 * the point of no return has committed, rolling back restores the site. Afterwards nothing rolls back, because visitors
 * have written since, and a retry only cleans up.
 *
 * A definition names its own steps, because names of steps are stored. One name is fixed, because the rollback looks
 * it up: `switch`.
 */

/** Input of such an operation. */
export interface ReplaceOrder {
  readonly siteId: number
}

type Running<Order, Results> = StepContext<Order, HostServices, Results>
/** Context of a rollback. */
export type Undoing<Order = ReplaceOrder, Results = unknown> = StepContext<Order, HostServices, Partial<Results>>

/** Step that a caller supplies. */
export interface SuppliedStep<Order, Results, Result> {
  run(context: Running<Order, Results>): Result | Promise<Result>
  undo?(context: Undoing<Order, Results>): unknown
  readonly weight?: number
}

/**
 * Content that exists twice: one copy is in use, the other is staged or kept next to it. Each function may run again
 * after a crash.
 */
export interface Replaceable<Order, Results> {
  switch(context: Running<Order, Results>, directory: SiteDirectory): Promise<unknown>
  switchBack(context: Undoing<Order, Results>, directory: SiteDirectory): Promise<unknown>
  /** Removes the copy that is not in use. */
  cleanUp(context: Undoing<Order, Results>, directory: SiteDirectory): Promise<unknown>
}

type Context = Pick<StepContext<ReplaceOrder, HostServices>, 'services' | 'input'>

/** Files and database of a site, each staged next to the one in use. */
export const stagedContent = {
  async switch({ services, input }: Context, directory: SiteDirectory): Promise<void> {
    const place = contentPlace(input.siteId, directory)
    await services.siteFiles.switch(place)
    await services.siteDatabase.switch(place)
  },
  async switchBack({ services, input }: Context, directory: SiteDirectory): Promise<void> {
    const place = contentPlace(input.siteId, directory)
    await services.siteFiles.switchBack(place)
    await services.siteDatabase.switchBack(place)
  },
  async cleanUp({ services, input }: Context, directory: SiteDirectory): Promise<void> {
    const place = contentPlace(input.siteId, directory)
    // Files that cannot be removed do not keep the database.
    const outcomes = await Promise.allSettled([services.siteFiles.cleanUp(place), services.siteDatabase.cleanUp(place)])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  },
}

/** @throws PermanentFailure when the site has no site directory on this host */
export async function requireDirectory({ services, input }: Context): Promise<SiteDirectory> {
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) throw new PermanentFailure('The site has no site directory on this host')
  return directory
}

/**
 * Returns the functions that build the steps.
 * @param given.content the content to switch. Default: files and database
 * @param given.isNeeded whether the operation has anything to do, by the results so far. If not, every step is skipped
 */
export function contentReplacement<Order extends ReplaceOrder, Results = unknown>({
  content = stagedContent,
  isNeeded = () => true,
}: {
  readonly content?: Replaceable<Order, Results>
  readonly isNeeded?: (results: Partial<Results>) => boolean
} = {}) {
  const isWanted = ({ results }: Undoing<Order, Results>): boolean => isNeeded(results as Partial<Results>)

  const passing =
    <Result>(run: SuppliedStep<Order, Results, Result>['run']) =>
    async (context: StepContext<Order, HostServices>): Promise<Result> =>
      isWanted(context as Undoing<Order, Results>) ? run(context as Running<Order, Results>) : (null as Result)

  /** Builds a step that runs while visitors use the site. */
  const open = <Result>(part: SuppliedStep<Order, Results, Result>) => ({ ...part, run: passing(part.run) })

  /** Builds a step for a closed site of which no PHP runs. After a crash, the step closes the site again. */
  const closed = <Result>(part: SuppliedStep<Order, Results, Result>) => ({
    ...part,
    run: passing<Result>(async (context) => {
      await closeForWork(context, context.input.siteId)
      return part.run(context)
    }),
  })

  /** Removes staged content, unless it is the earlier content that a failed rollback has left for the next attempt. */
  const forgetStaged = async (context: Undoing<Order, Results>): Promise<void> => {
    const { services, input, operationId } = context
    const directory = await services.siteDirectories.ofSite(input.siteId)
    if (directory && isWanted(context) && (await wasUndone(services.database.read, operationId, 'switch')))
      await content.cleanUp(context, directory)
  }

  const switchBack = async (context: Undoing<Order, Results>): Promise<void> => {
    const { services, input } = context
    const directory = await services.siteDirectories.ofSite(input.siteId)
    if (!isWanted(context) || !directory) return
    await closeForWork(context, input.siteId)
    await content.switchBack(context, directory)
  }

  return {
    open,
    closed,
    staged: <Result>(part: Omit<SuppliedStep<Order, Results, Result>, 'undo'>) => ({
      ...open(part),
      undo: forgetStaged,
    }),

    close: {
      run: passing((context) => closeForWork(context, context.input.siteId)),
      undo: (context: Undoing<Order, Results>) => openAfterWork(context, context.input.siteId),
    },

    /** @param allow rejects, before the switch, what must no longer be switched in */
    switchOver: (allow: (context: Running<Order, Results>) => Promise<unknown> = async () => {}) => ({
      run: passing(async (context) => {
        await allow(context)
        await closeForWork(context, context.input.siteId)
        await content.switch(context, await requireDirectory(context))
      }),
      undo: switchBack,
    }),

    /**
     * Flushes the object cache, which holds old content, and verifies the site. The result is what `verify` returns.
     * @param work text for the log
     */
    answering: <Result>(work: string, verify: (context: Running<Order, Results>) => Promise<Result>) =>
      closed({
        async run(context) {
          const { services, input, log } = context
          const { siteId } = input
          await runSiteTask(services, siteId, 'flush-object-cache', {}, { whileHeld: true }).catch((error) =>
            log.warn({ err: error, siteId }, `could not flush the object cache of a site after ${work}`),
          )
          const result = await verify(context)
          // Visitors stay out until the site's record says that it is open.
          services.pool.release(siteId)
          return result
        },
      }),

    /** Builds the point of no return, a step without a rollback. @param record writes what changed */
    reopening: (
      record: (tx: Tx, context: Running<Order, Results>, site: Site) => Promise<unknown>,
      purges: PurgeOrder = { pages: 'all', files: 'all' },
    ) => ({
      async commit(tx: Tx, given: StepContext<Order, HostServices>): Promise<true> {
        const context = given as Running<Order, Results>
        const { siteId } = context.input
        const site = await holdSite(tx, siteId)
        if (!site || !isWanted(given as Undoing<Order, Results>)) return true
        await record(tx, context, site)
        await openSite(tx, siteId, context.operationId, context.now())
        await purgeCaches(tx, siteId, purges)
        return true
      },
      pointOfNoReturn: true as const,
    }),

    /** Builds the step that removes leftovers. Failures are only logged: the next operation removes them too. */
    cleaningUp: (...others: ((context: Undoing<Order, Results>) => unknown)[]) => ({
      async run(context: Undoing<Order, Results>): Promise<void> {
        const { services, input, log } = context
        const cleanUp = async () => {
          const directory = await services.siteDirectories.ofSite(input.siteId)
          if (directory && isWanted(context)) await content.cleanUp(context, directory)
        }
        services.pool.release(input.siteId)
        for (const each of [cleanUp, ...others])
          try {
            await each(context)
          } catch (error) {
            log.warn({ err: error, siteId: input.siteId }, 'could not remove the leftovers of a content change')
          }
      },
    }),
  }
}

/** How such an operation failed. */
export interface Failed {
  /** Undefined if it was deleted. */
  readonly site: Site | undefined
  /** Without a full stop. */
  readonly reason: string
  /** Whether the site has its earlier content. */
  readonly isRolledBack: boolean
}

/** Opens the site in the transaction that ends a failed or canceled operation. */
export async function openAfterFailure(tx: Tx, context: FailureContext<ReplaceOrder>): Promise<Failed> {
  const { input, operationId, canceled, error, now } = context
  await openSite(tx, input.siteId, operationId, now())
  return {
    site: await holdSite(tx, input.siteId),
    reason: (error ?? (canceled ? 'canceled' : 'unknown')).replace(/\.$/, ''),
    isRolledBack: await wasUndone(tx, operationId, 'switch'),
  }
}
