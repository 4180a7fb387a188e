import { expect, test } from 'vitest'
import { SigningTime } from './signing-time.ts'

test('a quiet hour saves up at most a quarter of a second, for each of UDP and TCP', () => {
  let now = 0
  const time = new SigningTime(() => now)
  const sign = (transport: 'udp' | 'tcp') =>
    time.within(transport, () => {
      now += 200
      return true
    })
  now += 3_600_000
  const done = Array.from({ length: 4 }, () => sign('udp'))
  expect(done).toEqual([true, true, undefined, undefined])
  expect(sign('tcp')).toBe(true)
  // A quarter of the time.
  now += 4 * 300
  expect(sign('udp')).toBe(true)
})
