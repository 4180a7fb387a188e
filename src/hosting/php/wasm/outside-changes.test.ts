import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  giveToSite,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../../test/support/ways.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()

const cases = hereRuntimes.flatMap(({ versions, runtime }) => versions.map((phpVersion) => ({ runtime, phpVersion })))

describe.skipIf(!core).each(cases)(
  'a change from outside between two requests of PHP $phpVersion, $runtime',
  ({ runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let php: PhpProcess
    let web: string

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind })
      directory = await testDirectory(core as string, { phpVersion })
      web = join(directory.siteDirectory, 'web')
      php = await runtime.start(directory)
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })

    /** @returns what the code returns */
    async function run(code: string): Promise<unknown> {
      const script = await directory.script('run.php', `echo json_encode((function () { ${code} })());`)
      return JSON.parse((await fetchPage(php, testRequest('/run.php', script))).text)
    }
    /** Creates a file that belongs to the site, so that PHP can change it too. */
    async function make(name: string, text: string): Promise<void> {
      await mkdir(join(web, name, '..'), { recursive: true })
      await writeFile(join(web, name), text)
      await giveToSite(join(web, name, '..'))
    }
    const look = (...names: string[]) =>
      run(`return array_map(fn($name) => [file_exists($name), is_readable($name), is_file($name), is_dir($name)],
      ${JSON.stringify(names.map((name) => `/wordpress/${name}`))});`)
    const [file, folder, nothing] = [
      [true, true, true, false],
      [true, true, false, true],
      [false, false, false, false],
    ]

    it('removes a file, and restores it', async () => {
      await make('one/a.php', "<?php return 'first';")
      expect(await look('one', 'one/a.php')).toEqual([folder, file])
      await rm(join(web, 'one/a.php'))
      expect(await look('one', 'one/a.php')).toEqual([folder, nothing])
      await make('one/a.php', "<?php return 'again';")
      expect(await look('one', 'one/a.php')).toEqual([folder, file])
      expect(await run("return include '/wordpress/one/a.php';")).toBe('again')
      await rm(join(web, 'one'), { recursive: true })
      expect(await look('one', 'one/a.php')).toEqual([nothing, nothing])
    })

    it('lets PHP create a deleted file again', async () => {
      await make('two/a', 'text')
      expect(await look('two', 'two/a')).toEqual([folder, file])
      await rm(join(web, 'two'), { recursive: true })
      expect(await run("return [mkdir('/wordpress/two'), fopen('/wordpress/two/a', 'x') !== false];")).toEqual([
        true,
        true,
      ])
      expect(await look('two', 'two/a')).toEqual([folder, file])
    })

    it('may replace a file with another type, but never with a link', async () => {
      await make('three/a', 'text')
      await make('three/b/inside', 'text')
      await make('three/c', 'text')
      expect(await look('three/a', 'three/b', 'three/c')).toEqual([file, folder, file])
      await rm(join(web, 'three/a'))
      await rename(join(web, 'three/b'), join(web, 'three/a'))
      await make('three/b', 'text')
      await make('three/d/inside', 'text')
      expect(await look('three/d/inside')).toEqual([file])
      await rename(join(web, 'three/d'), join(web, 'three/e'))
      await symlink(join(web, 'three/e'), join(web, 'three/d'))
      await rm(join(web, 'three/c'))
      await symlink(join(web, 'three/b'), join(web, 'three/c'))
      expect(await look('three/a', 'three/b', 'three/c', 'three/d/inside')).toEqual([folder, file, nothing, nothing])
      expect(
        await run(
          "return [array_values(array_diff(scandir('/wordpress/three/a'), ['.', '..'])), file_get_contents('/wordpress/three/b')];",
        ),
      ).toEqual([['inside'], 'text'])
    })

    it('is reflected by realpath()', async () => {
      const paths = ['a', 'a/b', 'a/b/inside', 'a/b/inside/', './a/../a/c', 'a/c/']
      const real = () => run(`chdir('/wordpress/five'); return array_map('realpath', ${JSON.stringify(paths)});`)
      const five = (...names: (string | false)[]) => names.map((name) => name && `/wordpress/five/${name}`)
      await make('five/a/b/inside', 'text')
      await make('five/a/c', 'text')
      await make('five/other/c/inside', 'text')
      for (let time = 0; time < 2; time++)
        expect(await real()).toEqual(five('a', 'a/b', 'a/b/inside', false, 'a/c', false))
      await rm(join(web, 'five/a/b/inside'))
      expect(await real()).toEqual(five('a', 'a/b', false, false, 'a/c', false))
      await make('five/a/b/inside', 'text')
      expect(await real()).toEqual(five('a', 'a/b', 'a/b/inside', false, 'a/c', false))
      // One folder takes the place of another.
      await rename(join(web, 'five/a'), join(web, 'five/before'))
      await rename(join(web, 'five/other'), join(web, 'five/a'))
      expect(await real()).toEqual(five('a', false, false, false, 'a/c', 'a/c'))
      expect(
        await run("return [realpath('/wordpress/five/before/b/inside'), realpath('/wordpress/five/other/c')];"),
      ).toEqual(['/wordpress/five/before/b/inside', false])
      await rm(join(web, 'five'), { recursive: true })
      expect(
        await run(
          "chdir('/wordpress'); return array_map('realpath', ['/wordpress/five', '/wordpress/five/a/c', '', '.']);",
        ),
      ).toEqual([false, false, '/wordpress', '/wordpress'])
    })

    it('is distinguished from changes that PHP itself made after it looked', async () => {
      await make('four/a', 'text')
      const code = `chdir('/wordpress/four');
      $sizes = [file_exists('a'), filesize('a')];
      $a = fopen('a', 'a'); fwrite($a, ' and more'); fflush($a); clearstatcache();
      $sizes[] = file_exists('a'); $sizes[] = filesize('a'); ftruncate($a, 2); clearstatcache(); $sizes[] = filesize('a');
      rename('a', 'b'); mkdir('a'); clearstatcache();
      return [...$sizes, is_dir('a'), filesize('b'), rmdir('a'), unlink('b'), file_exists('a'), file_exists('b')];`
      expect(await run(code)).toEqual([true, 4, true, 13, 2, true, 2, true, true, false, false])
    })
  },
)
