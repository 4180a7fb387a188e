/** In the process of the tests, before each of their files: which change is in force, and which changes a test comes by. */
import { afterEach, beforeEach, inject, vi } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** `active` is the id of the change in force; `undefined`: none, and what is come by is noted. */
    readonly mutant: { readonly active: number | undefined; readonly testMs: number }
  }
  interface TaskMeta {
    /** The ids of changes that this test has come by. */
    reached?: number[]
    /** Come by before it, outside of tests: in a hook for all of them, or by work that a test has left behind. */
    reachedBefore?: number[]
    /** Come by while a module was loaded. */
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
/** How many of those by loading this file has told: what was loaded once is not loaded again for another file. */
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
