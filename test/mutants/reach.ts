/**
 * Runs in the process of the tests, before each of their files. Knows the active change, and records which changes a
 * test reaches.
 */
import { afterEach, beforeEach, inject, vi } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** `active` is the ID of the active change, or `undefined` to record the changes that are reached. */
    readonly mutant: { readonly active: number | undefined; readonly testMs: number }
  }
  interface TaskMeta {
    /** The IDs of changes that this test has reached. */
    reached?: number[]
    /** Reached before it, outside of tests: in a shared hook, or by work that a test left running. */
    reachedBefore?: number[]
    /** Reached while a module was loaded. */
    reachedByLoading?: number[]
  }
}

interface Seen {
  loading: number
  readonly byLoading: Set<number>
  readonly now: Set<number>
}

const shared = globalThis as unknown as {
  __mutantsSeen?: Seen
  __mutant(id: number): boolean
  __loading(by: 1 | -1): void
}
shared.__mutantsSeen ??= { loading: 0, byLoading: new Set(), now: new Set() }
const seen = shared.__mutantsSeen
const { active, testMs } = inject('mutant')
vi.setConfig({ testTimeout: testMs })

shared.__mutant = (id) => {
  if (seen.loading > 0) seen.byLoading.add(id)
  else if (active === undefined) seen.now.add(id)
  return id === active
}
shared.__loading = (by) => {
  seen.loading += by
}

const taken = () => {
  const ids = [...seen.now]
  seen.now.clear()
  return ids
}
/** How many of those were reported when this file loaded. A loaded module is not loaded again for another file. */
let told = 0

beforeEach(({ task }) => {
  task.meta.reachedBefore = taken()
})
afterEach(({ task }) => {
  task.meta.reached = taken()
  if (seen.byLoading.size === told) return
  task.meta.reachedByLoading = [...seen.byLoading]
  told = seen.byLoading.size
})
