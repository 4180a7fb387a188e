import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { ways } from '../../../../test/support/ways.ts'
import { PhpCrashed, type PhpProcess, type PhpRuntime } from '../runtime.ts'

const core = await testCore()
const secret = 'the neighbour’s secret'

describe.skipIf(!core).each(ways.filter(({ skip }) => !skip))(
  'hostile PHP, $way',
  ({ runtime: kind, phpVersion, sandbox, isOpen, uid }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let neighbour: TestDirectory
    let php: PhpProcess

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind, sandbox })
      directory = await testDirectory(core as string, { isOpen, phpVersion })
      neighbour = await testDirectory(core as string, { isOpen, phpVersion })
      await writeFile(join(neighbour.siteDirectory, 'web/secret.txt'), secret)
      await symlink(join(neighbour.siteDirectory, 'web/secret.txt'), join(directory.siteDirectory, 'web/link.txt'))
      await symlink(neighbour.siteDirectory, join(directory.siteDirectory, 'web/link-folder'))
      php = await runtime.start(directory)
    })
    afterAll(async () => {
      await runtime?.close()
      await Promise.all([directory?.remove(), neighbour?.remove()])
    })

    /** Runs PHP code that returns a value, and returns that value. */
    async function run(code: string): Promise<unknown> {
      const script = await directory.script('hostile.php', `echo json_encode((function () { ${code} })());`)
      const page = await fetchPage(php, testRequest('/hostile.php', script))
      return page.text === '' ? `died: ${page.status}` : JSON.parse(page.text)
    }

    it('reads no file of the machine or of another site', async () => {
      const paths = [
        '/etc/passwd',
        '/etc/hostname',
        '/proc/self/environ',
        '/proc/1/environ',
        '/proc/self/maps',
        '/../../etc/passwd',
        '/wordpress/../../../../etc/passwd',
        '/wordpress/wp-admin/../../../../../etc/passwd',
        join(neighbour.siteDirectory, 'web/secret.txt'),
        `/wordpress/../../../../../..${neighbour.siteDirectory}/web/secret.txt`,
        'file:///etc/passwd',
        'glob:///etc/*',
      ]
      // php-wasm has no such files. Those that native PHP has describe its own process only, not another's environment.
      const ofItself = kind === 'native' ? ['/proc/self/environ', '/proc/self/maps'] : []
      for (const path of paths.filter((each) => !ofItself.includes(each)))
        expect([path, await run(`return @file_get_contents(${JSON.stringify(path)});`)]).toEqual([path, false])
      for (const path of ofItself)
        expect(await run(`return preg_match('/STEAD|PATH|HOME/', file_get_contents('${path}'));`)).toBe(0)
      expect(await run("return [getenv('STEAD_MASTER_KEY'), getenv('HOME'), count(getenv())];")).toMatchObject([
        false,
        expect.anything(),
        expect.any(Number),
      ])
    })

    it('follows no link in its folder, and creates none', async () => {
      expect(await run("return @file_get_contents('/wordpress/link.txt');")).toBe(false)
      expect(await run("return @file_get_contents('/wordpress/link-folder/web/secret.txt');")).toBe(false)
      expect(await run("return @scandir('/wordpress/link-folder');")).toBe(false)
      expect(await run("return function_exists('symlink') || function_exists('link');")).toBe(false)
      expect(
        await run("try { return symlink('/etc', '/wordpress/out'); } catch (Error $e) { return 'refused'; }"),
      ).toBe('refused')
      expect(
        (await readdir(join(directory.siteDirectory, 'web'), { withFileTypes: true })).filter((entry) =>
          entry.isSymbolicLink(),
        ),
      ).toHaveLength(2)
    })

    it('cannot write into the core, into Stead’s own files, or above its folder', async () => {
      expect(await run("return @file_put_contents('/wordpress/wp-includes/version.php', 'x');")).toBe(false)
      expect(await run("return @file_put_contents('/wordpress/wp-admin/x.php', 'x');")).toBe(false)
      expect(await run("return @unlink('/wordpress/wp-includes/version.php');")).toBe(false)
      expect(await run("return @rename('/wordpress/wp-includes', '/wordpress/away');")).toBe(false)
      expect(await run("return @file_put_contents('/wordpress/../x', 'x') && file_exists('/x');")).not.toBe(
        'reached the machine',
      )
      expect(await readdir(join(directory.siteDirectory, '..'))).toEqual(['h1'])
      expect(await run("return file_put_contents('/wordpress/wp-content/x.txt', 'mine');")).toBe(4)
    })

    it('starts no program', async () => {
      for (const name of ['exec', 'shell_exec', 'system', 'passthru', 'proc_open', 'dl', 'pcntl_exec', 'pcntl_fork'])
        expect([
          name,
          await run(`try { return ${name}('id', $a, $b); } catch (Error $e) { return 'refused'; }`),
        ]).toEqual([name, 'refused'])
      // prepend.php allows only sendmail, for mails.
      expect(
        await run("return @popen('id', 'r') || @popen('id', 'w') || @popen('sh -c /usr/sbin/sendmail', 'w');"),
      ).toBe(false)
      expect(await run("ini_set('disable_functions', ''); return ini_get('disable_functions') === '';")).toBe(false)
      expect(await run('return `id`;')).toBe('died: 500')
      expect(await run("return class_exists('FFI');")).toBe(false)
    })

    it('reaches nothing on loopback or in private networks, in any notation', async () => {
      let reached = 0
      const server = createServer((socket) => {
        reached++
        socket.end('reached')
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as { port: number }
      const hosts = [
        '127.0.0.1',
        'localhost',
        'a.localhost',
        '0.0.0.0',
        '[::1]',
        '10.0.0.1',
        '192.168.0.1',
        '169.254.169.254',
        '2130706433',
        '0x7f.1',
      ]
      for (const host of hosts)
        expect([
          host,
          await run(`$f = @fsockopen('${host}', ${port}, $code, $text, 3); return $f && fgets($f);`),
        ]).toEqual([host, false])
      expect(await run(`return @stream_socket_client('udp://127.0.0.1:${port}') && false;`)).toBe(false)
      // In a separate network, which contains nothing else.
      expect(await run(`return (bool) @stream_socket_server('tcp://127.0.0.1:0');`)).toBe(kind === 'native')
      expect(await run(`return (bool) @stream_socket_client('unix:///tmp/x');`)).toBe(false)
      expect(
        await run(
          `$c = curl_init('http://127.0.0.1:${port}/'); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); return curl_exec($c);`,
        ),
      ).toBe(false)
      server.close()
      expect(reached).toBe(0)
    })

    it('has a memory limit, whatever limit it sets', async () => {
      // -1 as a plugin sets it, and a number as WordPress sets it with WP_MEMORY_LIMIT.
      for (const limit of ['-1', '4096M']) {
        const greedy = run(`ini_set('memory_limit', '${limit}'); return strlen(str_repeat('x', 1 << 30));`)
        // The limit ends php-fpm's child, and another one takes its place.
        expect(await greedy.catch((error) => error)).toSatisfy(
          (end) => end === 'died: 500' || (kind === 'native' && end instanceof PhpCrashed),
        )
        expect(await run('return 1;')).toBe(1)
      }
    })

    it('takes no PHP settings from files of the site', async () => {
      const lines = 'memory_limit = 4096M\nauto_prepend_file = none\ndisable_functions =\nopen_basedir = /\n'
      for (const name of ['.user.ini', 'php.ini', 'web.ini', '.htaccess'])
        await writeFile(
          join(directory.siteDirectory, 'web', name),
          name === '.htaccess' ? 'php_value memory_limit 4096M' : lines,
        )
      const asked = ['memory_limit', 'auto_prepend_file', 'user_ini.filename', 'disable_functions', 'open_basedir']
      const settings = (await run(`return array_map('ini_get', ${JSON.stringify(asked)});`)) as string[]
      expect(settings.slice(0, 2)).toEqual(['256M', kind === 'wasm' ? '/stead/prepend.php' : '/stead/native.php'])
      expect(settings[2]).toBe('')
      expect(settings[3]).toContain('proc_open')
      // Nor from a variable of the request that php-fpm takes for a setting.
      expect(
        await run(
          "putenv('PHP_VALUE=memory_limit=4096M'); putenv('PHPRC=/wordpress'); return ini_get('memory_limit');",
        ),
      ).toBe('256M')
    })

    it('is contained as the report says', async () => {
      const containment = runtime.containment()
      const bubblewrap = sandbox === 'bubblewrap'
      const network = bubblewrap ? 'none-but-egress' : 'refused in process'
      expect(containment).toMatchObject({ nodePermissions: kind === 'wasm', bubblewrap, network, uid: uid !== null })
    })

    it('creates files that belong to the site’s user', async () => {
      await mkdir(join(directory.siteDirectory, 'private/tmp'), { recursive: true })
      const mode = (await run(
        "file_put_contents('/tmp/a', '1'); return [fileowner('/tmp/a'), is_dir('/private/database')];",
      )) as unknown[]
      expect(mode).toEqual([uid ?? process.getuid?.(), true])
    })
  },
)

describe.skipIf(!core).each(ways.filter(({ skip }) => skip))('hostile PHP, $way', () => {
  it.skip('cannot be tried on this machine', () => {})
})
