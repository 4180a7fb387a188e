import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { waitedMsOf } from './process-tree.ts'

it.skipIf(process.platform !== 'linux')('what a process waited for the processor is what Linux says of it', () => {
  const own = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
  const before = own()
  const waited = waitedMsOf(process.pid)
  expect(waited).toBeGreaterThanOrEqual(before)
  expect(waitedMsOf(2 ** 30)).toBe(0)
})
