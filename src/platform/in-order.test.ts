import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { InOrder } from './in-order.ts'

const work = () => Promise.withResolvers<string>()

test('runs follow-ups in the order of the work, and limits the work in progress', async () => {
  const inOrder = new InOrder(3)
  const [a, b, c] = [work(), work(), work()]
  const done: string[] = []
  const note = async (text: string) => void done.push(text)
  await inOrder.begin(1, a.promise, note)
  await inOrder.begin(1, b.promise, note)
  let isIn = false
  const third = inOrder.begin(1, c.promise, note).then(() => {
    isIn = true
  })
  b.resolve('b')
  await turn()
  expect([done, isIn]).toEqual([[], false])
  a.resolve('a')
  await third
  expect(done).toEqual(['a'])
  c.resolve('c')
  await inOrder.end()
  expect(done).toEqual(['a', 'b', 'c'])
})

test('passes errors to the waiting caller; after settling, nothing runs and nothing follows', async () => {
  const inOrder = new InOrder(10)
  const [a, b, c] = [work(), work(), work()]
  const done: string[] = []
  const note = async (text: string) => void done.push(text)
  for (const each of [a, b, c]) await inOrder.begin(1, each.promise, note)
  a.reject(new Error('the disk is full'))
  await expect(inOrder.end()).rejects.toThrow('the disk is full')
  let isSettled = false
  const settled = inOrder.settle().then(() => {
    isSettled = true
  })
  b.reject(new Error('another'))
  await turn()
  expect(isSettled).toBe(false)
  c.resolve('c')
  await settled
  expect(done).toEqual([])
})
