const tails = new Map<number, Promise<void>>()

/**
 * Runs `work` while no other work in this process changes the must-use plugins of these sites. A host is one process,
 * so the content that it looks up is the content that it writes, whatever the order of operations.
 */
export async function alone<Result>(siteIds: readonly number[], work: () => Promise<Result>): Promise<Result> {
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const before = siteIds.flatMap((id) => tails.get(id) ?? [])
  // All sites at once, so that no two calls wait for each other.
  for (const id of siteIds) tails.set(id, done)
  try {
    await Promise.all(before)
    return await work()
  } finally {
    resolve()
    for (const id of siteIds) if (tails.get(id) === done) tails.delete(id)
  }
}
