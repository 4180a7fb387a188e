/*
 * Whatever somebody else decides the size or number of (bytes, requests, entries, files, streams) counts against a budget. The
 * words:
 *
 * budget  how much there may be of one thing in one process: all together, and for one key.
 * key     whose it is: a site's id, a visitor's address (see `addressKey`), an application's id.
 * share   what one body, stream or answer has taken, given back as a whole when it ends.
 *
 * All budgets of a process stand in one table (`src/budgets.ts`) and in `docs/design/limits.md`.
 */

/** One row of the table of budgets. */
export interface BudgetTerms {
  /** As `/metrics` names it: words joined by `_`. */
  readonly name: string
  /** What counts, for the documentation. */
  readonly what: string
  /** Bytes of memory, bytes on a disk, or a number of things. */
  readonly of: 'memory' | 'disk' | 'count'
  readonly whose: 'site' | 'address' | 'application' | 'account'
  /** What one key may have. */
  readonly each: number
  /** What all keys of the process may have together. */
  readonly all: number
  /** What happens to who wants more. */
  readonly over: string
}

export type BudgetKey = string | number

/** What one thing has taken of a budget. */
export interface Share {
  readonly amount: number
  /** @returns false, and nothing is taken, when the key or all together would have more than they may */
  take(amount: number): boolean
  /** Gives a part back. */
  give(amount: number): void
  /** Gives all of it back; may be called again. */
  free(): void
}

/** How full a budget is. */
export interface BudgetMetrics {
  readonly name: string
  readonly used: number
  readonly limit: number
  /** What the key that has most has, and what it may have. */
  readonly largestShare: number
  readonly shareLimit: number
  /** How often somebody wanted more since the start. */
  readonly refusals: number
}

/** Counts what is in use. Costs one look into a map a change. */
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

  /** Begins a share of nothing. */
  share(key: BudgetKey): Share {
    return new OneShare(this, key)
  }

  /** As {@link Share.take}, for who counts himself what he has to give back. */
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

  /** The key that has most: who has to go first when room is needed. */
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

  /** A key that has nothing is not remembered: visitors' addresses have no end. */
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

/** Budgets by the names that the table gives them. */
export type Budgets<Name extends string> = Readonly<Record<Name, Budget>>

/** Opens all budgets of a table. */
export function openBudgets<Name extends string>(table: Readonly<Record<Name, BudgetTerms>>): Budgets<Name> {
  const entries = Object.entries(table) as [Name, BudgetTerms][]
  return Object.fromEntries(entries.map(([name, terms]) => [name, new Budget(terms)])) as Budgets<Name>
}

export const figuresOf = (budgets: Budgets<string>): BudgetMetrics[] =>
  Object.values(budgets).map((budget) => budget.metrics())
