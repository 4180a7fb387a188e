/** Kills a process at any point while it writes a backup. No partial backup appears, and the same call completes it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestBackups, testBackups } from './backup-store.fixture.ts'
import { contentsOf, hashes, noise } from './trees.fixture.ts'

const fixture = fileURLToPath(new URL('kill.fixture.ts', import.meta.url))
/** Files of 1 MB each, which fill three packs. */
const FILES = 40
const content = Object.fromEntries(Array.from({ length: FILES }, (_, n) => [`f${n}`, noise(1 << 20, n + 1)]))

let store: TestBackups
beforeEach(async () => {
  store = await testBackups()
})
afterEach(() => store.close())

/** Returns the number of packs, including partially written ones. */
const inStorage = async (): Promise<number> =>
  (await readdir(join(store.folder, 'site-1/packs')).catch(() => [])).length

/**
 * Starts a writer and kills it as soon as the storage has this many files.
 * @returns whether it was killed before it had written everything
 */
async function writeUntil(count: number): Promise<boolean> {
  const order = { folder: store.folder, name: 'b1', files: FILES }
  const child = spawn(process.execPath, [fixture, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const ended = once(child, 'exit')
  while (child.exitCode === null && child.signalCode === null && (await inStorage()) < count)
    await new Promise(setImmediate)
  child.kill('SIGKILL')
  await ended
  return !lines.includes('written')
}

test('leaves no backup when its writer is killed; the same call, killed repeatedly, completes it', async () => {
  const repository = () => store.backups.repository('site-1')
  let killed = 0
  for (const count of [1, 2]) {
    if (!(await writeUntil(count))) continue
    killed++
    expect(await repository().list()).toEqual([])
  }
  // Otherwise this test proves nothing.
  expect(killed).toBe(2)
  expect(await writeUntil(Number.POSITIVE_INFINITY)).toBe(false)
  await repository().verify('b1')
  expect(await contentsOf(repository(), 'b1')).toEqual(hashes(content))
  // Packs of the killed writers are reused, and not stored twice.
  expect(await repository().storedBytes()).toBeLessThan(1.4 * (FILES << 20))
})
