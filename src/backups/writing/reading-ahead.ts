/**
 * Begins work on things before their turn, and hands over the results in their order.
 * @param most that may be begun and not handed over
 */
export async function* readingAhead<Each, Result>(
  most: number,
  all: AsyncIterable<Each>,
  work: (each: Each) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = []
  try {
    for await (const each of all) {
      const result = work(each)
      // it is waited for in its turn, which may never come
      result.catch(() => {})
      begun.push(result)
      if (begun.length >= most) yield await (begun.shift() as Promise<Result>)
    }
    for (;;) {
      const result = begun.shift()
      if (!result) return
      yield await result
    }
  } finally {
    // nobody works on when this has ended
    await Promise.allSettled(begun)
  }
}
