/** Random values that are the same for the same seed, so that a failure of a random run can be reproduced. */
export interface Chance {
  readonly seed: number
  /** From 0 up to 1. */
  next(): number
  /** From `least` up to `most`. */
  between(least: number, most: number): number
  /** True with this probability. */
  is(probability: number): boolean
  /** @throws RangeError for an empty list */
  pick<Value>(values: readonly Value[]): Value
  shuffled<Value>(values: readonly Value[]): Value[]
  /** Independent random values for a name, which draws of others do not change. */
  of(name: string): Chance
}

/** @param seed a whole number from 0 to 2^32 */
export function seeded(seed: number): Chance {
  let state = seed >>> 0
  // mulberry32: not for secrets, but evenly distributed
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <Value>(values: readonly Value[]): Value => {
    if (values.length === 0) throw new RangeError('nothing to choose from')
    return values[Math.floor(next() * values.length)] as Value
  }
  return {
    seed,
    next,
    between: (least, most) => least + next() * (most - least),
    is: (probability) => next() < probability,
    pick,
    shuffled(values) {
      const all = [...values]
      for (let last = all.length - 1; last > 0; last--) {
        const other = Math.floor(next() * (last + 1))
        const moved = all[last] as (typeof all)[number]
        all[last] = all[other] as typeof moved
        all[other] = moved
      }
      return all
    },
    of(name) {
      let hash = seed
      for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193)
      return seeded(hash)
    },
  }
}
