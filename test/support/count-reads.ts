import type { Database } from '../../src/platform/db/database.ts'

/** Counts statements on the read connection. */
export function countReads({ read }: Database): { count(): number; stop(): void } {
  const executor = read.getExecutor()
  const usual = executor.executeQuery
  let count = 0
  Object.assign(executor, {
    executeQuery(...given: Parameters<typeof usual>) {
      count++
      return usual.apply(executor, given)
    },
  })
  return { count: () => count, stop: () => void Object.assign(executor, { executeQuery: usual }) }
}
