import { randomInt } from 'node:crypto'

/**
 * Creates ids for the entries of one writer. They are ascending, and differ from those of other writers (21 random
 * bits, then a counter of 32; together they are a safe integer).
 */
export function createLogIds(): () => number {
  const base = randomInt(2 ** 21) * 2 ** 32
  let count = 0
  return () => base + count++
}
