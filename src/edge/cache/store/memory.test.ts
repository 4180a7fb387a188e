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

  test('keeps pages that were requested again when many addresses are invented', () => {
    const { memory, put } = full()
    const wanted = Array.from({ length: 12 }, (_, n) => put(n, '/').made)
    for (const made of wanted) memory.touch(made)
    for (let n = 0; n < 200; n++) put(99, `/${n % 10}${n}`)
    expect(wanted.filter((made) => memory.get(made.key))).toHaveLength(12)
    expect(memory.bytes).toBeLessThanOrEqual(20 * ONE + 1000)
  })

  test('gives a site at most half while others want it, even if it uses its pages', () => {
    const { memory, put } = full()
    for (let n = 0; n < 18; n++) memory.touch(put(1, `/${n + 10}`).made)
    const others = Array.from({ length: 9 }, (_, n) => put(2 + n, '/').made)
    expect(others.filter((made) => memory.get(made.key))).toHaveLength(9)
    for (let n = 0; n < 100; n++) memory.touch(put(1, `/${n + 100}`).made)
    expect(others.filter((made) => memory.get(made.key))).toHaveLength(9)
  })

  test('counts an entry while visitors read it, and does not drop it', () => {
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

  test('stores nothing more when slow visitors read everything, and one site alone cannot cause that for all', () => {
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

  test('counts a grown entry at its new size, does not grow one that is gone, and ends empty', () => {
    const { memory, put, evicted } = full()
    const { made } = put(1, '/aa')
    expect(memory.grow(made, 5_000)).toBe(true)
    expect(memory.bytes).toBe(ONE + 5_000)
    memory.clear()
    expect(memory.grow(made, 5_000)).toBe(false)
    expect([memory.bytes, memory.count, evicted.length]).toEqual([0, 0, 0])
  })
})

test('drops entries in favor of other uses of its bytes, except those that visitors read', () => {
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

test('counts all that an entry holds: its path, and its head each time it exists', () => {
  const long = entry(1, `/${'p'.repeat(2_000)}`, 10)
  const short = entry(1, '/p', 10)
  expect(long.bytes - short.bytes).toBeGreaterThanOrEqual(2 * 1_999)
})
