/*
 * Everything whose size or number others decide (bytes, requests, entries, files, streams) counts against a budget. The
 * terms:
 *
 * budget  the limit for one thing in one process: for all keys together, and for one key.
 * key     the owner: a site's id, a visitor's address (see `addressKey`), an application's id.
 * share   the amount that one body, stream or answer has taken, returned as a whole when it ends.
 *
 * All budgets of a process are in one table (`src/budgets.ts`) and in `docs/design/limits.md`.
 */

/** One row of the table of budgets. */
export interface BudgetTerms {
  /** The name in `/metrics`: words joined by `_`. */
  readonly name: string
  /** The counted thing, for the documentation. */
  readonly what: string
  /** Bytes of memory, bytes on a disk, or a number of things. */
  readonly of: 'memory' | 'disk' | 'count'
  readonly whose: 'site' | 'address' | 'application' | 'account'
  /** The limit of one key. */
  readonly each: number
  /** The common limit of all keys of the process. */
  readonly all: number
  /** The consequence for requests beyond the limit. */
  readonly over: string
}

export type BudgetKey = string | number

/** The amount that one thing has taken from a budget. */
export interface Share {
  readonly amount: number
  /** @returns false, without taking anything, if the key's or the common limit would be exceeded */
  take(amount: number): boolean
  /** Returns a part. */
  give(amount: number): void
  /** Returns all of it. May be called again. */
  free(): void
}

/** The usage of a budget. */
export interface BudgetMetrics {
  readonly name: string
  readonly used: number
  readonly limit: number
  /** The usage of the largest key, and the limit of a key. */
  readonly largestShare: number
  readonly shareLimit: number
  /** How often it has refused since the start. */
  readonly refusals: number
}

/** Counts usage. Each change costs one map lookup. */
export class Budget {
  readonly terms: BudgetTerms
  readonly #byKey = new Map<BudgetKey, number>()
  #used = 0
  #refusals = 0

  constructor(terms: BudgetTerms) {
    this.terms = terms
  }

  get used(): number {
    return this.#used
  }

  usedBy(key: BudgetKey): number {
    return this.#byKey.get(key) ?? 0
  }

  /** Begins an empty share. */
  share(key: BudgetKey): Share {
    return new OneShare(this, key)
  }

  /** Does the same as {@link Share.take}, for callers that track the amount themselves. */
  take(key: BudgetKey, amount: number): boolean {
    const { each, all } = this.terms
    const before = this.usedBy(key)
    if (before + amount > each || this.#used + amount > all) {
      this.#refusals++
      return false
    }
    this.#set(key, before + amount)
    this.#used += amount
    return true
  }

  give(key: BudgetKey, amount: number): void {
    const before = this.usedBy(key)
    const given = Math.min(amount, before)
    this.#set(key, before - given)
    this.#used -= given
  }

  /** Returns the key with the highest usage, which must free memory first. */
  largest(): BudgetKey | undefined {
    let largest: [BudgetKey, number] | undefined
    for (const entry of this.#byKey) if (!largest || entry[1] > largest[1]) largest = entry
    return largest?.[0]
  }

  metrics(): BudgetMetrics {
    const { name, all, each } = this.terms
    const key = this.largest()
    return {
      name,
      used: this.#used,
      limit: all,
      largestShare: key === undefined ? 0 : this.usedBy(key),
      shareLimit: each,
      refusals: this.#refusals,
    }
  }

  /** A key without usage is forgotten, because visitors' addresses are unlimited. */
  #set(key: BudgetKey, amount: number): void {
    if (amount > 0) this.#byKey.set(key, amount)
    else this.#byKey.delete(key)
  }
}

class OneShare implements Share {
  readonly #budget: Budget
  readonly #key: BudgetKey
  #amount = 0

  constructor(budget: Budget, key: BudgetKey) {
    this.#budget = budget
    this.#key = key
  }

  get amount(): number {
    return this.#amount
  }

  take(amount: number): boolean {
    if (!this.#budget.take(this.#key, amount)) return false
    this.#amount += amount
    return true
  }

  give(amount: number): void {
    const given = Math.min(amount, this.#amount)
    this.#amount -= given
    this.#budget.give(this.#key, given)
  }

  free(): void {
    this.give(this.#amount)
  }
}

/** Budgets by their names in the table. */
export type Budgets<Name extends string> = Readonly<Record<Name, Budget>>

/** Opens all budgets of a table. */
export function openBudgets<Name extends string>(table: Readonly<Record<Name, BudgetTerms>>): Budgets<Name> {
  const entries = Object.entries(table) as [Name, BudgetTerms][]
  return Object.fromEntries(entries.map(([name, terms]) => [name, new Budget(terms)])) as Budgets<Name>
}

export const figuresOf = (budgets: Budgets<string>): BudgetMetrics[] =>
  Object.values(budgets).map((budget) => budget.metrics())
