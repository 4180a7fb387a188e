import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultFpmLimits } from '../src/hosting/php/native/fpm-settings.ts'
import { proportionalBytesOf } from '../src/hosting/php/native/proportional-memory.ts'
import type { PhpVersion } from '../src/hosting/php/runtime.ts'
import { testCore } from '../test/support/core.ts'
import { fetchPage, install, testDirectory, testRequest, testRuntime } from '../test/support/site-directory.ts'

/** Concurrent starts. */
const AT_ONCE = 4

/** Memory in MB of this many sites that have shown their front page, some time later. */
export async function memoryOfIdleSites(count: number, phpVersion: PhpVersion): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-idle-'))
  const runtime = await testRuntime({ runtime: 'native' })
  const directory = await testDirectory((await testCore()) as string, { phpVersion })
  try {
    const first = await runtime.start(directory)
    await install(first)
    await first.stop()
    const shown = async (n: number): Promise<number> => {
      const siteDirectory = join(folder, `h${n}`)
      execFileSync('cp', ['-a', directory.siteDirectory, siteDirectory])
      const php = await runtime.start({ ...directory, siteDirectory })
      const { status } = await fetchPage(php, testRequest('/'))
      if (status !== 200) throw new Error(`a front page answers with ${status}`)
      return php.pid
    }
    const pids: number[] = []
    for (let n = 0; n < count; n += AT_ONCE)
      pids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => shown(n + more)))))
    await new Promise((resolve) => setTimeout(resolve, (defaultFpmLimits.idleSeconds + 5) * 1000))
    const each = await Promise.all(pids.map(proportionalBytesOf))
    return each.reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20
  } finally {
    await runtime.close()
    await directory.remove()
    await rm(folder, { recursive: true, force: true })
  }
}
