import type { Chance } from '../../../support/seeded.ts'
import type { Ground } from '../ground.ts'

/** One kind of failure that Stead must survive. */
export interface Harm {
  readonly name: string
  /** How many of 60 harms with kills are of this kind. Harms without a kill are extra. */
  readonly share: number
  /** How many kills it counts as. */
  readonly kills: 0 | 1
  /** Takes seconds, while other harms continue. */
  readonly isSlow?: boolean
  /** Why it is not possible here. */
  missing?(ground: Ground): string | undefined
  run(ground: Ground, chance: Chance): Promise<void>
}

export const parts = ['control', 'host', 'edge'] as const
