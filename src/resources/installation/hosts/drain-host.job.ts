import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import type { Config } from '../../../config.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import { durableWith, type FailureContext, type StepContext } from '../../../platform/operations/definition.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import { changeOfJob } from '../../kit/change.ts'
import { findSite, holdSite } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { openRelocation } from '../relocate/relocation.store.ts'
import { requestRelocation } from '../relocate/request-relocation.ts'
import { findHostNamed, sitesByVisits, VISIT_DAYS } from './host-changes.store.ts'

const DrainOrder = Type.Object({
  /** Name of the host. */
  host: Type.String(),
  /** Name of the only host that gets its sites. Default: all that take sites. */
  to: Type.Optional(Type.String()),
})
type DrainOrder = Type.Static<typeof DrainOrder>

interface Services {
  readonly config: Config
  readonly database: Database
}
type Context = StepContext<DrainOrder, Services>

/** Sites that move at the same time. */
const AT_ONCE = 2
/** How often it reads how far they are. */
const LOOK_EVERY_MS = 250
/** Sites that the result names. */
const MOST_NAMED = 5

interface Drained {
  readonly moved: number
  readonly staying: number
  readonly warning?: string
}

/**
 * Moves the sites of a cordoned host to others, least visited first. A site that cannot move stays, and the
 * drain continues with the others. It ends early when the host gets new sites again. A cancellation lets moves finish that have begun.
 */
export const drainHostJob = durableWith<Services>()({
  name: 'host.drain',
  input: DrainOrder,
  on: 'control',
  changeableBy: 'account',
  steps: {
    sites: { run: moveSites },
    done: { commit: record },
  },
  failed: recordFailure,
})

async function moveSites(context: Context): Promise<Drained> {
  const { services, input, signal, now, progress } = context
  const { read } = services.database
  /** Why sites stay, by site. */
  const staying = new Map<number, string>()
  /** Sites that move, by operation. */
  const moving = new Map<number, number>()
  let moved = 0
  for (let hasEnded = true; ; ) {
    if (hasEnded) {
      const host = await findHostNamed(read, input.host)
      const isDraining = host?.state === 'cordoned'
      const sites = host ? (await sitesByVisits(read, host.id, dayOf(now()) - VISIT_DAYS)).reverse() : []
      const left = sites.filter((id) => !staying.has(id) && ![...moving.values()].includes(id))
      while (isDraining && moving.size < AT_ONCE && left.length > 0) {
        const siteId = left.shift() as number
        const begun = await beginMove(context, siteId)
        if (typeof begun === 'number') moving.set(begun, siteId)
        else if (begun) staying.set(siteId, begun)
      }
      if (moving.size === 0) return { moved, ...(await describe(read, staying)) }
      progress(moved / (moved + sites.length))
    }
    await pause(LOOK_EVERY_MS, undefined, { signal })
    hasEnded = false
    for (const [operationId, siteId] of moving) {
      const operation = await findOperation(read, operationId)
      if (operation && operation.finishedAt === null) continue
      hasEnded = true
      moving.delete(operationId)
      if (operation?.state === 'succeeded') moved++
      else staying.set(siteId, operation?.error ?? 'its move was canceled')
    }
  }
}

/** @returns the operation, or why the site stays, or undefined if it is gone */
async function beginMove(context: Context, siteId: number): Promise<number | string | undefined> {
  const { services, input, accountId } = context
  try {
    return await context.transaction(async (tx) => {
      const site = await holdSite(tx, siteId)
      if (!site) return undefined
      // Begun before a crash, or by the operator.
      const open = await openRelocation(tx, siteId)
      if (open !== undefined) return open
      const order = { host: input.to, config: services.config, accountId: accountId as number }
      return (await requestRelocation(tx, site, order, changeOfJob(tx, context))).operationId
    })
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

async function describe(tx: Tx, staying: ReadonlyMap<number, string>): Promise<Omit<Drained, 'moved'>> {
  if (staying.size === 0) return { staying: 0 }
  const named = await Promise.all(
    [...staying].slice(0, MOST_NAMED).map(async ([id, why]) => {
      const site = await findSite(tx, id)
      return `${site?.name ?? id} (${why.replace(/\.$/, '')})`
    }),
  )
  const more = staying.size - named.length
  const rest = more > 0 ? `, and ${more} more` : ''
  return { staying: staying.size, warning: `Sites that stay on the host: ${named.join(', ')}${rest}` }
}

async function record(tx: Tx, context: StepContext<DrainOrder, Services, { sites: Drained }>): Promise<void> {
  const { moved, staying } = context.results.sites
  await changeOfJob(tx, context).record({
    action: actions['host.drained'],
    message: `Sites moved off the host ${context.input.host}: ${moved}. Sites that stayed: ${staying}`,
  })
}

async function recordFailure(tx: Tx, context: FailureContext<DrainOrder>): Promise<void> {
  if (context.canceled) return
  await changeOfJob(tx, context).record({
    action: actions['host.drain_failed'],
    message: `Moving the sites off the host ${context.input.host} failed: ${context.error}`,
  })
}
