import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import { type TestDirectory, testBodies, testDirectory, testRuntime } from '../../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../../test/support/ways.ts'
import { PhpPool } from '../pool/pool.ts'
import { PhpCrashed, type PhpRuntime, type PhpVersion } from '../runtime.ts'

const core = await testCore()

const noShell = 'sh: There is no shell here.\n'
/** Command lines, each with its output, errors, and exit code. */
const lines: readonly [string, string, string, number][] = [
  ["rm -rf '/tmp/gone'", '', '', 0],
  ['rm /tmp/none', '', "rm: cannot remove '/tmp/none': No such file or directory\n", 1],
  ['rm /tmp', '', "rm: cannot remove '/tmp': Is a directory\n", 1],
  ['/usr/bin/env which mariadb', '/usr/bin/mariadb\n', '', 0],
  ['which bash', '', '', 1],
  ['A=1 /usr/bin/env B=2 id 2>/dev/null', '', 'sh: 1: id: not found\n', 127],
  ["'/usr/bin/env' 'rm' '-rf' '/wordpress/wp-includes'", '', expect.stringContaining('cannot remove'), 1],
  ['rm -f /tmp/stay*', '', noShell, 127],
  ['rm -f /tmp/none; rm -f /tmp/stays', '', noShell, 127],
  ['rm -f /tmp/none && rm -f /tmp/stays', '', noShell, 127],
  ['rm -f "/tmp/$(echo stays)"', '', noShell, 127],
  ['rm -f `echo /tmp/stays`', '', noShell, 127],
  ['cat < /etc/passwd', '', noShell, 127],
  ["rm -f '/tmp/stays", '', noShell, 127],
  ['php8.2 /wordpress/index.php', '', 'sh: 1: php8.2: not found\n', 127],
  ['', '', 'sh: 1: : not found\n', 127],
]

interface RunOptions {
  readonly phpVersion?: PhpVersion
  readonly args?: readonly string[]
  readonly sent?: string
  readonly onAsk?: (question: string) => Promise<string>
}

