import { OperatorError } from '../platform/operator-error.ts'

/** A command line that does not say what is to be done: the message names what is wrong with it, and what may have been meant. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError'
  /** What may have been meant instead, if something is near enough. */
  readonly suggestion: string | undefined

  constructor(message: string, suggestion?: string) {
    super(suggestion === undefined ? message : `${message}\nDid you mean ${suggestion}?`)
    this.suggestion = suggestion
  }
}
