import type { ask } from './ask.ts'
import type { Terminal } from './show.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The streams and variables of a command: of the process, or a test. */
export interface CommandContext {
  readonly environment: Environment
  readonly out: Terminal
  readonly err: Terminal
  /** Whether there is a person to ask. */
  readonly isInteractive: boolean
  readonly ask?: typeof ask
}