describe.skipIf(!core).each(hereRuntimes)('PHP’s command line, $runtime', ({ runtime: kind, ...tested }) => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let programs: string
  let pool: PhpPool
  beforeAll(async () => {
    runtime = await testRuntime({ runtime: kind, ini: { 'phar.readonly': '0' } })
    directory = await testDirectory(core as string, tested)
    programs = await mkdtemp(join(tmpdir(), 'stead-programs-'))
    await chmod(programs, 0o755)
    pool = new PhpPool(runtime, {
      requestMs: 60_000,
      taskMs: 60_000,
      idleMs: 60_000,
      queueLength: 100,
      memoryBytes: 4 * 2 ** 30,
      processMemoryBytes: 1 << 30,
      bodies: testBodies(),
    })
  })
  afterAll(async () => {
    await pool?.stopAll(0)
    await runtime?.close()
    await directory?.remove()
    if (programs) await rm(programs, { recursive: true, force: true })
  })

  const run = async (
    code: string,
    { phpVersion = directory.phpVersion, args = [], sent = 'what is sent', onAsk }: RunOptions = {},
  ) => {
    await writeFile(join(programs, 'run.php'), `<?php ${code}`)
    const site = { ...directory, phpVersion, siteId: 1 }
    const command = await pool.runCommand(site, {
      programs,
      environment: {},
      args: ['/command/run.php', ...args],
      ...(onAsk && { onAsk }),
    })
    command.input.end(sent)
    const [output, errors] = await Promise.all([text(command.output), text(command.errors)])
    return { output, errors, code: await command.finished, wrote: command.wrote() }
  }

  test.each(tested.versions)(
    'gives a command of %s its arguments, streams, exit code, and the web root',
    async (phpVersion) => {
      const code = `echo PHP_SAPI, getcwd(), json_encode(array_slice($argv, 1)), stream_get_contents(STDIN);
      fwrite(STDERR, 'an error'); fwrite(STDOUT, 'more'); exit(7);`
      expect(await run(code, { phpVersion, args: ['a', 'b c'] })).toEqual({
        output: 'cli/wordpress["a","b c"]what is sentmore',
        errors: 'an error',
        code: 7,
        wrote: false,
      })
    },
  )

  test('prepares no headers, because PHP has no extensions left when a command ends', async () => {
    const code = `$_SERVER['REQUEST_METHOD'] = 'GET';
      function home_url() { return ''; }
      function is_admin() { fwrite(STDERR, 'asked'); return true; }
      fwrite(STDOUT, 'said'); exit(4);`
    expect(await run(code)).toEqual({ output: 'said', errors: '', code: 4, wrote: false })
  })

  test('does the work of a few programs in proc_open, without a shell', async () => {
    await writeFile(join(programs, 'lines.json'), JSON.stringify(lines.map(([line]) => line)))
    const { output } = await run(`
      $launch = static function ($line) {
        $process = proc_open($line, [STDIN, ['pipe', 'w'], ['pipe', 'w']], $pipes);
        $said = array_map('stream_get_contents', $pipes);
        return [is_resource($process), $said[1], $said[2], proc_close($process)];
      };
      mkdir('/tmp/gone/deep', 0777, true);
      touch('/tmp/gone/deep/file');
      touch('/tmp/stays');
      foreach (json_decode(file_get_contents('/command/lines.json')) as $line) echo json_encode($launch($line)), "\\n";
      echo json_encode([file_exists('/tmp/gone'), file_exists('/tmp/stays'), is_dir('/wordpress/wp-includes')]), "\\n";
      $text = fopen('php://temp', 'r+b'); fwrite($text, 'paged'); rewind($text);
      echo proc_close(proc_open('less -R', [$text, STDOUT, STDERR], $pipes));`)
    const said = output.split('\n')
    expect(said.slice(0, lines.length).map((line) => JSON.parse(line))).toEqual(
      lines.map(([, out, err, code]) => [true, out, err, code]),
    )
    expect(said.slice(lines.length)).toEqual(['[false,true,true]', 'paged0'])
  })

  test('passes the standard input to an inner command whose arguments include a dash', async () => {
    const asked: unknown[] = []
    const onAsk = async (question: string) => {
      asked.push(JSON.parse(question))
      return JSON.stringify({ code: 0, output: '', errors: '' })
    }
    const sent = `${'ä/'.repeat(20_000)}\0`
    const { errors } = await run(
      `$words = ['wp eval-file -', 'wp option get home', 'wp eval-file -'];
      foreach ($words as $line) proc_close(proc_open($line, [STDIN, STDOUT, STDERR], $pipes));
      $large = fopen('php://temp', 'r+b'); fwrite($large, str_repeat('x', (128 << 10) + 1)); rewind($large);
      echo proc_close(proc_open('wp eval-file -', [$large, STDOUT, STDERR], $pipes));`,
      { sent, onAsk },
    )
    const input = Buffer.from(sent).toString('base64')
    expect(asked).toMatchObject([{ input }, { input: '' }, { input: '' }])
    expect(errors).toContain('at most 128 kB')
  })

  test('runs a phar with a stub, an alias and files in it', async () => {
    const made = await run(`
      $phar = new Phar('/tmp/made.phar', 0, 'made.phar');
      $phar['php/boot.php'] = '<?php echo "booted ", basename(__FILE__), " ", strlen(file_get_contents("phar://made.phar/data"));';
      $phar['data'] = str_repeat('x', 100000);
      $phar->setStub("#!/usr/bin/env php\\n<?php Phar::mapPhar(); include 'phar://made.phar/php/boot.php'; __HALT_COMPILER();");
      unset($phar);
      echo base64_encode(file_get_contents('/tmp/made.phar'));`)
    await writeFile(join(programs, 'made.phar'), Buffer.from(made.output, 'base64'))
    const site = { ...directory, siteId: 1 }
    const command = await pool.runCommand(site, { programs, environment: {}, args: ['/command/made.phar'] })
    expect([await text(command.output), await command.finished]).toEqual(['booted boot.php 100000', 0])
  })

  test('reports a fatal error, and protects its program from changes', async () => {
    expect(await run('no_such_function();')).toMatchObject({
      code: 255,
      errors: expect.stringContaining('no_such_function'),
    })
    expect((await run('var_dump(@file_put_contents("/command/run.php", "x"));')).output).toContain('bool(false)')
  })

  test('loses no row with several commands at once, and reports a turn that wrote', async () => {
    const file = '/private/database/turns.sqlite'
    const open = `$d = new PDO('sqlite:${file}'); `
    expect((await run(`${open} $d->exec('create table rows (who, number)');`)).wrote).toBe(true)
    // Half of them read what they write, in a transaction. If two transactions begin like this and then write, SQLite
    // itself refuses one of them. In WebAssembly the turn covers both.
    const begin = kind === 'native' ? 'begin immediate' : 'begin'
    const write = `for ($i = 0; $i < 60; $i++) { if ($i % 2) $d->exec('${begin}'); $n = $d->query('select count(*) from rows')->fetchColumn(); $d->exec("insert into rows values ('{$argv[1]}', $n)"); if ($i % 2) $d->exec('commit'); }`
    const both = await Promise.all([run(open + write, { args: ['a'] }), run(open + write, { args: ['b'] })])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    const { output, wrote } = await run(
      `${open} echo $d->query('select count(*) from rows')->fetchColumn(), $d->query('pragma integrity_check')->fetchColumn();`,
    )
    expect([output, wrote]).toEqual(['120ok', false])
  })

  test('waits while its output is not read, and gives up its turn when it is ended', async () => {
    await writeFile(
      join(programs, 'run.php'),
      `<?php $d = new PDO('sqlite:/private/database/held.sqlite'); $d->exec('begin exclusive'); echo 'held'; sleep(600);`,
    )
    const site = { ...directory, siteId: 1 }
    const command = await pool.runCommand(site, { programs, environment: {}, args: ['/command/run.php'] })
    command.finished.catch(() => {})
    for await (const piece of command.output) {
      expect(String(piece)).toBe('held')
      break
    }
    const turn = pool.between(1, async () => 'its turn')
    command.kill(new PhpCrashed('for the test'))
    await expect(command.finished).rejects.toThrow('for the test')
    expect(await turn).toBe('its turn')
    await command.exited
  })

  test('does not run while the site is held, and ends when the site is stopped', async () => {
    await writeFile(join(programs, 'run.php'), `<?php echo 'runs'; sleep(600);`)
    const site = { ...directory, siteId: 1 }
    const ask = () => pool.runCommand(site, { programs, environment: {}, args: ['/command/run.php'] })
    const command = await ask()
    const failed = expect(command.finished).rejects.toThrow('the site was stopped')
    await pool.hold(1)
    await failed
    await expect(ask()).rejects.toThrow('another operation')
    await pool.hold(1, undefined, 'somebody else')
    pool.release(1)
    await expect(ask()).rejects.toThrow('another operation')
    pool.release(1, 'somebody else')
    const three = await Promise.all([ask(), ask(), ask()])
    await expect(ask()).rejects.toThrow('3 commands of this site')
    for (const each of three) each.finished.catch(() => {})
    await pool.stop(1)
  })
})
