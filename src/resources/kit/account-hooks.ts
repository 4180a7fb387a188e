import type { Tx } from '../../platform/db/database.ts'

/** An account that is being removed. Its sites are gone, and nobody can sign in to it. */
export interface LeavingAccount {
  readonly accountId: number
  readonly email: string
  /** The operator's account, which gets what is kept. */
  readonly heirId: number
  /** Milliseconds UTC. */
  readonly now: number
}

/**
 * Functions of a resource for the removal of an account, each in one transaction. A table that refers to accounts needs
 * one (`src/resources/installation/accounts/remove-account.test.ts`).
 */
export interface AccountHooks {
  /**
   * Deletes the oldest rows of a table that may be long, or gives them to the heir.
   * @returns how many rows. It is called until there are none
   */
  readonly emptied?: (tx: Tx, leaving: LeavingAccount, most: number) => Promise<number>
  /** Deletes the other rows. */
  readonly forgotten?: (tx: Tx, leaving: LeavingAccount) => Promise<unknown>
}
