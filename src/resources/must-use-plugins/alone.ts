const tails = new Map<number, Promise<void>>()

/**
 * Runs `work` while nobody else in this process works on the must-use plugins of these sites. A host is one process: what is looked up in it
 * is what is laid, in whatever order operations come.
 */
export async function alone<Result>(siteIds: readonly number[], work: () => Promise<Result>): Promise<Result> {
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const before = siteIds.flatMap((id) => tails.get(id) ?? [])
  // all at once, so that no two wait for each other
  for (const id of siteIds) tails.set(id, done)
  try {
    await Promise.all(before)
    return await work()
  } finally {
    resolve()
    for (const id of siteIds) if (tails.get(id) === done) tails.delete(id)
  }
}
