import type { Chance } from '../../../support/seeded.ts'
import type { Ground } from '../ground.ts'

/** One thing that happens to Stead. */
export interface Harm {
  readonly name: string
  /** How many of 60 harms with kills are of this kind; others come on top. */
  readonly share: number
  /** How many kills one counts as. */
  readonly kills: 0 | 1
  /** Takes seconds, during which the others go on. */
  readonly isSlow?: boolean
  /** Why it cannot be done here. */
  missing?(ground: Ground): string | undefined
  run(ground: Ground, chance: Chance): Promise<void>
}

export const parts = ['control', 'host', 'edge'] as const
