import { randomInt } from 'node:crypto'

/**
 * Makes ids for the entries of one writer: ascending, and no other writer's (21 random bits, then a counter of 32; together
 * they are a safe integer).
 */
export function createLogIds(): () => number {
  const base = randomInt(2 ** 21) * 2 ** 32
  let count = 0
  return () => base + count++
}
