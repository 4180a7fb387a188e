import { expect, test } from 'vitest'
import { oneByOne } from './one-by-one.ts'

const { signal } = new AbortController()

test('work begins when all before it has ended, however', async () => {
  const inTurn = oneByOne()
  const events: string[] = []
  const first = Promise.withResolvers<void>()
  const all = [
    inTurn(signal, async () => {
      events.push('first')
      await first.promise
      throw new Error('broken')
    }),
    inTurn(signal, async () => void events.push('second')),
    inTurn(signal, async () => void events.push('third')),
  ]
  await new Promise(setImmediate)
  expect(events).toEqual(['first'])
  first.resolve()
  const [broken] = await Promise.allSettled(all)
  expect(broken).toMatchObject({ reason: { message: 'broken' } })
  expect(events).toEqual(['first', 'second', 'third'])
})

test('work that is aborted while it waits is not begun, and lets nobody past', async () => {
  const inTurn = oneByOne()
  const first = Promise.withResolvers<string>()
  const all = [inTurn(signal, () => first.promise)]
  const control = new AbortController()
  const waiting = inTurn(control.signal, async () => 'never')
  all.push(inTurn(signal, async () => 'third'))
  control.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(await Promise.race([all[1], new Promise((go) => setImmediate(go, 'waits'))])).toBe('waits')
  first.resolve('first')
  expect(await Promise.all(all)).toEqual(['first', 'third'])
})
