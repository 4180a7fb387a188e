import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { forgetAll } from '../process-memory.ts'
import { OrderedThread } from './ordered-thread.ts'

interface Order {
  readonly say: string
  readonly times?: number
}
const program = join(import.meta.dirname, 'echo-thread.fixture.ts')
const open = () => new OrderedThread<Order>({ program, mostMb: 64, errors: [] })
afterEach(forgetAll)

test('a thread that rests is used again, and whoever had it before can ask it for nothing', async () => {
  const first = open()
  expect(await first.do({ say: 'a' })).toEqual({ say: 'a', told: 1 })
  await first.rest()
  const second = open()
  await expect(first.do({ say: 'b' })).rejects.toThrow('another owner')
  expect(await second.do({ say: 'c' })).toEqual({ say: 'c', told: 2 })
  second.end()
})

test('an order may be given twice, and taken whole', async () => {
  const thread = open()
  for (let round = 0; round < 2; round++)
    expect(String(Buffer.concat(await Array.fromAsync(thread.take({ say: 'x', times: 3 }))))).toBe('xxx')
  thread.end()
})

test('a thread of which not all is taken ends, and an order that waits fails', async () => {
  const thread = open()
  for await (const _ of thread.take({ say: 'x', times: 3 })) break
  expect(thread.isEnded).toBe(true)
  await expect(thread.do({ say: 'a' })).rejects.toThrow('A thread was ended')
})
