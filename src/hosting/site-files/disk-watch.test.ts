import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DiskRoom } from '../php/wasm/frames.ts'
import { DiskWatch, type WritingProcess } from './disk-watch.ts'

const MB = 1 << 20
const SECOND_MS = 1000

let directory: string
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  directory = await mkdtemp(join(tmpdir(), 'stead-disk-watch-'))
  await mkdir(join(directory, 'web'))
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(directory, { recursive: true })
})

test('measures a site directory every 30 s while its PHP works, every five minutes while idle, and with its next job', async () => {
  const watch = new DiskWatch({
    quotaOf: async () => ({ bytes: 100 * MB, files: 1000 }),
    folder: directory,
    keepFreeBytes: 0,
    onRefusal: () => {},
    log: { warn: (facts) => expect.unreachable(JSON.stringify(facts)) },
  })
  const said: DiskRoom[] = []
  const php = {
    exited: new Promise(() => {}),
    isBusy: false as boolean,
    jobs: 1,
    onDiskRefusal: undefined,
    setDisk: (room: DiskRoom) => said.push(room),
    kill: ({ message }: Error) => expect.unreachable(message),
  }
  const start = await watch.beforeStart(directory)
  watch.follow(directory, php satisfies WritingProcess, (await start?.measured) as DiskRoom)
  /** Adds a file, lets some seconds pass, and returns whether the process got a new allowance. */
  const isToldWithin = async (seconds: number): Promise<boolean> => {
    const before = said.length
    await writeFile(join(directory, 'web', `${performance.now()}`), 'x')
    vi.advanceTimersByTime(seconds * SECOND_MS)
    await watch.look()
    return said.length > before
  }
  expect(await isToldWithin(29)).toBe(false)
  expect(await isToldWithin(1)).toBe(true)
  expect(await isToldWithin(30)).toBe(false)
  php.jobs++
  expect(await isToldWithin(0)).toBe(true)
  expect(await isToldWithin(299)).toBe(false)
  expect(await isToldWithin(1)).toBe(true)
  // A process that is busy keeps working, and gets no new allowance until its job has ended.
  Object.assign(php, { jobs: 3, isBusy: true })
  expect(await isToldWithin(30)).toBe(false)
  php.isBusy = false
  expect(await isToldWithin(29)).toBe(false)
  expect(await isToldWithin(1)).toBe(true)
  expect(said.at(-1)?.usedFiles).toBeGreaterThan(said[0]?.usedFiles as number)
  await watch.stop()
})
