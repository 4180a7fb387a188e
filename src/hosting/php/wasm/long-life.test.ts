import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import { fetchPage, type TestHome, testHome, testRequest, testRuntime } from '../../../../test/support/home.ts'
import { type PhpRuntime, phpVersions } from '../runtime.ts'

const core = await testCore()

describe.skipIf(!core).each(phpVersions)('a process of PHP %s that lives long', (phpVersion) => {
  let runtime: PhpRuntime
  let home: TestHome

  beforeAll(async () => {
    runtime = await testRuntime()
    home = await testHome(core as string, { phpVersion })
  })
  afterAll(async () => {
    await runtime?.close()
    await home?.remove()
  })

  it('answers its 2,500th request and task like its first', async () => {
    const script = await home.script(
      'some.php',
      "fopen('php://stderr', 'w'); file_put_contents('/tmp/a', 'b'); echo 'page';",
    )
    const php = await runtime.start(home)
    for (let number = 0; number < 2500; number++) {
      if (number % 5 === 0) expect(await php.runTask('move-in', {})).toEqual([])
      else expect((await fetchPage(php, testRequest('/some.php', script))).text).toBe('page')
    }
  })
})
