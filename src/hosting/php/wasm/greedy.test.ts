import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestHome,
  testBudgets,
  testHome,
  testRequest,
  testRuntime,
} from '../../../../test/support/home.ts'
import { PhpCrashed, type PhpProcess, type PhpRuntime, PhpTaskError } from '../runtime.ts'
import { residentBytesOf } from './memory.ts'

const core = await testCore()

/** What a site's plugins can make the host hold, and what its PHP can take. */
describe.skipIf(!core)('greedy PHP', () => {
  let runtime: PhpRuntime
  let home: TestHome
  let php: PhpProcess
  const budgets = testBudgets()

  beforeAll(async () => {
    runtime = await testRuntime({ budgets })
    home = await testHome(core as string)
    php = await runtime.start(home)
    await install(php)
  })
  afterAll(async () => {
    await runtime?.close()
    await home?.remove()
  })

  /** Code that runs in every task, once WordPress is loaded. */
  async function plugin(code: string): Promise<void> {
    await mkdir(join(home.homePath, 'web/wp-content/mu-plugins'), { recursive: true })
    await writeFile(join(home.homePath, 'web/wp-content/mu-plugins/greedy.php'), `<?php ${code}`)
  }
  async function run(code: string) {
    const script = await home.script('greedy.php', `echo json_encode((function () { ${code} })());`)
    return fetchPage(php, testRequest('/greedy.php', script))
  }
  const print = (mb: number) =>
    `while (ob_get_level()) ob_end_clean(); for ($i = 0; $i < ${mb * 16}; $i++) echo str_repeat('x', 65536);`

  it('prints into a task what it likes: none of it is kept, and the result is found', async () => {
    await plugin(print(60))
    const before = process.memoryUsage.rss()
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 << 20)
    expect(budgets.taskResults.used).toBe(0)
  })

  it('cannot make a result longer than the budget says', async () => {
    await plugin("add_filter('pre_option_blogname', fn () => str_repeat('x', 2 << 20));")
    await expect(php.runTask('site-title', {})).rejects.toThrow(PhpTaskError)
    await plugin('')
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
  })

  it('is ended when a task prints without end; the next process is as good as new', async () => {
    await plugin(print(1500))
    const before = process.memoryUsage.rss()
    const task = php.runTask('site-title', {})
    await expect(task).rejects.toThrow(PhpCrashed)
    await expect(task).rejects.toThrow('printed more than 64 MB')
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 << 20)
    await php.exited
    await plugin('')
    php = await runtime.start(home)
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
  })

  it('has an end to its memory that no setting lifts: a fatal error in its log, and PHP goes on', async () => {
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
    const log = await readFile(join(home.homePath, 'private/php-error.log'), 'utf8')
    expect(log).toMatch(/Fatal error: +Out of memory/)
  })

  it('goes on after small pieces too have eaten all memory', async () => {
    const page = await run("ini_set('memory_limit', '-1'); for ($all = [];;) $all[] = [1, 2, 3];")
    expect(page.status).toBe(500)
    const other = await run("ini_set('memory_limit', '-1'); return str_repeat('x', 1 << 30);")
    expect(other.status).toBe(500)
    expect((await run('return 1;')).text).toBe('1')
    expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
  })
})
