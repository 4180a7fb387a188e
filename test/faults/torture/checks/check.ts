import type { Ground } from '../ground.ts'

/** A rule that holds whatever happened. */
export interface Check {
  readonly name: string
  /** @returns what breaks the rule; empty when it holds */
  run(ground: Ground): Promise<string[]>
}
