/**
 * What this process remembers beyond any one instance of the API or of an edge: parsed headers, prepared statements, idle threads. All
 * of it is there to save work, has a bound, and may be forgotten at any time. Tests forget it after each file, so that no file goes by
 * what the one before it left.
 */
type Forget = () => unknown

const forgetters: Forget[] = []

/** Called once by each module that keeps such a memory. @param forget leaves the module as when it was loaded */
export function declareMemory(forget: Forget): void {
  forgetters.push(forget)
}

/** Leaves all of them as when they were loaded. */
export async function forgetAll(): Promise<void> {
  for (const forget of forgetters) await forget()
}
