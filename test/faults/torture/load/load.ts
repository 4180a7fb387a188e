import type { Chance } from '../../../support/seeded.ts'
import type { Ground } from '../ground.ts'

export interface Turn {
  readonly chance: Chance
  /** The number of this worker, from 0. */
  readonly worker: number
  /** Ends the load. Requests in flight are finished. */
  readonly signal: AbortSignal
}

/** One kind of work that clients do while Stead is harmed. */
export interface Load {
  readonly name: string
  readonly workers: number
  /** Works until the signal. */
  run(ground: Ground, turn: Turn): Promise<void>
  /** @returns what is lost, doubled, or wrong once every operation has ended; empty when all is well */
  check(ground: Ground): Promise<string[]>
}
