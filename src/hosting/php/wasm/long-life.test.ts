import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { type PhpRuntime, phpVersions } from '../runtime.ts'

const core = await testCore()

describe.skipIf(!core).each(phpVersions)('a long-lived process of PHP %s', (phpVersion) => {
  let runtime: PhpRuntime
  let directory: TestDirectory

  beforeAll(async () => {
    runtime = await testRuntime()
    directory = await testDirectory(core as string, { phpVersion })
  })
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
  })

  it('answers its 2,500th request and task like its first', async () => {
    const script = await directory.script(
      'some.php',
      "fopen('php://stderr', 'w'); file_put_contents('/tmp/a', 'b'); echo 'page';",
    )
    const php = await runtime.start(directory)
    for (let number = 0; number < 2500; number++) {
      if (number % 5 === 0) expect(await php.runTask('move-in', {})).toEqual([])
      else expect((await fetchPage(php, testRequest('/some.php', script))).text).toBe('page')
    }
  })
})
