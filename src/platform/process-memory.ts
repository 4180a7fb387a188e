/**
 * The caches of this process beyond one instance of the API or an edge: parsed headers, prepared statements, idle
 * threads. All of them save work, are bounded, and may be cleared at any time. Tests clear them after each file, so
 * that no file depends on an earlier one.
 */
type Forget = () => unknown

const forgetters: Forget[] = []

/**
 * Registers a module's cache. Each such module calls it once.
 * @param forget restores the state at loading
 */
export function declareMemory(forget: Forget): void {
  forgetters.push(forget)
}

/** Restores the state at loading for all of them. */
export async function forgetAll(): Promise<void> {
  for (const forget of forgetters) await forget()
}
