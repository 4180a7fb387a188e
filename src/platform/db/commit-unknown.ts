/**
 * The connection was lost between COMMIT and its answer: whether the transaction was kept is not known, and it may still be kept
 * in a moment. Nothing may be done again on the strength of it. Has no `code`, so that nobody takes it for an error after which
 * PostgreSQL asks to run the transaction again.
 */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'

  constructor(cause: unknown) {
    super('The connection to the database was lost before it answered a COMMIT', { cause })
  }
}
