/**
 * The connection was lost between COMMIT and its answer. It is unknown whether the transaction was saved, and it may
 * still be saved in a moment. Callers must not repeat the work because of it. It has no `code`, so that no caller takes
 * it for an error after which PostgreSQL asks to rerun the transaction.
 */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'

  constructor(cause: unknown) {
    super('The connection to the database was lost before it answered a COMMIT', { cause })
  }
}
