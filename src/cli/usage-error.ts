import { OperatorError } from '../platform/operator-error.ts'

/** An invalid command line. The message names the fault, and a suggestion. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError'
  /** A similar valid form, if there is one. */
  readonly suggestion: string | undefined

  constructor(message: string, suggestion?: string) {
    super(suggestion === undefined ? message : `${message}\nDid you mean ${suggestion}?`)
    this.suggestion = suggestion
  }
}
