import { describe, expect, test } from 'vitest'
import { createEntry, type Entry } from './entry.ts'
import { createMemory } from './memory.ts'

const entry = (siteId: number, path: string, bodyBytes = 10_000): Entry =>
  createEntry({
    key: `http://${siteId}.test${path}`,
    path,
    siteId,
    tier: 'page',
    epoch: 1,
    status: 200,
    reason: 'OK',
    headers: ['Content-Type', 'text/html'],
    renderer: 'php',
    body: Buffer.alloc(bodyBytes, 'x'),
    lifetime: { ageMs: 0, freshMs: 1, staleMs: 0, staleIfErrorMs: 0 },
    nowMs: 0,
  })

const { bytes: ONE } = entry(1, '/00')

describe('memory for 20 entries', () => {
  const full = () => {
    const evicted: Entry[] = []
    const memory = createMemory(20 * ONE + 1000, (gone) => void evicted.push(gone))
    const put = (siteId: number, path: string) => {
      const made = entry(siteId, path)
      return { made, isIn: memory.put(made) }
    }
    return { memory, evicted, put }
  }

  test('pages that were asked for again stay when addresses are made up', () => {
    const { memory, put } = full()
    const wanted = Array.from({ length: 12 }, (_, n) => put(n, '/').made)
    for (const made of wanted) memory.touch(made)
    for (let n = 0; n < 200; n++) put(99, `/${n % 10}${n}`)
    expect(wanted.filter((made) => memory.get(made.key))).toHaveLength(12)
    expect(memory.bytes).toBeLessThanOrEqual(20 * ONE + 1000)
  })

  test('a site has no more than half while others want it, though it uses its pages', () => {
    const { memory, put } = full()
    for (let n = 0; n < 18; n++) memory.touch(put(1, `/${n + 10}`).made)
    const others = Array.from({ length: 9 }, (_, n) => put(2 + n, '/').made)
    expect(others.filter((made) => memory.get(made.key))).toHaveLength(9)
    for (let n = 0; n < 100; n++) memory.touch(put(1, `/${n + 100}`).made)
    expect(others.filter((made) => memory.get(made.key))).toHaveLength(9)
  })

  test('what is being read counts until it has been read, and is not let go', () => {
    const { memory, put } = full()
    const { made } = put(1, '/aa')
    memory.hold(made)
    memory.hold(made)
    memory.remove(made)
    expect([memory.bytes, memory.count]).toEqual([made.bytes, 0])
    memory.release(made)
    expect(memory.bytes).toBe(made.bytes)
    memory.release(made)
    expect([memory.bytes, memory.heldBytes]).toEqual([0, 0])
    const read = put(1, '/bb').made
    memory.hold(read)
    for (let n = 0; n < 100; n++) put(2, `/${n + 100}`)
    expect(memory.get(read.key)).toBe(read)
  })

  test('when slow visitors read everything nothing more is taken in, and a site of its own cannot do that to all', () => {
    const { memory, put } = full()
    let taken = 0
    for (let n = 0; n < 20; n++) {
      const { made, isIn } = put(1, `/${n + 10}`)
      if (isIn) taken++
      if (isIn) memory.hold(made)
    }
    expect(taken).toBe(10)
    expect(put(2, '/aa').isIn).toBe(true)
    for (let n = 0; n < 20; n++) {
      const { made, isIn } = put(3, `/${n + 10}`)
      if (isIn) memory.hold(made)
    }
    expect(put(4, '/aa').isIn).toBe(false)
    expect(memory.bytes).toBeLessThanOrEqual(20 * ONE + 1000)
  })

  test('a larger entry counts as what it is, one that is gone cannot grow, and nothing is left at the end', () => {
    const { memory, put, evicted } = full()
    const { made } = put(1, '/aa')
    expect(memory.grow(made, 5_000)).toBe(true)
    expect(memory.bytes).toBe(ONE + 5_000)
    memory.clear()
    expect(memory.grow(made, 5_000)).toBe(false)
    expect([memory.bytes, memory.count, evicted.length]).toEqual([0, 0, 0])
  })
})

test('entries give way to what is in their bytes besides, but not those that are being read', () => {
  let besides = 0
  const memory = createMemory(
    20 * ONE + 1000,
    () => {},
    () => besides,
  )
  const entries = Array.from({ length: 20 }, (_, n) => entry(n, '/00'))
  for (const each of entries) expect(memory.put(each)).toBe(true)
  memory.hold(entries[0] as Entry)
  expect(memory.makeRoom(5 * ONE)).toBe(true)
  besides = 5 * ONE
  expect([memory.count, memory.get((entries[0] as Entry).key)]).toEqual([15, entries[0]])
  expect(memory.put(entry(30, '/00'))).toBe(true)
  expect(memory.count).toBe(15)
  expect(memory.makeRoom(15 * ONE)).toBe(false)
  expect(memory.count).toBe(15)
})

test('an entry counts what it holds: its path and its head, each time it is there', () => {
  const long = entry(1, `/${'p'.repeat(2_000)}`, 10)
  const short = entry(1, '/p', 10)
  expect(long.bytes - short.bytes).toBeGreaterThanOrEqual(2 * 1_999)
})
