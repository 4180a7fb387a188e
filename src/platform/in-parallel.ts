/**
 * Processes each item, with a limit on how many run at a time. The first error ends it, after the items in progress
 * have finished.
 */
export async function inParallel<Each>(
  most: number,
  all: Iterable<Each>,
  work: (each: Each) => Promise<void>,
): Promise<void> {
  const rest = all[Symbol.iterator]()
  let fault: { error: unknown } | undefined
  const take = async () => {
    for (let next = rest.next(); !next.done && !fault; next = rest.next()) {
      try {
        await work(next.value)
      } catch (error) {
        fault ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: most }, take))
  if (fault) throw fault.error
}
