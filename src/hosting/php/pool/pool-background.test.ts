import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  type TestDirectory,
  testBodies,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../../test/support/ways.ts'
import { PhpBusy, type PhpProcess, type PhpRuntime } from '../runtime.ts'
import { PhpPool, type PoolLimits } from './pool.ts'

const core = await testCore()

const limits: PoolLimits = {
  queueLength: 10,
  requestMs: 20_000,
  taskMs: 20_000,
  idleMs: 600_000,
  memoryBytes: 4 * 2 ** 30,
  processMemoryBytes: 768 << 20,
  bodies: testBodies(),
}

describe.skipIf(!core).each(hereRuntimes)('background tasks in the pool, $runtime', ({ runtime: kind, phpVersion }) => {
  let runtime: PhpRuntime
  let siteDirectories: TestDirectory[]
  let pool: PhpPool

  beforeAll(async () => {
    runtime = await testRuntime({ runtime: kind })
    siteDirectories = await Promise.all([1, 2].map(() => testDirectory(core as string, { phpVersion })))
    for (const directory of siteDirectories) await directory.script('fast.php', "echo 'fast';")
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await pool?.stopAll(0)
  })
  afterAll(async () => {
    await runtime?.close()
    await Promise.all((siteDirectories ?? []).map((directory) => directory.remove()))
  })

  const site = (number: number) => ({ ...(siteDirectories[number - 1] as TestDirectory), siteId: number })
  const open = (change: Partial<PoolLimits> = {}) => {
    pool = new PhpPool(runtime, { ...limits, ...change })
    return pool
  }
  const page = async (number: number) =>
    text((await pool.handle(site(number), testRequest('/fast.php', '/wordpress/fast.php'))).body)
  const background = (number: number, makeRoom = true) =>
    pool.runTask(site(number), 'php-info', {}, { background: true, makeRoom })

  it('end the process that was started for them after the last one', async () => {
    open()
    const start = vi.spyOn(runtime, 'start')
    await Promise.all([background(1), background(1)])
    await vi.waitFor(() => expect(pool.pidOf(1)).toBeUndefined(), 60_000)
    expect(start).toHaveBeenCalledTimes(1)
    expect(start).toHaveBeenCalledWith(expect.anything(), { lowPriority: true })
  })

  it('leave the process to a visitor who came meanwhile, at normal priority', async () => {
    open()
    const priorities: boolean[] = []
    const start = runtime.start.bind(runtime)
    let visit: Promise<string> | undefined
    vi.spyOn(runtime, 'start').mockImplementation(async (which, options) => {
      expect(options).toEqual({ lowPriority: true })
      visit = page(1)
      const process: PhpProcess = await start(which, options)
      process.setLowPriority = (low) => void priorities.push(low)
      return process
    })
    await background(1)
    expect(await visit).toBe('fast')
    expect(priorities).toEqual([false])
    expect(pool.pidOf(1)).toBeGreaterThan(0)
  })

  it('run in the process of an active site, and do not keep it alive', async () => {
    open({ idleMs: 300_000 })
    await page(1)
    const pid = pool.pidOf(1)
    await background(1)
    expect(pool.pidOf(1)).toBe(pid)
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 300_000)
    await background(1)
    await vi.waitFor(() => expect(pool.pidOf(1)).toBeUndefined(), 60_000)
  })

  it('take no memory from sites in use, unless they must run now', async () => {
    open({ memoryBytes: 1 })
    await page(1)
    await expect(background(2, false)).rejects.toThrow(PhpBusy)
    expect(pool.pidOf(1)).toBeGreaterThan(0)
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000)
    await background(2, false)
    vi.restoreAllMocks()
    expect(pool.pidOf(1)).toBeUndefined()
    await page(1)
    await background(2)
    expect(pool.pidOf(1)).toBeUndefined()
  })
})
