import type { Chance } from '../../../support/seeded.ts'
import type { Ground } from '../ground.ts'

export interface Turn {
  readonly chance: Chance
  /** Which of the load's workers, from 0. */
  readonly worker: number
  /** Ends the load; what is under way is finished. */
  readonly signal: AbortSignal
}

/** One kind of work that somebody does while Stead is harmed. */
export interface Load {
  readonly name: string
  readonly workers: number
  /** Works until the signal. */
  run(ground: Ground, turn: Turn): Promise<void>
  /** What of it is lost, doubled or wrong, once everything has settled: empty when all is well. */
  check(ground: Ground): Promise<string[]>
}
