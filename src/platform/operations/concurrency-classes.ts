import type { Definitions } from './definition.ts'

/** Types of operations that a worker may take up now, and how many of them together. */
export interface ConcurrencyClass {
  readonly types: readonly string[]
  readonly most: number
}

/**
 * All types without a limit of their own, then each that has one and has not reached it.
 * @param running what the worker is at
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
