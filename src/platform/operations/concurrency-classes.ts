import type { Definitions } from './definition.ts'

/** Types of operations that a worker may take up now, and the limit for all of them together. */
export interface ConcurrencyClass {
  readonly types: readonly string[]
  readonly most: number
}

/**
 * Returns one class for all types without their own limit, then one for each limited type that has not reached its
 * limit.
 * @param running the operations that the worker runs now
 */
export function openConcurrencyClasses(
  definitions: Definitions,
  running: readonly { readonly type: string }[],
  concurrency: number,
): ConcurrencyClass[] {
  const unlimited: string[] = []
  const limited: ConcurrencyClass[] = []
  for (const { name, atOnce } of definitions.values()) {
    if (atOnce === undefined) unlimited.push(name)
    else {
      const most = atOnce - running.filter(({ type }) => type === name).length
      if (most > 0) limited.push({ types: [name], most })
    }
  }
  return unlimited.length > 0 ? [{ types: unlimited, most: concurrency }, ...limited] : limited
}
