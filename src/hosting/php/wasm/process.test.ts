import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  type TestDirectory,
  testAddress,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { ways } from '../../../../test/support/ways.ts'
import { isAlive } from '../../../platform/is-alive.ts'
import { differsOnPurpose, productionIni } from '../production-ini.fixture.ts'
import { PhpCrashed, type PhpProcess, type PhpRuntime } from '../runtime.ts'
import { childrenOf, processorMsOf, processTree } from './process-tree.ts'

const core = await testCore()

describe.skipIf(!core).each(ways.filter(({ skip }) => !skip))(
  'a PHP process, $way',
  ({ runtime: kind, phpVersion, sandbox, isOpen }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let php: PhpProcess

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind, sandbox })
      directory = await testDirectory(core as string, { isOpen, phpVersion })
      php = await runtime.start(directory)
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })

    it.runIf(kind === 'wasm')('ends a start at once when its signal aborts', async () => {
      const early = runtime.start(directory, { signal: AbortSignal.abort(new Error('too early')) })
      await expect(early).rejects.toThrow('too early')
      const end = new AbortController()
      const starting = runtime.start(directory, { signal: end.signal })
      setImmediate(() => end.abort(new Error('not wanted')))
      await expect(starting).rejects.toThrow('not wanted')
    })

    it.runIf(kind === 'wasm')('ends a start although PHP has already reported that it is ready', async () => {
      await expect(endUnreadStart()).rejects.toThrow('not wanted')
    })

    /** Ends a start when the report of PHP has not been read. Repeats one that was read earlier. */
    async function endUnreadStart(): Promise<unknown> {
      const before = childrenOf(process.pid)
      const end = new AbortController()
      const starting = runtime.start(directory, { signal: end.signal })
      let early: PhpProcess | undefined
      const note = (started: PhpProcess) => {
        early = started
      }
      starting.then(note, () => {})
      const pid = () => childrenOf(process.pid).find((each) => !before.includes(each)) ?? 0
      // It has read its orders, which are more than a pipe holds.
      await vi.waitFor(() => expect(early || processorMsOf(pid()) > 150).toBeTruthy(), { timeout: 60_000, interval: 5 })
      if (early) {
        await early.stop()
        return endUnreadStart()
      }
      blockUntilIdle(pid())
      end.abort(new Error('not wanted'))
      return starting
    }

    it('keeps status and repeated headers as PHP set them', async () => {
      const code =
        "http_response_code(418); header('X-A: 1'); setcookie('a', '1'); setcookie('b', '2'); header('Connection: upgrade');"
      const page = await fetchPage(php, testRequest('/h.php', await directory.script('h.php', code)))
      expect(page.status).toBe(418)
      const names = page.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
      expect(names.filter((name) => name === 'set-cookie')).toHaveLength(2)
      expect(names).toContain('x-a')
      expect(names).not.toContain('connection')
      expect(names).not.toContain('x-powered-by')
    })

    it('has the settings of php.ini-production, except for documented differences', async () => {
      const code = 'echo json_encode(array_map(strval(...), ini_get_all(null, false)));'
      const page = await fetchPage(php, testRequest('/ini.php', await directory.script('ini.php', code)))
      const settings = JSON.parse(page.text) as Record<string, string>
      const asNumber = (value: string) => (value === '' ? '0' : value)
      const differing = Object.entries(productionIni)
        .filter(([name, value]) => settings[name] !== undefined && asNumber(settings[name]) !== asNumber(value))
        .map(([name]) => name)
      expect(differing.sort()).toEqual(differsOnPurpose.filter((name) => differing.includes(name)))
      const documented = await readFile(join(import.meta.dirname, '../../../../docs/design/php.md'), 'utf8')
      for (const name of differsOnPurpose) expect(documented).toContain(`| \`${name}\` |`)
    })

    it('gives scripts the same variables as Apache with php-fpm', async () => {
      const code = `assert(false);
        file_put_contents('/wordpress/made.txt', 'x');
        foreach (['PHP_AUTH_USER', 'PHP_AUTH_PW', 'PATH_INFO', 'PHP_SELF'] as $name) $got[] = $_SERVER[$name] ?? null;
        echo json_encode([...$got, isset($_SERVER['argv']), $_REQUEST, decoct(fileperms('/wordpress/made.txt') & 0777)]);`
      const request = testRequest('/a.php/b/c?x=1', await directory.script('a.php', code))
      const headers = [...request.headers, 'authorization', 'Basic dTpw', 'cookie', 'x=cookie; y=2']
      const page = await fetchPage(php, { ...request, headers })
      expect(JSON.parse(page.text)).toEqual(['u', 'p', '/b/c', '/a.php/b/c', false, { x: '1' }, '644'])
      await writeFile(join(directory.siteDirectory, 'web/x.php'), '<?xml version="1.0"?>')
      expect((await fetchPage(php, testRequest('/x.php', '/wordpress/x.php'))).text).toBe('<?xml version="1.0"?>')
    })

    it('offers AVIF only if it can write a large picture', async () => {
      const code = `$picture = imagecreatetruecolor(600, 600);
        $written = function_exists('imageavif') && imageavif($picture, '/tmp/a.avif') && filesize('/tmp/a.avif') > 0;
        imagewebp($picture, '/tmp/a.webp');
        $imagick = class_exists('Imagick') ? Imagick::queryFormats('AVIF') : [];
        echo json_encode([$written, (imagetypes() & IMG_AVIF) > 0, gd_info()['AVIF Support'], $imagick, filesize('/tmp/a.webp') > 0,
          (imagetypes() & IMG_WEBP) > 0 && gd_info()['WebP Support']]);`
      const page = await fetchPage(php, testRequest('/avif.php', await directory.script('avif.php', code)))
      const hasAvif = kind === 'native'
      expect(JSON.parse(page.text)).toEqual([hasAvif, hasAvif, hasAvif, [], true, true])
    })

    it('waits for the answer to a question, and gets none without a listener or when the host fails', async () => {
      const code = `foreach ([1, 2] as $n) echo '[', post_message_to_js('{"ask":"' . $n . '"}'), ']';`
      const request = testRequest('/ask.php', await directory.script('ask.php', code))
      expect((await fetchPage(php, request)).text).toBe('[][]')
      php.onAsk = async (text) => {
        if (text.includes('1')) throw new Error('no')
        return `ü to ${text}`
      }
      expect((await fetchPage(php, request)).text).toBe('[][ü to {"ask":"2"}]')
      php.onAsk = undefined
    })

    it('has mail(), which returns false if nothing accepts mails', async () => {
      const code = "var_dump(mail('a@example.com', 'b', 'c'));"
      expect((await fetchPage(php, testRequest('/m.php', await directory.script('m.php', code)))).text).toContain(
        'bool(false)',
      )
    })

    it('answers questions that PHP asks after it was told to stop', async () => {
      const asking = await runtime.start(directory)
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<string>()
      asking.onAsk = () => {
        asked.resolve()
        return answer.promise
      }
      const code = `echo post_message_to_js('{"ask":"late"}');`
      const page = fetchPage(asking, testRequest('/late.php', await directory.script('late.php', code)))
      await asked.promise
      const stopped = asking.stop(60_000)
      answer.resolve('an answer')
      expect((await page).text).toBe('an answer')
      await stopped
    })

    it('sends output before PHP is done', async () => {
      const code = "echo 'early'; ob_flush(); flush(); while (!file_exists('/tmp/go')) usleep(10000); echo 'late';"
      const response = await php.request(testRequest('/s.php', await directory.script('s.php', code)))
      const body = response.body[Symbol.asyncIterator]()
      expect(String((await body.next()).value)).toBe('early')
      await writeFile(join(directory.siteDirectory, 'private/tmp/go'), '')
      expect(String((await body.next()).value)).toBe('late')
      expect((await body.next()).done).toBe(true)
      await response.finished
    })

    it('sends and receives large bodies, byte for byte', async () => {
      const size = 64 << 20
      const chunk = Buffer.alloc(1 << 16, 'abcdefgh')
      const script = await directory.script(
        'up.php',
        "$f = $_FILES['file']; echo json_encode([$f['error'], filesize($f['tmp_name']), md5_file($f['tmp_name'])]);",
      )
      const before =
        '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n'
      const after = '\r\n--xyz--\r\n'
      const { createHash } = await import('node:crypto')
      const hash = createHash('md5')
      function* parts() {
        yield Buffer.from(before)
        for (let sent = 0; sent < size; sent += chunk.length) {
          hash.update(chunk)
          yield chunk
        }
        yield Buffer.from(after)
      }
      const page = await fetchPage(
        php,
        testRequest('/up.php', script, {
          method: 'POST',
          headers: ['Host', testAddress, 'Content-Type', 'multipart/form-data; boundary=xyz'],
          body: Readable.from(parts()),
          bodyBytes: size + before.length + after.length,
        }),
      )
      expect(JSON.parse(page.text)).toEqual([0, size, hash.digest('hex')])
      const down = await directory.script(
        'down.php',
        'for ($i = 0; $i < 512; $i++) echo str_repeat(chr(65 + $i % 26), 65536);',
      )
      const big = await fetchPage(php, testRequest('/down.php', down))
      expect(big.text.length).toBe(512 * 65536)
      expect(big.text.endsWith('R'.repeat(65536))).toBe(true)
      expect(php.lastResidentBytes).toBeGreaterThan(0)
    })

    // WebAssembly never shrinks its memory, so this would prove nothing there.
    if (kind === 'native')
      it('reports its memory while it works', async () => {
        const idle = await php.residentBytes()
        const code =
          "$much = str_repeat('x', 64 << 20); echo 'early'; ob_flush(); flush(); while (!file_exists('/tmp/measured')) usleep(10000);"
        const { body, finished } = await php.request(testRequest('/m.php', await directory.script('m.php', code)))
        await body[Symbol.asyncIterator]().next()
        expect(await php.residentBytes()).toBeGreaterThan(idle + (48 << 20))
        await writeFile(join(directory.siteDirectory, 'private/tmp/measured'), '')
        await finished
      })

    it('leaves nothing of a request for the next one', async () => {
      const script = await directory.script(
        'left.php',
        "echo json_encode([$_COOKIE, $_POST, file_get_contents('php://input'), $_SERVER['CONTENT_TYPE'] ?? null, $_GET]);",
      )
      const body = Buffer.from('a=1')
      const headers = ['Host', testAddress, 'Cookie', 'c=1', 'Content-Type', 'application/x-www-form-urlencoded']
      const first = await fetchPage(
        php,
        testRequest('/left.php?q=1', script, { method: 'POST', headers, body: Readable.from([body]), bodyBytes: 3 }),
      )
      expect(JSON.parse(first.text)).toMatchObject([
        { c: '1' },
        { a: '1' },
        'a=1',
        'application/x-www-form-urlencoded',
        { q: '1' },
      ])
      const second = await fetchPage(php, testRequest('/left.php', script))
      expect(JSON.parse(second.text)).toMatchObject([[], [], '', null, []])
      const third = await fetchPage(php, testRequest('/left.php', script, { method: 'POST' }))
      expect(JSON.parse(third.text)).toMatchObject([[], [], '', null, []])
    })

    it('continues after exit, a fatal error, and a reader that disconnects', async () => {
      await fetchPage(php, testRequest('/e.php', await directory.script('e.php', "echo 'x'; exit(3);")))
      expect(
        (await fetchPage(php, testRequest('/f.php', await directory.script('f.php', 'no_such_function();')))).status,
      ).toBe(500)
      const endless = await php.request(
        testRequest(
          '/g.php',
          await directory.script('g.php', "for ($i = 0; $i < 2000; $i++) echo str_repeat('x', 65536);"),
        ),
      )
      endless.body.destroy()
      await endless.finished
      expect((await fetchPage(php, testRequest('/ok.php', await directory.script('ok.php', "echo 'ok';")))).text).toBe(
        'ok',
      )
    })

    it('lets the current request finish when it is stopped, and fails one that runs too long', async () => {
      const second = await runtime.start(directory)
      const slow = await second.request(
        testRequest('/z.php', await directory.script('z.php', "echo 'a'; ob_flush(); usleep(300000); echo 'b';")),
      )
      const stopped = second.stop(5000)
      let text = ''
      for await (const chunk of slow.body) text += chunk
      expect(text).toBe('ab')
      await stopped
      const third = await runtime.start(directory)
      const never = third.request(testRequest('/l.php', await directory.script('l.php', 'while (true);')))
      await Promise.all([expect(never).rejects.toThrow(PhpCrashed), third.stop(100)])
    })

    it('dies with its parent, even in an endless loop', async () => {
      const script = await directory.script('loop.php', "file_put_contents('/tmp/looping', '1'); while (true);")
      const program = `
      import { createWasmRuntime } from ${JSON.stringify(join(import.meta.dirname, 'start.ts'))}
      import { testBudgets } from ${JSON.stringify(join(import.meta.dirname, '../../../../test/support/site-directory.ts'))}
      const [site, sandbox, request] = JSON.parse(process.argv[1])
      const runtime = await createWasmRuntime({ sandbox, priority: 0, memoryLimitMb: 128, uploadMaxMb: 8, egress: { allows: () => false, connectTimeoutMs: 1, idleTimeoutMs: 1 }, budgets: testBudgets() })
      const php = await runtime.start(site)
      console.log(php.pid)
      await php.request(request)`
      const { siteDirectory, corePath, phpVersion, uid, address } = directory
      const told = JSON.stringify([
        { siteDirectory, corePath, phpVersion, uid, address },
        sandbox,
        testRequest('/loop.php', script),
      ])
      const parent = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program, told], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const pid = Number(String((await once(parent.stdout as Readable, 'data'))[0]))
      await vi.waitFor(
        () => expect(existsSync(join(directory.siteDirectory, 'private/tmp/looping'))).toBe(true),
        60_000,
      )
      const children = processTree(pid)
      parent.kill('SIGKILL')
      await vi.waitFor(() => expect(children.filter(isAlive)).toEqual([]), 60_000)
    })
  },
)

/** Blocks this process until another one has not worked for half a second. */
function blockUntilIdle(pid: number): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  let [spent, quiet] = [processorMsOf(pid), 0]
  while (quiet < 10) {
    Atomics.wait(nothing, 0, 0, 50)
    const now = processorMsOf(pid)
    quiet = now === spent ? quiet + 1 : 0
    spent = now
  }
}
