import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { alone } from './alone.ts'

/** Returns work that reports when it starts, and ends when the test resolves it. */
function work(name: string, told: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const run = () => {
    told.push(name)
    return promise
  }
  return { run, end: () => resolve(name), fail: () => reject(new Error(name)) }
}

test('runs work on the same sites one after the other, in order of arrival, and other work at once', async () => {
  const told: string[] = []
  const [one, both, two, other] = [work('one', told), work('both', told), work('two', told), work('other', told)]
  const ended = [alone([1], one.run), alone([1, 2], both.run), alone([2], two.run), alone([3], other.run)]
  await setImmediate()
  expect(told).toEqual(['one', 'other'])
  one.end()
  expect(await ended[0]).toBe('one')
  await setImmediate()
  expect(told).toEqual(['one', 'other', 'both'])
  // Work that fails also lets the next one start.
  both.fail()
  await expect(ended[1]).rejects.toThrow('both')
  await setImmediate()
  expect(told).toEqual(['one', 'other', 'both', 'two'])
  two.end()
  other.end()
  expect(await Promise.all([ended[2], ended[3]])).toEqual(['two', 'other'])
})
