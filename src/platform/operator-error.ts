/** What a part ends with whose fault may be over by itself: its supervisor starts it again for as long as it takes (EX_TEMPFAIL). */
export const MAY_PASS = 75

/**
 * A fault of the surroundings that a person can mend: the message says what was found and what to do, for somebody who knows
 * Stead's settings and not its code. It is shown without a stack.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
  /** 2: no restart helps as things stand. 1: it may be well again by itself. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: 1 | 2 } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? 2
  }
}
