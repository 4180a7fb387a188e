import { LRUCache } from 'lru-cache'
import { declareMemory } from '../process-memory.ts'
import { BoundedClient } from './postgres-client.ts'

/** How many statements are prepared on a connection. Others are planned at each run. */
const mostPrepared = 500

/** The names of prepared statements by their text, the same on every connection. */
const names = new Map<string, string>()
let generation = 1
const seenOnce = new LRUCache<string, true>({ max: 1000 })
declareMemory(() => {
  prepareAnew()
  seenOnce.clear()
})

/**
 * A connection that prepares its statements. PostgreSQL then parses and plans a text once per connection instead of at
 * each run, which is most of the work of a short read. It starts at the second run, because a text that never recurs
 * (such as one with a list of ids) is not worth the server's memory.
 */
export class PreparedClient extends BoundedClient {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares a dozen overloads; this one stands for all of them
  override query(query: any, values?: any, ...more: any[]): any {
    const hasValues = typeof query === 'string' && Array.isArray(values) && values.length > 0
    const name = hasValues ? nameOf(query) : undefined
    const run = super.query as (...args: unknown[]) => unknown
    if (!name) return run.call(this, query, values, ...more)
    const result = run.call(this, { name, text: query, values }, ...more) as Promise<unknown> | undefined
    return result?.catch((error) => {
      if (isOutdatedPlan(error)) prepareAnew()
      throw error
    })
  }
}

/**
 * Returns whether an error means that a newer program has changed a table since the statement was prepared. A retry
 * gets a new plan.
 */
export function isOutdatedPlan(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/** Prepares statements under new names from now on, because each connection has the old plans. */
export function prepareAnew(): void {
  names.clear()
  generation++
}

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known || names.size >= mostPrepared) return known
  if (!seenOnce.has(text)) {
    seenOnce.set(text, true)
    return undefined
  }
  seenOnce.delete(text)
  const name = `stead_${generation}_${names.size}`
  names.set(text, name)
  return name
}
