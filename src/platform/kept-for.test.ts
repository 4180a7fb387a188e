import { expect, test } from 'vitest'
import { keptFor } from './kept-for.ts'

test('returns the same answer to calls in the meantime, and does not keep a failure', async () => {
  const asked: PromiseWithResolvers<number>[] = []
  const ask = keptFor(3_600_000, () => {
    asked.push(Promise.withResolvers<number>())
    return asked.at(-1)?.promise as Promise<number>
  })
  const both = [ask(), ask()]
  asked[0]?.reject(new Error('away'))
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const next = ask()
  asked[1]?.resolve(2)
  expect([await next, await ask(), asked.length]).toEqual([2, 2, 2])
})

test('asks again after its time', async () => {
  let runs = 0
  const ask = keptFor(0, async () => ++runs)
  expect([await ask(), await ask()]).toEqual([1, 2])
})
