/**
 * PHP itself never creates a site's database again. A request may arrive between the host's check and WordPress' own.
 */
import { existsSync } from 'node:fs'
import { rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../../test/support/ways.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()

describe.skipIf(!core).each(hereRuntimes)(
  'a database that is lost while PHP runs, $runtime',
  ({ runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let php: PhpProcess
    let file: string
    beforeAll(async () => {
      directory = await testDirectory(core as string, { phpVersion })
      file = join(directory.siteDirectory, 'private/database/site.sqlite')
      runtime = await testRuntime({ runtime: kind })
      php = await runtime.start(directory)
      await install(php)
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })

    test('answers 503 without the installer, fails tasks, and creates no file, for an emptied and a removed database', async () => {
      expect((await fetchPage(php, testRequest('/'))).status).toBe(200)
      for (const lose of [() => truncate(file), () => rm(file)]) {
        await lose()
        for (const [path, script] of [
          ['/', '/wordpress/index.php'],
          ['/wp-admin/install.php', '/wordpress/wp-admin/install.php'],
          ['/wp-login.php', '/wordpress/wp-login.php'],
        ] as const) {
          const page = await fetchPage(php, testRequest(path, script))
          expect([page.status, page.text]).toEqual([503, 'This site is not available.'])
        }
        await expect(php.runTask('check-site', {})).rejects.toThrow()
      }
      expect(existsSync(file)).toBe(false)
    })
  },
)
