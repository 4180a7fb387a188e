/** The exit code of a role whose fault may pass: its supervisor keeps restarting it (EX_TEMPFAIL). */
export const MAY_PASS = 75

/**
 * A fault of the environment that an operator can fix. The message says what was found and what to do, for readers who
 * know Stead's settings but not its code. It is shown without a stack.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
  /** 2: a restart does not help. 1: the fault may pass. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: 1 | 2 } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? 2
  }
}
