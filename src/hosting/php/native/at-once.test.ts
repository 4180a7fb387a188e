import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  type TestDirectory,
  testBodies,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { runtimes } from '../../../../test/support/ways.ts'
import { openBudgets } from '../../../platform/budgets/budget.ts'
import { PhpPool, type PhpVisitOptions, type PoolLimits } from '../pool/pool.ts'
import { type PhpRuntime, PhpTimeout, PhpWaitsForItself } from '../runtime.ts'
import { processTree } from '../wasm/process-tree.ts'

const core = await testCore()
const native = runtimes.find(({ runtime }) => runtime === 'native')

const limits: PoolLimits = {
  queueLength: 50,
  requestMs: 60_000,
  taskMs: 60_000,
  idleMs: 600_000,
  memoryBytes: 4 * 2 ** 30,
  processMemoryBytes: 768 << 20,
  bodies: testBodies(),
}

describe.skipIf(!core || !native || native.skip)('concurrent requests of a site', () => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let pool: PhpPool

  beforeAll(async () => {
    runtime = await testRuntime({ runtime: 'native' })
    directory = await testDirectory(core as string, { phpVersion: native?.phpVersion ?? '8.2' })
    const wait = "while (!file_exists('/tmp/go-' . $_GET['n'])) usleep(2000);"
    await directory.script('wait.php', `echo 'a'; ob_flush(); flush(); ${wait} echo 'b';`)
    await directory.script('fast.php', "echo 'fast';")
    await directory.script('loop.php', "echo 'a'; ob_flush(); flush(); while (true);")
    await directory.script('pid.php', 'echo getmypid();')
  })
  beforeEach(() => open())
  afterEach(() => pool.stopAll(0))
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
  })

  const open = (change: Partial<PoolLimits> = {}) => {
    pool = new PhpPool(runtime, { ...limits, ...change })
  }
  const site = () => ({ ...directory, siteId: 1 })
  const ask = async (path: string, visit: PhpVisitOptions = {}, signal?: AbortSignal) => {
    const answer = await pool.handle(site(), testRequest(path, `/wordpress${path.split('?')[0]}`), signal, visit)
    return { body: text(answer.body) }
  }
  const goFile = (n: number) => join(directory.siteDirectory, `private/tmp/go-${n}`)
  /** Sends a request that keeps running until it is released. */
  const begin = async (n: number, visit: PhpVisitOptions = {}) => {
    await rm(goFile(n), { force: true })
    const { body } = await ask(`/wait.php?n=${n}`, visit)
    return async () => {
      await writeFile(goFile(n), '')
      return body
    }
  }

  it('run in parallel up to the limit, and the next one waits', async () => {
    const ends = await Promise.all([1, 2, 3, 4].map((n) => begin(n)))
    const fifth = ask('/fast.php')
    await vi.waitFor(() => expect(pool.stats().waiting).toBe(1))
    expect(await ends[2]?.()).toBe('ab')
    expect(await (await fifth).body).toBe('fast')
    for (const end of [ends[0], ends[1], ends[3]]) expect(await end?.()).toBe('ab')
    await vi.waitFor(() => expect(pool.stats().busy).toBe(0))
  })

  it('are ended individually when they take too long', async () => {
    open({ requestMs: 1500 })
    const pid = await (await ask('/pid.php')).body
    const looping = (await ask('/loop.php')).body.catch((error: Error) => error)
    const master = pool.pidOf(1)
    expect(await looping).toBeInstanceOf(PhpTimeout)
    expect(pool.pidOf(1)).toBe(master)
    expect(Number(pid)).toBeGreaterThan(0)
    const end = await begin(1)
    const second = (await ask('/loop.php')).body.catch((error: Error) => error)
    expect(await end()).toBe('ab')
    expect(await second).toBeInstanceOf(PhpTimeout)
    expect(await (await ask('/fast.php')).body).toBe('fast')
    expect(pool.stats()).toMatchObject({ crashes: 0, timeouts: 2 })
  })

  it('go to the next php-fpm when the current one died before they began', async () => {
    await (await ask('/pid.php')).body
    const bubblewrap = pool.pidOf(1) as number
    const inside = processTree(bubblewrap).slice(1)
    const isMaster = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('master process')
    process.kill(inside.find(isMaster) as number, 'SIGKILL')
    // Blocks the event loop, so that nothing listens any longer and the host has not noticed yet.
    while (inside.some((pid) => existsSync(`/proc/${pid}`))) {}
    expect(pool.pidOf(1)).toBe(bubblewrap)
    const pages = await Promise.all([1, 2, 3].map(() => ask('/pid.php')))
    for (const { body } of pages) expect(await body).toMatch(/^\d+$/)
    expect(pool.pidOf(1)).not.toBe(bubblewrap)
    expect(pool.stats()).toMatchObject({ crashes: 1, refused: 0 })
  })

  it('finish before work between requests begins, and none begins meanwhile', async () => {
    const ends = await Promise.all([1, 2].map((n) => begin(n)))
    const done: string[] = []
    const gate = Promise.withResolvers<void>()
    const work = pool.between(1, async () => {
      done.push('work')
      await gate.promise
    })
    const later = ask('/fast.php').then(({ body }) => body.then(() => done.push('page')))
    expect(await ends[0]?.()).toBe('ab')
    expect(done).toEqual([])
    expect(pool.stats().waiting).toBe(2)
    expect(await ends[1]?.()).toBe('ab')
    await vi.waitFor(() => expect(done).toEqual(['work']))
    gate.resolve()
    await Promise.all([work, later])
    expect(done).toEqual(['work', 'page'])
  })

  it('wait while a task that changes the site runs, but scheduled events run beside visitors', async () => {
    const end = await begin(1)
    await pool.runTask(site(), 'php-info', {})
    const order: string[] = []
    const alone = pool.runTask(site(), 'check-copy', {}).then(
      () => order.push('task'),
      () => order.push('task'),
    )
    await vi.waitFor(() => expect(pool.stats().waiting).toBe(1))
    const page = end().then(() => order.push('page'))
    await Promise.all([alone, page])
    expect(order).toEqual(['page', 'task'])
  })

  it('let one that another waits for go first, beyond the limit for visitors and before exclusive work', async () => {
    const ends = await Promise.all([1, 2, 3, 4].map((n) => begin(n)))
    const work = pool.between(1, async () => 'alone')
    const visitor = ask('/fast.php')
    expect(await (await ask('/fast.php', { isOwn: true })).body).toBe('fast')
    for (const end of ends) await end()
    expect(await work).toBe('alone')
    expect(await (await visitor).body).toBe('fast')
  })

  it('reject one that all others would wait for', async () => {
    const ends = await Promise.all([1, 2, 3, 4].map((n) => begin(n)))
    ends.push(await begin(5, { isOwn: true }))
    // One of the five that run waits for the fifth, and two wait for the next ones, so one can still finish.
    const waiting = [6, 7].map(() => ask('/fast.php', { isOwn: true }))
    await vi.waitFor(() => expect(pool.stats().waiting).toBe(2))
    const more = [8, 9].map(() => ask('/fast.php', { isOwn: true }).catch((error: Error) => error))
    expect(await more[1]).toBeInstanceOf(PhpWaitsForItself)
    for (const end of ends) await end()
    for (const each of waiting) expect(await (await each).body).toBe('fast')
    await pool.between(1, async () => {
      await expect(ask('/fast.php', { isOwn: true })).rejects.toThrow(PhpWaitsForItself)
    })
  })

  it('share the host’s places, and each site has one of its own', async () => {
    const terms = { name: 'places', what: '', of: 'count', whose: 'site', each: 4, all: 1, over: '' } as const
    const { places } = openBudgets({ places: terms })
    open({ places })
    await (await ask('/fast.php')).body
    const ends = await Promise.all([1, 2].map((n) => begin(n)))
    const third = ask('/fast.php')
    await vi.waitFor(() => expect(pool.stats().waiting).toBe(1))
    expect(places.used).toBe(1)
    await ends[0]?.()
    expect(await (await third).body).toBe('fast')
    await ends[1]?.()
    await vi.waitFor(() => expect(places.used).toBe(0))
  })

  it('lose no comments: 4 × 100 at once on SQLite', async () => {
    await pool.runTask(site(), 'install', {
      title: 'Many',
      user: 'admin',
      password: 'correct horse battery',
      email: 'owner@example.com',
      url: `http://${directory.address}`,
    })
    const code = `require '/wordpress/wp-load.php'; $made = 0;
      for ($i = 0; $i < 100; $i++) $made += (bool) wp_insert_comment(['comment_post_ID' => 1, 'comment_content' => $_GET['n'] . '-' . $i]);
      echo $made;`
    await directory.script('comments.php', code)
    const answers = await Promise.all([1, 2, 3, 4].map(async (n) => (await ask(`/comments.php?n=${n}`)).body))
    expect(answers).toEqual(['100', '100', '100', '100'])
    const count = `require '/wordpress/wp-load.php'; global $wpdb;
      echo $wpdb->get_var("SELECT COUNT(DISTINCT comment_content) FROM {$wpdb->comments} WHERE comment_content LIKE '%-%'");`
    await directory.script('count.php', count)
    expect(await (await ask('/count.php')).body).toBe('400')
  })

  it('do not use cached objects that another may have changed', async () => {
    const code =
      "require '/wordpress/wp-load.php'; echo function_exists('wp_cache_get_multiple'), (int) defined('STEAD_CACHE_FOLDER');"
    await directory.script('cache.php', code)
    expect(await (await ask('/cache.php')).body).toBe('10')
  })
})
