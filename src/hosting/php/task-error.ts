/** A task failed. The message is PHP's, in a form that users may see. */
export class PhpTaskError extends Error {
  override name = 'PhpTaskError'
  /** The name of the task, for the log. */
  readonly task: string | undefined
  /** Whether WordPress failed to start completely, so that the task itself has done nothing. */
  readonly isEarly: boolean

  constructor(message: string, task?: string, isEarly = false) {
    super(message)
    this.task = task
    this.isEarly = isEarly
  }
}
