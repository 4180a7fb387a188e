import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../config.ts'
import { nameOfSite } from '../../../hosting/site-directories/directory.store.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import type { StepContext } from '../../../platform/operations/definition.ts'
import { isPaused } from '../../../platform/operations/pause.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import { someOf } from '../../../platform/some-of.ts'
import { changeOfJob } from '../../kit/change.ts'
import { holdDeletedSite, holdSite } from '../../sites/public.ts'
import { openRelocation } from '../relocate/relocation.store.ts'
import { requestDeletedRelocation, requestRelocation } from '../relocate/request-relocation.ts'

export interface MovingServices {
  readonly config: Config
  readonly database: Database
}

/** A site that is to move. */
export interface WantedMove {
  readonly siteId: number
  /** Name of the new host. Default: the one with the most room. */
  readonly to?: string | undefined
  /** Whether the site is in the trash. */
  readonly isDeleted?: true
}

interface Stay {
  readonly move: WantedMove
  readonly reason: string
}

const keyOf = ({ siteId, isDeleted }: WantedMove): string => `${siteId}${isDeleted ? ' deleted' : ''}`

/** Whether a move may begin: now, later, or no more. */
export type Turn = 'now' | 'later' | 'never'

export interface MovesOfMany {
  /** Returns the sites that are left, in the order of their moves. It is read again after each move. */
  wanted(): Promise<readonly WantedMove[]>
  /** Sites that move at the same time. */
  readonly atOnce: number
  /** Default: always now. */
  turn?(now: number): Turn
}

/** What became of the sites. */
export interface MovedMany {
  readonly moved: number
  readonly staying: number
  /** Names the first sites that stay, and why. */
  readonly warning?: string
}

/** Default of {@link MovesOfMany.atOnce}. */
export const MOVES_AT_ONCE = 2
/** How often it reads how far the moves are. */
const LOOK_EVERY_MS = 250
/** How often it looks while no move may begin. */
const WAIT_MS = 5000
/** How often a paused operation reads whether it continues. */
const PAUSED_MS = 500
/** Sites that the result names. */
const MOST_NAMED = 5

type Context = StepContext<unknown, MovingServices>

/**
 * Moves sites to other hosts, each with an operation of its own. A site that cannot move stays, and the others follow.
 * It may run again: sites that have moved are wanted no more, and moves that run are followed. While it is paused, it
 * begins no move, and does not end.
 */
export async function moveEach(context: Context, { wanted, atOnce, turn }: MovesOfMany): Promise<MovedMany> {
  const { services, operationId, signal, now, progress } = context
  const { read } = services.database
  /** Why sites stay. A site that is restored from the trash is another one. */
  const staying = new Map<string, Stay>()
  /** Sites that move, by operation. */
  const moving = new Map<number, WantedMove>()
  let moved = 0
  for (;;) {
    const all = await wanted()
    const begun = new Set([...moving.values()].map(keyOf))
    const left = all.filter((move) => !staying.has(keyOf(move)) && !begun.has(keyOf(move)))
    const waits = await isPaused(read, operationId)
    const may = waits ? 'later' : (turn?.(now()) ?? 'now')
    while (may === 'now' && moving.size < atOnce) {
      const next = left.shift()
      if (!next) break
      const operation = await beginMove(context, next)
      if (operation === 'paused') break
      if (typeof operation === 'number') moving.set(operation, next)
      else if (operation) staying.set(keyOf(next), { move: next, reason: operation.reason })
    }
    if (may === 'never') for (const move of left) staying.set(keyOf(move), { move, reason: 'the deadline has passed' })
    if (moving.size === 0 && !waits && (may !== 'later' || left.length === 0))
      return { moved, ...(await describe(read, stillThere(staying, all))) }
    progress(moved / (moved + Math.max(1, all.length)))
    if (moving.size === 0) await pause(waits ? PAUSED_MS : WAIT_MS, undefined, { signal })
    else moved += await awaitOne(context, moving, staying)
  }
}

/** Waits until a move ends. @returns how many sites have moved */
async function awaitOne(
  { services, signal }: Context,
  moving: Map<number, WantedMove>,
  staying: Map<string, Stay>,
): Promise<number> {
  const before = moving.size
  let moved = 0
  while (moving.size === before) {
    await pause(LOOK_EVERY_MS, undefined, { signal })
    for (const [operationId, move] of moving) {
      const operation = await findOperation(services.database.read, operationId)
      if (operation && operation.finishedAt === null) continue
      moving.delete(operationId)
      if (operation?.state === 'succeeded') moved++
      else staying.set(keyOf(move), { move, reason: operation?.error ?? 'its move was canceled' })
    }
  }
  return moved
}

/** @returns the operation, or why the site stays, or undefined if it is gone */
async function beginMove(
  context: Context,
  { siteId, to, isDeleted }: WantedMove,
): Promise<number | { readonly reason: string } | 'paused' | undefined> {
  const { services, accountId, operationId } = context
  try {
    return await context.transaction(async (tx) => {
      // The transaction holds the operation, so nobody can pause it before the move has begun.
      if (await isPaused(tx, operationId)) return 'paused'
      const site = await (isDeleted ? holdDeletedSite(tx, siteId) : holdSite(tx, siteId))
      if (!site) return undefined
      // Begun before a crash, or by the operator.
      const open = await openRelocation(tx, siteId)
      if (open !== undefined) return open
      const order = { host: to, config: services.config, accountId: accountId as number }
      const change = changeOfJob(tx, context)
      if (isDeleted) return requestDeletedRelocation(tx, site, order, change)
      return (await requestRelocation(tx, site, order, change)).operationId
    })
  } catch (error) {
    if (error instanceof Problem) return { reason: error.message }
    throw error
  }
}

/** Returns the sites that stay, without deleted ones whose time in the trash ended meanwhile. */
function stillThere(staying: ReadonlyMap<string, Stay>, all: readonly WantedMove[]): readonly Stay[] {
  const wanted = new Set(all.map(keyOf))
  return [...staying].flatMap(([key, stay]) => (!stay.move.isDeleted || wanted.has(key) ? [stay] : []))
}

async function describe(tx: Tx, staying: readonly Stay[]): Promise<Omit<MovedMany, 'moved'>> {
  if (staying.length === 0) return { staying: 0 }
  const named = await Promise.all(
    staying.slice(0, MOST_NAMED).map(async ({ move: { siteId, isDeleted }, reason }) => {
      const name = (await nameOfSite(tx, siteId)) ?? siteId
      return `${name}${isDeleted ? ', deleted' : ''} (${reason.replace(/\.$/, '')})`
    }),
  )
  const some = someOf(named, MOST_NAMED, { count: staying.length })
  return { staying: staying.length, warning: `Sites that stay where they are: ${some}` }
}
