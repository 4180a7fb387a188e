import { type CompiledQuery, sql } from 'kysely'
import { isPostgres, type Tx } from './database.ts'
import { withoutWaiting } from './postgres-dialect.ts'

/** The part of a query builder that can be compiled. */
interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

/**
 * Creates a query that is built once and run often. To build a statement takes several times as long as SQLite takes to
 * run it.
 * @param build builds the query for some values; it must use each only as a value, and never branch on it or calculate
 * with it
 */
export function precompiled<Given extends object, Row>(
  build: (tx: Tx, given: Given) => Compilable<Row>,
): (tx: Tx, given: Given) => Promise<Row[]> {
  const compile = compiler(build)
  return async (tx, given) => (await tx.getExecutor().executeQuery<Row>(compile(tx, given))).rows
}

/**
 * Creates a change inside a transaction that is built once and run often. It fails only through a bug in Stead: see
 * `withoutWaiting`.
 */
export function precompiledChange<Given extends object>(
  build: (tx: Tx, given: Given) => Compilable<unknown>,
): (tx: Tx, given: Given) => Promise<void> {
  const compile = compiler(build)
  return async (tx, given) => {
    const query = compile(tx, given)
    // SQLite has nothing to wait for, and a mark costs as much as a short statement.
    await tx.executeQuery(isPostgres(tx) ? withoutWaiting(query) : query)
  }
}

function compiler<Given extends object, Row>(build: (tx: Tx, given: Given) => Compilable<Row>) {
  const plans: Partial<Record<'sqlite' | 'postgres', Plan>> = {}
  return (tx: Tx, given: Given): CompiledQuery<Row> => {
    const dialect = isPostgres(tx) ? 'postgres' : 'sqlite'
    plans[dialect] ??= planOf(build, tx)
    const { query, slots } = plans[dialect]
    const parameters = slots.map((slot) =>
      'name' in slot ? (given as Record<string, unknown>)[slot.name] : slot.value,
    )
    return { ...query, parameters } as CompiledQuery<Row>
  }
}

interface Plan {
  readonly query: CompiledQuery
  /** Each parameter is one of the given values, or a constant. */
  readonly slots: readonly ({ readonly name: string } | { readonly value: unknown })[]
}

/**
 * A placeholder for a given value while the query is built. The builder accepts it only as a value. Kysely does not
 * promise to pass a date through unchanged. If it ever copies or formats dates, no statement can be built. Then the
 * mark must be another type that Kysely accepts as a value, such as a Buffer.
 */
class Mark extends Date {
  readonly standsFor: string

  constructor(name: string) {
    super(Number.NaN)
    this.standsFor = name
  }
}

function planOf<Given extends object, Row>(build: (tx: Tx, given: Given) => Compilable<Row>, tx: Tx): Plan {
  const asked = new Set<string>()
  const mark = (_target: unknown, name: string | symbol) => {
    asked.add(String(name))
    return new Mark(String(name))
  }
  const query = build(tx, new Proxy({}, { get: mark }) as Given).compile()
  const slots = query.parameters.map((value) => (value instanceof Mark ? { name: value.standsFor } : { value }))
  const used = new Set(slots.map((slot) => ('name' in slot ? slot.name : undefined)))
  // A given value that is missing from its place would otherwise be wrong in every run.
  for (const name of asked)
    if (!used.has(name)) throw new Error(`${name} is not a value of the statement: ${query.sql}`)
  return { query, slots }
}

/** Returns some values as one value of a {@link precompiled} statement, however many they are: see {@link isOneOf}. */
export const listFor = (tx: Tx, values: readonly (number | string)[]): unknown =>
  isPostgres(tx) ? values : JSON.stringify(values)

/**
 * Returns SQL that checks that a column is one of the values of {@link listFor}.
 * @param type the type of the column
 */
export const isOneOf = (tx: Tx, column: string, list: unknown, type: 'bigint' | 'text' = 'bigint') =>
  isPostgres(tx)
    ? sql<boolean>`${sql.ref(column)} = any(${list}::${sql.raw(type)}[])`
    : sql<boolean>`${sql.ref(column)} in (select value from json_each(${list}))`
