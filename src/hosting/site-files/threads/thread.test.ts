import { expect, test } from 'vitest'
import type { Counted } from './count-thread.fixture.ts'
import { startThread } from './thread.ts'

const start = (pieces: number, signal?: AbortSignal) => startThread<Counted>('count-thread.fixture', { pieces }, signal)

/** @returns the number of the thread that counted to the end */
async function count(pieces: number): Promise<number> {
  const thread = start(pieces)
  for (;;) {
    const { threadId, isEnd } = await thread.ask()
    if (!isEnd) continue
    await thread.end()
    return threadId
  }
}

test('a thread that has finished its work does the next job', async () => {
  const first = await count(3)
  expect([await count(1), await count(2)]).toEqual([first, first])
})

test('two simultaneous jobs have a thread each, and one of the threads waits for more', async () => {
  const [one, other] = [start(1), start(1)]
  const ids = [(await one.ask()).threadId, (await other.ask()).threadId]
  expect(new Set(ids).size).toBe(2)
  await one.end()
  await other.end()
  expect(await count(1)).toBe(ids[0])
})

test('a thread that was stopped before its end is not reused', async () => {
  const thread = start(2)
  const { threadId } = await thread.ask()
  await thread.end()
  expect(await count(1)).not.toBe(threadId)
})

test('a thread that failed is not reused', async () => {
  const thread = start(0)
  await expect(thread.ask()).rejects.toThrow('Nothing is left to count')
  await thread.end()
  expect(await count(2)).toBeGreaterThan(0)
})

test('the signal ends a pending request', async () => {
  const stop = new AbortController()
  const thread = start(2, stop.signal)
  const asked = thread.ask()
  stop.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
  await thread.end()
})
