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

test('reuses a resting thread, and refuses orders of its previous owner', async () => {
  const first = open()
  expect(await first.do({ say: 'a' })).toEqual({ say: 'a', told: 1 })
  await first.rest()
  const second = open()
  await expect(first.do({ say: 'b' })).rejects.toThrow('another owner')
  expect(await second.do({ say: 'c' })).toEqual({ say: 'c', told: 2 })
  second.end()
})

test('accepts the same order twice, with complete results', async () => {
  const thread = open()
  for (let round = 0; round < 2; round++)
    expect(String(Buffer.concat(await Array.fromAsync(thread.take({ say: 'x', times: 3 }))))).toBe('xxx')
  thread.end()
})

test('ends a thread whose results were not all taken, and fails a waiting order', async () => {
  const thread = open()
  for await (const _ of thread.take({ say: 'x', times: 3 })) break
  expect(thread.isEnded).toBe(true)
  await expect(thread.do({ say: 'a' })).rejects.toThrow('A thread was ended')
})
