import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  type TestDirectory,
  testAddress,
  testBodies,
  testBudgets,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { PhpAbandoned, PhpBodyTooLarge, PhpBusy, PhpCrashed, type PhpRuntime, PhpTimeout } from '../runtime.ts'
import { PhpTaskError } from '../task-error.ts'
import { threadsOf } from '../wasm/process-tree.ts'
import { PhpPool, type PoolLimits } from './pool.ts'
import { RecentUse } from './recent-use.ts'

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

describe.skipIf(!core)('the pool of PHP processes', () => {
  let runtime: PhpRuntime
  let siteDirectories: TestDirectory[]
  let pool: PhpPool

  beforeAll(async () => {
    runtime = await testRuntime({ priority: 1 })
    siteDirectories = await Promise.all([1, 2, 3].map(() => testDirectory(core as string)))
    for (const directory of siteDirectories) {
      await directory.script('fast.php', "echo 'fast ' . getmypid();")
      await directory.script(
        'slow.php',
        "echo 'a'; ob_flush(); while (!file_exists('/tmp/go')) usleep(5000); echo 'b';",
      )
      await directory.script('loop.php', 'while (true);')
      await directory.script('go.php', "touch('/tmp/go');")
      await directory.script(
        'count.php',
        "echo file_put_contents('/tmp/count', 'x', FILE_APPEND) ? filesize('/tmp/count') : 0;",
      )
    }
  })
  afterEach(() => pool?.stopAll(0))
  afterAll(async () => {
    await runtime?.close()
    await Promise.all((siteDirectories ?? []).map((directory) => directory.remove()))
  })

  const site = (number: number) => ({ ...(siteDirectories[number - 1] as TestDirectory), siteId: number })
  const open = (change: Partial<PoolLimits> = {}) => {
    pool = new PhpPool(runtime, { ...limits, ...change })
    return pool
  }
  const fetch = (number: number, script: string, signal?: AbortSignal) =>
    pool.handle(site(number), testRequest(`/${script}`, `/wordpress/${script}`), signal)
  const page = async (number: number, script: string, signal?: AbortSignal) =>
    text((await fetch(number, script, signal)).body)
  /** Sends a request that keeps the site's PHP busy until `release` is called. */
  const occupy = async (number: number) => {
    const { siteDirectory } = siteDirectories[number - 1] as TestDirectory
    await rm(join(siteDirectory, 'private/tmp/go'), { force: true })
    const response = await fetch(number, 'slow.php')
    return {
      response,
      release: () => writeFile(join(siteDirectory, 'private/tmp/go'), ''),
    }
  }

  it('runs only the operation’s own work on a held site, and not requests whose body arrived meanwhile', async () => {
    open()
    await page(1, 'fast.php')
    const pid = pool.pidOf(1)
    const slow = new Readable({ read() {} })
    const request = { ...testRequest('/fast.php', '/wordpress/fast.php'), method: 'POST', body: slow }
    const late = pool.handle(site(1), { ...request, announcedBytes: 4 })
    await pool.hold(1)
    expect(pool.pidOf(1)).toBeUndefined()
    slow.push('body')
    slow.push(null)
    await expect(late).rejects.toThrow(PhpBusy)
    await expect(page(1, 'fast.php')).rejects.toThrow(PhpBusy)
    await expect(pool.runTask(site(1), 'php-info', {})).rejects.toThrow(PhpBusy)
    expect(pool.pidOf(1)).toBeUndefined()
    await pool.runTask(site(1), 'php-info', {}, { whileHeld: true })
    expect(pool.pidOf(1)).not.toBe(pid)
    await expect(page(1, 'fast.php')).rejects.toThrow(PhpBusy)
    await pool.hold(1)
    expect(pool.pidOf(1)).toBeUndefined()
    expect(await page(2, 'fast.php')).toContain('fast')
    pool.release(1)
    expect(await page(1, 'fast.php')).toContain('fast')
  })

  it('knows whether a visitor’s request is running, ignoring tasks and waiting requests', async () => {
    open()
    expect(pool.servesVisitors()).toBe(false)
    let during: boolean | undefined
    await pool.between(1, async () => {
      during = pool.servesVisitors()
    })
    const { response, release } = await occupy(1)
    expect([during, pool.servesVisitors()]).toEqual([false, true])
    await release()
    await text(response.body)
    await vi.waitFor(() => expect(pool.servesVisitors()).toBe(false))
  })

  it('knows whether PHP is starting or working for an operation, ignoring visitors’ requests', async () => {
    open()
    expect(pool.servesOperations()).toBe(false)
    const task = pool.runTask(site(1), 'php-info', {})
    expect(pool.servesOperations()).toBe(true)
    await task
    await vi.waitFor(() => expect(pool.servesOperations()).toBe(false))
    const { response, release } = await occupy(1)
    expect(pool.servesOperations()).toBe(false)
    await release()
    await text(response.body)
  })

  it('starts PHP for an announced visitor, and ends it when none comes', async () => {
    open({ wokenMs: 500 })
    pool.wake(site(1))
    await vi.waitFor(() => expect(pool.pidOf(1)).toBeDefined(), 30_000)
    await vi.waitFor(() => expect(pool.pidOf(1)).toBeUndefined(), 30_000)
    expect(pool.stats().crashes).toBe(0)
  })

  it('keeps a process that an announced visitor uses, and then starts others for announced visitors', async () => {
    open({ wokenMs: 60_000 })
    pool.wake(site(1))
    await vi.waitFor(() => expect(pool.pidOf(1)).toBeDefined(), 30_000)
    const pid = pool.pidOf(1)
    expect(await page(1, 'fast.php')).toContain('fast')
    expect(pool.pidOf(1)).toBe(pid)
    for (const siteId of [101, 102, 103, 104, 105]) pool.wake({ ...site(1), siteId })
    expect(pool.stats().busy).toBe(4)
  })

  it('starts nothing for announced visitors of held sites, beyond four sites, or at the expense of others', async () => {
    open()
    await pool.hold(1)
    pool.wake(site(1))
    expect(pool.stats().busy).toBe(0)
    pool.release(1)
    for (const siteId of [101, 102, 103, 104, 105, 106]) pool.wake({ ...site(1), siteId })
    expect(pool.stats().busy).toBe(4)
    await pool.stopAll(0)

    open({ memoryBytes: 1 << 20 })
    await page(1, 'fast.php')
    pool.wake(site(2))
    expect(pool.stats().busy).toBe(0)
    expect(pool.pidOf(1)).toBeDefined()
  })

  it('does work between two requests of a site, before waiting ones, without starting a process', async () => {
    open()
    await pool.between(1, async () => {})
    expect(pool.pidOf(1)).toBeUndefined()
    const done: string[] = []
    const note = (what: string) => () => void done.push(what)
    const { release } = await occupy(1)
    const waiting = page(1, 'fast.php').then(note('page'))
    const gate = Promise.withResolvers<void>()
    const work = pool.between(1, () => gate.promise).then(note('work'))
    const other = page(2, 'fast.php')
    await release()
    expect(await other).toContain('fast')
    await vi.waitFor(() => expect(pool.stats().busy).toBe(1))
    note('nothing')()
    gate.resolve()
    await Promise.all([work, waiting])
    expect(done).toEqual(['nothing', 'work', 'page'])
  })

  it('ends the process of a site for work that must have none, and passes on errors of that work', async () => {
    open()
    await page(1, 'fast.php')
    const pid = pool.pidOf(1)
    const gate = Promise.withResolvers<number | undefined>()
    const work = pool.between(1, async () => pool.pidOf(1) ?? (await gate.promise), { endsProcess: true })
    const late = page(1, 'fast.php')
    gate.resolve(7)
    expect(await work).toBe(7)
    await late
    expect(pool.pidOf(1)).not.toBe(pid)
    await expect(pool.between(1, () => Promise.reject(new Error('no room')))).rejects.toThrow('no room')
    expect(await page(1, 'fast.php')).toContain('fast')
  })

  it('does waiting work when the site is stopped, before the stop completes', async () => {
    open()
    const { release } = await occupy(1)
    const gate = Promise.withResolvers<void>()
    const done: string[] = []
    const work = pool.between(1, () => gate.promise).then(() => done.push('work'))
    const stopped = pool.stop(1).then(() => done.push('stopped'))
    await release()
    gate.resolve()
    await Promise.all([work, stopped])
    expect(done).toEqual(['work', 'stopped'])
  })

  it('starts one process for many first requests and answers them in order', async () => {
    open({ queueLength: 100 })
    const start = vi.spyOn(runtime, 'start')
    const answers = await Promise.all(Array.from({ length: 20 }, () => page(1, 'count.php')))
    expect(answers.map(Number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    expect(start).toHaveBeenCalledTimes(1)
    start.mockRestore()
    expect(pool.stats()).toMatchObject({ processes: 1, waiting: 0, crashes: 0 })
  })

  it('rejects requests beyond the queue’s limit, and drops those of clients that disconnect', async () => {
    open({ queueLength: 2 })
    const first = await occupy(1)
    const leaving = new AbortController()
    const second = page(1, 'fast.php', leaving.signal)
    const third = page(1, 'fast.php')
    await expect(page(1, 'fast.php')).rejects.toThrow(PhpBusy)
    leaving.abort()
    await expect(second).rejects.toThrow(PhpAbandoned)
    const fourth = page(1, 'fast.php')
    await first.release()
    expect(await text(first.response.body)).toBe('ab')
    expect(await third).toMatch(/^fast/)
    expect(await fourth).toMatch(/^fast/)
    expect(pool.stats().refused).toBe(1)
  })

  it('ends a request that takes too long, and serves the next with a new process', async () => {
    open({ requestMs: 1500 })
    await page(1, 'fast.php')
    const endless = page(1, 'loop.php')
    const after = page(1, 'fast.php')
    await expect(endless).rejects.toThrow(PhpTimeout)
    expect(await after).toMatch(/^fast/)
    expect(pool.stats()).toMatchObject({ timeouts: 1, crashes: 0, processes: 1 })
  })

  it('gives an administrator’s page more time, and reports what it ended', async () => {
    const onCutOff = vi.fn()
    const onLong = vi.fn()
    open({ requestMs: 1500, onCutOff })
    const directory = siteDirectories[0] as TestDirectory
    const work = 'for ($i = 0; $i < 25; $i++) usleep(100000); echo "done";'
    const known = await directory.script('known.php', `post_message_to_js('{"administers":true}'); ${work}`)
    const unknown = await directory.script('unknown.php', work)
    const visit = async (path: string, script: string, cookie: string) => {
      const request = testRequest(path, script, { headers: ['Cookie', cookie] })
      return text((await pool.handle(site(1), request, undefined, { onLong })).body)
    }
    expect(await visit('/wp-admin/admin.php', known, 'wordpress_logged_in_x=y')).toBe('done')
    expect(onLong).toHaveBeenCalledOnce()
    expect(onCutOff).not.toHaveBeenCalled()
    // Neither a cookie alone nor a public page is enough.
    for (const [script, path, cookie] of [
      [unknown, '/wp-admin/admin.php?import=x', 'wordpress_logged_in_x=y'],
      [known, '/wp-admin/admin.php', 'a=b'],
      [known, '/page', 'wordpress_logged_in_x=y'],
    ] as const) {
      await expect(visit(path, script, cookie)).rejects.toThrow(PhpTimeout)
      expect(onCutOff.mock.lastCall?.slice(1)).toEqual([expect.objectContaining({ path }), expect.any(PhpTimeout)])
    }
    expect(onCutOff).toHaveBeenCalledTimes(3)
    expect(onLong).toHaveBeenCalledOnce()
  })

  it('does not let a site with an endless loop keep another waiting', async () => {
    open({ requestMs: 8000 })
    await Promise.all([page(1, 'fast.php'), page(2, 'fast.php')])
    const endless = page(1, 'loop.php').catch((error) => error)
    for (let index = 0; index < 10; index++) expect(await page(2, 'fast.php')).toMatch(/^fast/)
    await pool.stop(1, 0)
    expect(await endless).toBeInstanceOf(Error)
  })

  it('fails what ran in a process that dies, starts a new one, and waits longer after repeated deaths', async () => {
    open()
    for (let crash = 1; crash <= 4; crash++) {
      const busy = await occupy(1)
      killProcessOf(1)
      await expect(text(busy.response.body)).rejects.toThrow(PhpCrashed)
      await vi.waitFor(() => expect(pool.stats().crashes).toBe(crash), 60_000)
      if (crash < 3) expect(await page(2, 'fast.php')).toMatch(/^fast/)
      if (crash === 3) await vi.waitFor(async () => expect(await page(1, 'fast.php')).toMatch(/^fast/), 60_000)
    }
  })

  it('pauses after repeated crashes', async () => {
    open()
    const start = vi.spyOn(runtime, 'start').mockRejectedValue(new PhpCrashed('cannot start'))
    for (let crash = 0; crash < 3; crash++) await expect(page(1, 'fast.php')).rejects.toThrow('cannot start')
    await expect(page(1, 'fast.php')).rejects.toThrow('next attempt')
    expect(start).toHaveBeenCalledTimes(3)
    start.mockRestore()
    await vi.waitFor(async () => expect(await page(1, 'fast.php')).toMatch(/^fast/), 60_000)
  })

  it('stays within its memory by ending the least recently used idle process', async () => {
    // A process takes about 200 MB here, the first ones on a busy machine less. A new one counts as 300 MB.
    open({ memoryBytes: 560 << 20 })
    await page(1, 'fast.php')
    await page(2, 'fast.php')
    const busy = await occupy(1)
    await page(3, 'fast.php')
    expect(pool.stats().processes).toBe(2)
    await busy.release()
    expect(await text(busy.response.body)).toBe('ab')
    await page(2, 'fast.php')
    expect(pool.stats().processes).toBe(2)
    expect(pool.stats().residentBytes).toBeLessThan(560 << 20)
  })

  it('waits for memory while all are busy, and lets sites with endless queues take turns', async () => {
    open({ memoryBytes: 1, queueLength: 1000 })
    const busy = await occupy(1)
    const waiting = page(2, 'fast.php')
    await busy.release()
    expect(await waiting).toMatch(/^fast/)
    let done = false
    const visitor = async () => {
      while (!done) await page(1, 'fast.php')
    }
    const visitors = [visitor(), visitor(), visitor()]
    expect(await page(2, 'fast.php')).toMatch(/^fast/)
    done = true
    await Promise.all(visitors)
  })

  it('keeps the processes of the most visited sites, up to a limit, while memory is free', async () => {
    open({ idleMs: 100, readySites: 1 })
    for (let visit = 0; visit < 12; visit++) await page(1, 'fast.php')
    const pid = pool.pidOf(1)
    for (let visit = 0; visit < 11; visit++) await page(2, 'fast.php')
    // It should stop after the first.
    await vi.waitFor(() => expect(pool.pidOf(2)).toBeUndefined(), 60_000)
    expect(pool.pidOf(1)).toBe(pid)
    await pool.stopAll(0)

    open({ idleMs: 100, readySites: 1, memoryBytes: 1 << 20 })
    for (let visit = 0; visit < 12; visit++) await page(1, 'fast.php')
    await vi.waitFor(() => expect(pool.pidOf(1)).toBeUndefined(), 60_000)
  })

  it('questions of the monitoring keep no process from sleeping', async () => {
    open({ idleMs: 300 })
    await page(1, 'fast.php')
    const look = async () =>
      text(
        (await pool.handle(site(1), testRequest('/fast.php', '/wordpress/fast.php'), undefined, { isLook: true })).body,
      )
    await vi.waitFor(
      async () => {
        if (pool.isAwake(site(1))) expect(await look()).toMatch(/^fast/)
        expect(pool.isAwake(site(1))).toBe(false)
      },
      { timeout: 60_000, interval: 50 },
    )
  })

  it('stops idle processes, and large ones between two requests', async () => {
    open({ idleMs: 50 })
    await page(1, 'fast.php')
    await vi.waitFor(() => expect(pool.stats().processes).toBe(0), 60_000)
    expect(await page(1, 'fast.php')).toMatch(/^fast/)
    open()
    await page(2, 'fast.php')
    const bytes = pool.stats().residentBytes
    await pool.stopAll(0)
    // At twice this size it would be ended while busy.
    open({ processMemoryBytes: 0.7 * bytes })
    await page(2, 'fast.php')
    await vi.waitFor(() => expect(pool.stats()).toMatchObject({ processes: 0, replaced: 1 }), 60_000)
  })

  it('restarts between requests, and applies changes of PHP version and safe mode', async () => {
    open()
    const before = (await pool.runTask(site(1), 'php-info', {})) as { version: string }
    expect(before.version).toMatch(/^8\.3/)
    const running = await occupy(1)
    const restarted = pool.restart(1)
    await running.release()
    expect(await text(running.response.body)).toBe('ab')
    await restarted
    expect(pool.stats().processes).toBe(0)
    const after = (await pool.runTask({ ...site(1), phpVersion: '8.1' }, 'php-info', {})) as { version: string }
    expect(after.version).toMatch(/^8\.1/)
    await expect(pool.runTask({ ...site(1), phpVersion: '8.1' }, 'site-title', {})).rejects.toThrow(PhpTaskError)
    const pid = pool.pidOf(1)
    await pool.runTask({ ...site(1), phpVersion: '8.1', isInSafeMode: true }, 'php-info', {})
    const isInSafeMode = pool.pidOf(1)
    expect(isInSafeMode).not.toBe(pid)
    await pool.runTask({ ...site(1), phpVersion: '8.1', isInSafeMode: true }, 'php-info', {})
    expect(pool.pidOf(1)).toBe(isInSafeMode)
  })

  it('gives PHP lower priority than Stead, and heavy sites a lower one, but not operations in them', async () => {
    open()
    const work = await occupy(1)
    const priorities = () => prioritiesOf(pool.pidOf(1) as number)
    expect(await priorities()).toEqual([1])
    // It has been busy for five minutes.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 300_000)
    // Without root, the lower priority could not be undone.
    const lowest = process.getuid?.() === 0 ? 10 : 1
    await vi.waitFor(async () => expect(await priorities()).toEqual([lowest]), 60_000)
    await work.release()
    await text(work.response.body)
    await page(1, 'fast.php')
    expect(await priorities()).toEqual([lowest])
    await pool.runTask(site(1), 'php-info', {})
    await vi.waitFor(async () => expect(await priorities()).toEqual([1]), 60_000)
    clock.mockRestore()
  })

  it('counts a start as use of PHP, and subtracts the time that PHP waited for CPU', async () => {
    open()
    const begun = vi.spyOn(RecentUse.prototype, 'begin')
    const added = vi.spyOn(RecentUse.prototype, 'add')
    const start = runtime.start.bind(runtime)
    const starting = vi.spyOn(runtime, 'start').mockImplementation(async (...args) => {
      expect(begun).toHaveBeenCalledTimes(1)
      const started = await start(...args)
      started.waitedMs = async () => 1234
      return started
    })
    await page(1, 'fast.php')
    expect(begun).toHaveBeenCalledTimes(2)
    await vi.waitFor(() => expect(added.mock.calls).toEqual([[-1234]]), 60_000)
    for (const spy of [begun, added, starting]) spy.mockRestore()
  })

  it('gives a warm spare to a site', async () => {
    open()
    const spare = await pool.startSpare(site(2))
    expect(pool.stats()).toMatchObject({ processes: 0, spares: 1 })
    const root = process.getuid?.() === 0
    if (root) expect(await prioritiesOf(spare?.pid as number)).toEqual([10])
    await spare?.moveIn({ address: testAddress })
    const start = vi.spyOn(runtime, 'start')
    await pool.adopt(site(2), spare as NonNullable<typeof spare>)
    expect(await page(2, 'fast.php')).toMatch(/^fast/)
    expect(start).not.toHaveBeenCalled()
    start.mockRestore()
    expect(pool.stats()).toMatchObject({ processes: 1, spares: 0 })
    if (root) await vi.waitFor(async () => expect(await prioritiesOf(spare?.pid as number)).toEqual([1]), 60_000)
    const awaited = await pool.startSpare(site(1), { lowPriority: false })
    if (root) expect(await prioritiesOf(awaited?.pid as number)).toEqual([1])
    await awaited?.stop(0)
    open({ memoryBytes: 1 })
    await page(1, 'fast.php')
    expect(await pool.startSpare(site(2))).toBeUndefined()
  })

  it('accepts bodies of unknown length in memory and in files, up to a limit, and leaves no file', async () => {
    const folder = join((siteDirectories[0] as TestDirectory).siteDirectory, '../')
    const budgets = testBudgets()
    open({ bodies: testBodies(4 << 20, folder, budgets) })
    await siteDirectories[0]?.script('body.php', "echo strlen(file_get_contents('php://input'));")
    const send = (bytes: number) =>
      pool.handle(site(1), {
        ...testRequest('/body.php', '/wordpress/body.php', { method: 'POST' }),
        body: Readable.from(Array.from({ length: bytes >> 16 }, () => Buffer.alloc(1 << 16))),
      })
    expect(await text((await send(1 << 17)).body)).toBe(String(1 << 17))
    expect(await text((await send(3 << 20)).body)).toBe(String(3 << 20))
    await expect(send(5 << 20)).rejects.toThrow(PhpBodyTooLarge)
    expect(await readdir(folder)).toEqual(['h1'])
    expect(Object.values(budgets).map(({ used }) => used)).toEqual(Object.values(budgets).map(() => 0))
  })

  /** Kills a site's process, as the kernel does when memory runs out. */
  function killProcessOf(number: number): void {
    const pid = pool.pidOf(number)
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  }
})

/** Returns the distinct priorities of a process' threads, and that of its autogroup, if the machine has one. */
async function prioritiesOf(pid: number): Promise<number[]> {
  const session = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => '')
  const ofSession = /nice (-?\d+)/.exec(session)?.[1]
  const ofThreads = (await threadsOf(pid)).map((thread) => getPriority(thread))
  return [...new Set([...ofThreads, ...(ofSession ? [Number(ofSession)] : [])])]
}
