/**
 * Lets many simultaneous callers share one read. A call during a read gets the next one, so that every answer was read
 * after its call. A single caller waits for nothing.
 * @param read called once for each key; all that share a read get its failure
 */
export function sharedReads<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  let running: Promise<unknown> | undefined
  let next: Map<string, Promise<Value>> | undefined
  return (key) => {
    if (!running) {
      const first = read(key)
      running = settled([first])
      return first
    }
    next ??= new Map()
    const batch = next
    const known = batch.get(key)
    if (known) return known
    const asked = running.then(() => read(key))
    batch.set(key, asked)
    return asked
  }

  function settled(reads: readonly Promise<Value>[]): Promise<unknown> {
    const all = Promise.allSettled(reads)
    return all.then(() => {
      const batch = next
      next = undefined
      running = batch && settled([...batch.values()])
    })
  }
}
