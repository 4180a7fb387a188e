interface Begun<Result> {
  readonly result: Promise<Result>
  readonly weight: number
}

/**
 * Begins work on things before their turn, and hands over the results in their order.
 * @param most weight that may be begun and not handed over
 */
export async function* readingAhead<Each, Result>(
  most: number,
  all: AsyncIterable<Each>,
  weigh: (each: Each) => number,
  work: (each: Each) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Begun<Result>[] = []
  let weight = 0
  const next = () => {
    const first = begun.shift()
    weight -= first?.weight ?? 0
    return first?.result
  }
  try {
    for await (const each of all) {
      const result = work(each)
      // it is waited for in its turn, which may never come
      result.catch(() => {})
      begun.push({ result, weight: weigh(each) })
      weight += begun.at(-1)?.weight ?? 0
      while (weight >= most) yield await (next() as Promise<Result>)
    }
    for (let result = next(); result; result = next()) yield await result
  } finally {
    // nobody works on when this has ended
    await Promise.allSettled(begun.map(({ result }) => result))
  }
}
