import { CompiledQuery } from 'kysely'
import { isPostgres, type Tx } from './database.ts'

/** What a query builder offers that can be compiled. */
interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

/**
 * A query that is built once and run often: building a select with subqueries takes ten times as long as running it.
 * @param build makes the query for some arguments; it must use each as a value only, never decide by it
 */
export function precompiled<Args extends readonly (number | string)[], Row>(
  build: (tx: Tx, ...args: Args) => Compilable<Row>,
): (tx: Tx, ...args: Args) => Promise<Row[]> {
  const plans: Partial<Record<'sqlite' | 'postgres', { sql: string; slots: (number | { value: unknown })[] }>> = {}
  return async (tx, ...args) => {
    const dialect = isPostgres(tx) ? 'postgres' : 'sqlite'
    plans[dialect] ??= planOf(build, tx, args.length)
    const { sql, slots } = plans[dialect]
    const values = slots.map((slot) => (typeof slot === 'number' ? args[slot] : slot.value))
    const { rows } = await tx.executeQuery<Row>(CompiledQuery.raw(sql, values))
    return rows
  }
}

/** Arguments that nothing else can be mistaken for find their places among the parameters. */
function planOf<Args extends readonly (number | string)[], Row>(
  build: (tx: Tx, ...args: Args) => Compilable<Row>,
  tx: Tx,
  arity: number,
) {
  const marks = Array.from({ length: arity }, () => new Date(Number.NaN)) as unknown as Args
  const { sql, parameters } = build(tx, ...marks).compile()
  const slots = parameters.map((value) => {
    const index = marks.indexOf(value as Args[number])
    return index < 0 ? { value } : index
  })
  return { sql, slots }
}
