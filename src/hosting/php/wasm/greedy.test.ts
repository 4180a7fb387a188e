import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import { openGc } from '../../../../test/support/gc.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testBodies,
  testBudgets,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../../test/support/ways.ts'
import { proportionalBytesOf } from '../native/proportional-memory.ts'
import { PhpPool } from '../pool/pool.ts'
import { PhpCrashed, type PhpProcess, type PhpRuntime } from '../runtime.ts'
import { PhpTaskError } from '../task-error.ts'
import { residentBytesOf } from './process-tree.ts'

const core = await testCore()

/** What a site's plugins can make the host hold, and what its PHP can use. */
describe.skipIf(!core)('greedy PHP', () => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess
  const budgets = testBudgets()

  beforeAll(async () => {
    runtime = await testRuntime({ budgets })
    directory = await testDirectory(core as string)
    php = await runtime.start(directory)
    await install(php)
  })
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
  })

  /** Installs code that runs in every task, after WordPress is loaded. */
  async function plugin(code: string): Promise<void> {
    await mkdir(join(directory.siteDirectory, 'web/wp-content/mu-plugins'), { recursive: true })
    await writeFile(join(directory.siteDirectory, 'web/wp-content/mu-plugins/greedy.php'), `<?php ${code}`)
  }
  async function run(code: string) {
    const script = await directory.script('greedy.php', `echo json_encode((function () { ${code} })());`)
    return fetchPage(php, testRequest('/greedy.php', script))
  }
  const collect = openGc()
  /** Returns the bytes of this process that are still referenced. */
  const held = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const print = (mb: number) =>
    `while (ob_get_level()) ob_end_clean(); for ($i = 0; $i < ${mb * 16}; $i++) echo str_repeat('x', 65536);`

  it('keeps nothing of what a task prints, and finds the result', async () => {
    await plugin(print(60))
    const before = held()
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
    // Of 60 MB. Resident memory would show more about the collector than about what is kept.
    await expect.poll(() => held() - before, { timeout: 10_000 }).toBeLessThan(10 << 20)
    expect(budgets.taskResults.used).toBe(0)
  })

  it('limits the length of a result to the budget', async () => {
    await plugin("add_filter('pre_option_blogname', fn () => str_repeat('x', 2 << 20));")
    await expect(php.runTask('site-title', {})).rejects.toThrow(PhpTaskError)
    await plugin('')
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
  })

  it('ends a task that prints endlessly, and the next process works normally', async () => {
    await plugin(print(1500))
    const before = process.memoryUsage.rss()
    const task = php.runTask('site-title', {})
    await expect(task).rejects.toThrow(PhpCrashed)
    await expect(task).rejects.toThrow('printed more than 64 MB')
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 << 20)
    await php.exited
    await plugin('')
    php = await runtime.start(directory)
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
  })

  it('limits memory beyond any setting, logs a fatal error, and keeps PHP running', async () => {
    let most = 0
    php.onGrowth = () => {
      most = Math.max(most, php.lastResidentBytes)
    }
    for (let round = 0; round < 3; round++) {
      const page = await run("ini_set('memory_limit', '-1'); for ($all = [];;) $all[] = str_repeat('x', 1 << 20);")
      expect([page.status, page.text]).toEqual([500, ''])
      expect((await run('return 1;')).text).toBe('1')
    }
    expect(most).toBeGreaterThan(300 << 20)
    expect(most).toBeLessThanOrEqual(768 << 20)
    expect(await residentBytesOf(php.pid)).toBeLessThan(900 << 20)
    const log = await readFile(join(directory.siteDirectory, 'private/php-error.log'), 'utf8')
    expect(log).toMatch(/Fatal error: +Out of memory/)
  })

  it('continues after small allocations have used all memory', async () => {
    const page = await run("ini_set('memory_limit', '-1'); for ($all = [];;) $all[] = [1, 2, 3];")
    expect(page.status).toBe(500)
    const other = await run("ini_set('memory_limit', '-1'); return str_repeat('x', 1 << 30);")
    expect(other.status).toBe(500)
    expect((await run('return 1;')).text).toBe('1')
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
  })
})

describe.skipIf(!core).each(hereRuntimes)('greedy sites together, on $runtime', ({ runtime: kind, phpVersion }) => {
  const budgetBytes = 1300 << 20

  it('stay within the memory of the host while they run, and others get their pages', async () => {
    // Each site could have its memory if the others did not run. Their total is what ends one of them.
    const runtime = await testRuntime({ memoryLimitMb: 512, runtime: kind })
    const siteDirectories = await Promise.all([1, 2, 3, 4, 5].map(() => testDirectory(core as string, { phpVersion })))
    const warnings: string[] = []
    const pool = new PhpPool(runtime, {
      queueLength: 10,
      requestMs: 20_000,
      taskMs: 20_000,
      idleMs: 600_000,
      memoryBytes: budgetBytes,
      processMemoryBytes: 768 << 20,
      bodies: testBodies(),
      log: { warn: (_facts, message) => warnings.push(message) },
    })
    // Four would use 1,900 MB. They grow slowly enough for a check every 200 ms.
    const eat = `ini_set('memory_limit', '-1'); $all = [];
      while (memory_get_usage() < 460 << 20) { $all[] = str_repeat('x', 4 << 20); usleep(20000); } sleep(30);`
    await Promise.all(siteDirectories.map((directory) => directory.script('eat.php', eat)))
    await Promise.all(siteDirectories.map((directory) => directory.script('fast.php', "echo 'fast';")))
    const visit = async (number: number, script: string) => {
      const site = { ...(siteDirectories[number - 1] as TestDirectory), siteId: number }
      return text((await pool.handle(site, testRequest(`/${script}`, `/wordpress/${script}`))).body)
    }
    try {
      let most = 0
      let measuring = true
      const measured = (async () => {
        for (; measuring; await pause(50)) {
          const all = await Promise.all(
            [1, 2, 3, 4, 5]
              .map((id) => pool.pidOf(id))
              .map((pid) => pid && (kind === 'native' ? proportionalBytesOf(pid) : residentBytesOf(pid))),
          )
          most = Math.max(
            most,
            all.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
          )
        }
      })()
      const ends = [1, 2, 3, 4].map((id) => visit(id, 'eat.php').catch((error) => error))
      const first = (await Promise.race(ends)) as Error
      expect(first).toBeInstanceOf(PhpCrashed)
      expect(first.message).toMatch(/PHP used \d+ MB of memory when all sites together used more than 1300 MB/)
      expect(await visit(5, 'fast.php')).toBe('fast')
      measuring = false
      await measured
      expect(most).toBeGreaterThan(700 << 20)
      expect(most).toBeLessThan(budgetBytes + (400 << 20))
      expect(warnings).toContain('stopping the largest PHP process, because PHP exceeds its memory limit')
      // The others keep growing between two checks.
      await expect.poll(() => pool.stats().residentBytes, { timeout: 10_000 }).toBeLessThanOrEqual(budgetBytes)
      await pool.stopAll(0)
      await Promise.all(ends)
    } finally {
      await pool.stopAll(0)
      await runtime.close()
      await Promise.all(siteDirectories.map((directory) => directory.remove()))
    }
  })
})
