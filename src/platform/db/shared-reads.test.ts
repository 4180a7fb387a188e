import { expect, it } from 'vitest'
import { sharedReads } from './shared-reads.ts'

/** Reads that end when the test ends them. */
function slowReads() {
  const begun: { key: string; at: number; end: (value?: unknown) => void; fail: (error: Error) => void }[] = []
  let clock = 0
  const read = sharedReads((key) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const at = clock
    begun.push({ key, at, end: () => resolve(at), fail: reject })
    return promise
  })
  return { read, begun, tick: () => ++clock }
}
const turn = () => new Promise((done) => setImmediate(done))

it('returns to each caller a read that started after the call; waiting callers share one', async () => {
  const { read, begun, tick } = slowReads()
  const first = read('a')
  tick()
  const [second, third, other] = [read('a'), read('a'), read('b')]
  expect(begun.map(({ key }) => key)).toEqual(['a'])
  begun[0]?.end()
  await turn()
  expect(begun.map(({ key }) => key)).toEqual(['a', 'a', 'b'])
  tick()
  const fourth = read('a')
  for (const each of begun.slice(1)) each.end()
  await turn()
  expect(begun).toHaveLength(4)
  begun[3]?.end()
  expect(await Promise.all([first, second, third, other, fourth])).toEqual([0, 1, 1, 1, 2])
  const alone = read('a')
  expect(begun).toHaveLength(5)
  begun[4]?.end()
  expect(await alone).toBe(2)
})

it('reports a failed read to all that shared it, and makes the next one', async () => {
  const { read, begun } = slowReads()
  const first = read('a')
  const second = read('a')
  begun[0]?.fail(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await turn()
  begun[1]?.end()
  expect(await second).toBe(0)
})

it('never returns a value older than its call, whatever the order', async () => {
  let version = 0
  const read = sharedReads(async () => {
    const seen = version
    await new Promise((done) => setTimeout(done, seen % 3))
    return seen
  })
  await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      await new Promise((done) => setTimeout(done, index % 23))
      const asked = ++version
      expect(await read(String(index % 2))).toBeGreaterThanOrEqual(asked)
    }),
  )
})
