import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { madeRelease } from '../../../test/support/release-api.ts'
import { noLog } from '../../platform/log/log.ts'
import { createPreparation, type PreparationOptions } from './preparation.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-preparation-'))
  for (const { name, content = '' } of madeRelease('6.8.7')) {
    const path = join(folder, 'cores', name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
})
afterAll(() => rm(folder, { recursive: true }))

/** PHP that finishes immediately. The progress must not depend on what it does. */
const quickPhp = {
  start: async () => ({ runTask: async () => ({}), stop: async () => {} }),
  containment: () => ({ runtimes: { '8.3': 'wasm' } }),
}

/** @returns the progress that a start reports, in order */
async function toldByStart(): Promise<string[]> {
  const told: string[] = []
  const preparation = createPreparation({
    config: { dataDir: folder, coreVersion: 'latest' },
    library: {
      tidy: async () => {},
      ensure: async (_version: string, { onProgress }: { onProgress(progress: object): void }) => {
        onProgress({ phase: 'downloading', source: 'there', receivedBytes: 1, totalBytes: 2 })
        return { version: '6.8.7', path: join(folder, 'cores/wordpress') }
      },
    },
    runtime: quickPhp,
    siteDirectories: { installer: null, fill: async () => {} },
    spares: { refill: async () => {}, close: async () => {}, warm: 0 },
    log: noLog,
    onProgress: ({ doing, from }: { doing: string; from?: string }) =>
      told.push(from ? `${doing} from ${from}` : doing),
  } as unknown as PreparationOptions)
  await preparation.start()
  expect(preparation.state()).toMatchObject({ preparing: false, wordpress: '6.8.7', reason: null })
  const before = told.length
  preparation.refill()
  await preparation.stop()
  expect(told.length).toBe(before)
  return told
}

test('reports each step of a first start while someone waits for it, and later starts only what they must do', async () => {
  expect(await toldByStart()).toEqual([
    'Downloading WordPress from there',
    'Installing WordPress as the template for all sites',
    'Copying the template for the first sites',
    'Warming PHP for the first site',
  ])
  expect(await toldByStart()).toEqual(['Downloading WordPress from there'])
})

test('retries until it gets a WordPress when a start had none', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let tries = 0
  const preparation = createPreparation({
    config: { dataDir: folder, coreVersion: 'latest' },
    library: {
      tidy: async () => {},
      ensure: async () => {
        if (++tries < 3) throw new Error('the source does not answer')
        return { version: '6.8.7', path: join(folder, 'cores/wordpress') }
      },
    },
    runtime: quickPhp,
    siteDirectories: { installer: null, fill: async () => {} },
    spares: { refill: async () => {}, close: async () => {}, warm: 0 },
    log: noLog,
    onProgress() {},
  } as unknown as PreparationOptions)
  try {
    await preparation.start()
    expect(preparation.state()).toMatchObject({
      preparing: false,
      wordpress: null,
      reason: 'the source does not answer',
    })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(tries).toBe(2)
    await vi.advanceTimersByTimeAsync(20_000)
    await expect.poll(() => preparation.state()).toMatchObject({ wordpress: '6.8.7', reason: null })
    expect(tries).toBe(3)
  } finally {
    vi.useRealTimers()
    await preparation.stop()
  }
})
