import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { budgetOf } from '../../../test/support/budget.ts'
import { SpillFile } from './spill-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-spill-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Returns bytes that depend on their position. */
const bytesFrom = (start: number, length: number) => Buffer.from(Array.from({ length }, (_, i) => (start + i) % 251))

test.each([1, 2, 3, 4, 5])('returns what was written, in order, for any mix of writes and reads (%i)', async (seed) => {
  const room = budgetOf(1000)
  const file = new SpillFile(folder, room.share(1))
  let state = seed * 7919
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  let written = 0
  let read = 0
  for (let turn = 0; turn < 2000; turn++) {
    const write = async () => {
      written += await file.write(bytesFrom(written, 1 + random(300)))
    }
    const take = async () => {
      if (file.used === 0) return
      const piece = await file.read()
      expect(piece).toEqual(bytesFrom(read, piece.length))
      read += piece.length
    }
    const which = random(4)
    if (which === 0) await take()
    else if (which === 1) await write()
    else if (which === 2) await Promise.all([write(), take()])
    else await Promise.all([take(), write()])
    expect(room.used).toBeLessThanOrEqual(1000)
    expect(file.used).toBe(written - read)
  }
  expect(written).toBeGreaterThan(20_000)
  expect(room.used).toBeGreaterThan(900)
  await file.close()
  expect(room.used).toBe(0)
})

test('has no name on the disk, and gets no space when others use it', async () => {
  const room = budgetOf(1000)
  const file = new SpillFile(folder, room.share(1))
  expect(await file.write(Buffer.alloc(600))).toBe(600)
  expect(await readdir(folder)).toEqual([])
  const other = new SpillFile(folder, room.share(1))
  expect(await other.write(Buffer.alloc(600))).toBe(0)
  await file.close()
  expect(await other.write(Buffer.alloc(600))).toBe(600)
  await other.close()
})
