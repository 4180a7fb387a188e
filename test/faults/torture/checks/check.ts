import type { Ground } from '../ground.ts'

/** A rule that holds whatever was done. */
export interface Check {
  readonly name: string
  /** @returns what breaks it, in words; empty when it holds */
  run(ground: Ground): Promise<string[]>
}
