import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import { giveToSite, type TestDirectory, testDirectory, testRuntime } from '../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../test/support/ways.ts'
import type { PhpProcess, PhpRuntime } from './runtime.ts'

const core = await testCore()

const cases = hereRuntimes.flatMap(({ versions, runtime }) => versions.map((phpVersion) => ({ runtime, phpVersion })))

describe.skipIf(!core).each(cases)(
  'the check of a file by PHP $phpVersion, $runtime',
  ({ runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let php: PhpProcess
    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind })
      directory = await testDirectory(core as string, { phpVersion })
      php = await runtime.start(directory)
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })

    const faultOf = async (text: string) => {
      const file = join(directory.siteDirectory, 'private/tmp/check.php')
      await writeFile(file, text)
      await giveToSite(join(directory.siteDirectory, 'private/tmp'))
      return (await php.runTask('check-php', {})).fault
    }

    it.each([
      ['<?php\n\nif (true) {', /^syntax error, unexpected end of file|^Unclosed '{'/, 3],
      ['<?php\nfunction twice() {}\n\nfunction twice() {}\n', /^Cannot redeclare (function )?twice\(\)/, 4],
      ['<?php\n\nbreak;\n', /^'break' not in the 'loop' or 'switch' context$/, 3],
      ['<?php\nfunction strlen($text) {}', /^Cannot redeclare (function )?strlen\(\)/, 2],
      ['<?php\n$a = 1;\nnamespace Late;', /^Namespace declaration statement has to be the very first/, 3],
    ])('%j: reports what is wrong, and where', async (text, message, line) => {
      expect(await faultOf(text)).toEqual({ message: expect.stringMatching(message), line })
    })

    it('finds nothing wrong with code that needs other files, and runs none of it', async () => {
      const text = `<?php
      declare(strict_types=1);
      namespace Agency;
      final class Tool extends \\Elsewhere implements \\Nowhere {}
      function stead_answer() {}
      throw new \\Exception(missing());`
      for (let time = 0; time < 3; time++) expect(await faultOf(text)).toBeNull()
    })

    it('knows the syntax of its own version', async () => {
      const fault = await faultOf('<?php readonly class Point { public function __construct(public int $x) {} }')
      if (phpVersion === '8.1') expect(fault?.message).toContain('unexpected token "readonly"')
      else expect(fault).toBeNull()
    })
  },
)
