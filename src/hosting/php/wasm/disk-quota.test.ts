import { mkdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
  testUid,
} from '../../../../test/support/site-directory.ts'
import { measureTree } from '../../site-files/disk-usage.ts'
import { type DiskQuota, DiskWatch } from '../../site-files/disk-watch.ts'
import { giveTo } from '../../site-files/platform/lay-out-directory.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()
const MB = 1 << 20

describe.skipIf(!core).each(['auto', 'none'] as const)('the disk quota of a site, sandbox %s', (sandbox) => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess
  let watch: DiskWatch
  let quota: DiskQuota
  let keepFreeBytes = 0
  const refusals: string[] = []

  beforeAll(async () => {
    directory = await testDirectory(core as string)
    const { bytes, files } = await measureTree(directory.siteDirectory)
    quota = { bytes: bytes + 8 * MB, files: files + 200 }
    watch = new DiskWatch({
      quotaOf: async () => quota,
      folder: directory.siteDirectory,
      get keepFreeBytes() {
        return keepFreeBytes
      },
      onRefusal: (_directory, why) => refusals.push(why),
      log: { warn: () => {} },
    })
    runtime = await testRuntime({ sandbox, disk: watch })
  })
  afterAll(async () => {
    await watch?.stop()
    await runtime?.close()
    await directory?.remove()
  })
  const fresh = async () => {
    await php?.stop(1000)
    for (const folder of ['web/x', 'private/tmp']) {
      await rm(join(directory.siteDirectory, folder), { recursive: true, force: true })
      await mkdir(join(directory.siteDirectory, folder))
    }
    await rm(join(directory.siteDirectory, 'private/database/x.sqlite'), { force: true })
    if (testUid !== null) await giveTo(testUid, directory.siteDirectory)
    php = await runtime.start(directory)
    refusals.length = 0
  }
  beforeEach(fresh)

  async function run(code: string): Promise<unknown> {
    const script = await directory.script(
      'disk.php',
      `chdir('/wordpress/x'); echo json_encode((function () { ${code} })());`,
    )
    const page = await fetchPage(php, testRequest('/disk.php', script))
    return page.text === '' ? `died: ${page.status}` : JSON.parse(page.text)
  }
  const used = async () => (await measureTree(directory.siteDirectory)).bytes

  it('ends a request that writes forever at the quota, and lets the same request reuse the space of deleted files', async () => {
    const code = `$before = @file_put_contents('a', str_repeat('x', 4 << 20));
      for ($i = 0, $sum = 0; $i < 2000; $i++) { $n = @file_put_contents("f$i", str_repeat('x', 100000)); if ($n !== 100000) break; $sum += $n; }
      $error = error_get_last()['message'] ?? '';
      unlink('a');
      return [$before, $sum > 2000000 && $sum < 5000000, strpos($error, 'No space left') !== false, file_put_contents('b', str_repeat('x', 3 << 20))];`
    expect(await run(code)).toEqual([4 * MB, true, true, 3 * MB])
    expect(await used()).toBeLessThanOrEqual(quota.bytes)
    expect(refusals).toEqual(['quota'])
  })

  it('counts truncate, holes, copies, and open unlinked files', async () => {
    expect(await run(`$f = fopen('a', 'w'); return [@ftruncate($f, 1 << 30), @ftruncate($f, 1 << 20)];`)).toEqual([
      false,
      true,
    ])
    expect(await run(`$f = fopen('h', 'w'); fseek($f, 1 << 30); return @fwrite($f, 'x');`)).toBe(false)
    expect(
      await run(`$n = 0; for ($i = 0; $i < 40; $i++) { if (!@copy('a', "c$i")) break; $n++; } return $n < 9;`),
    ).toBe(true)
    expect(await run(`foreach (glob('*') as $name) unlink($name); return count(glob('*'));`)).toBe(0)
    const open = `$kept = []; for ($i = 0; $i < 40; $i++) { $f = fopen('u', 'w+'); $n = @fwrite($f, str_repeat('x', 1 << 20));
      unlink('u'); if ($n !== 1 << 20) break; $kept[] = $f; } $count = count($kept); array_map('fclose', $kept);
      return [$count > 5 && $count < 9, file_put_contents('after', str_repeat('x', 4 << 20))];`
    expect(await run(open)).toEqual([true, 4 * MB])
    expect(await used()).toBeLessThanOrEqual(quota.bytes)
  })

  it('counts an existing hole when it is filled', async () => {
    await writeFile(join(directory.siteDirectory, 'web/x/hole'), '')
    await truncate(join(directory.siteDirectory, 'web/x/hole'), 64 * MB)
    if (testUid !== null) await giveTo(testUid, directory.siteDirectory)
    await run(`$f = fopen('hole', 'r+'); while (@fwrite($f, str_repeat('x', 65536))); return 1;`)
    const { blocks } = await stat(join(directory.siteDirectory, 'web/x/hole'))
    expect(blocks * 512).toBeLessThanOrEqual(9 * MB)
  })

  it('limits the number of files and folders', async () => {
    const count = await run(
      `$n = 0; for ($i = 0; $i < 500; $i++) { if (!@touch("f$i")) break; $n++; if (!@mkdir("d$i")) break; $n++; } return $n;`,
    )
    expect(count).toBeGreaterThan(150)
    expect(count).toBeLessThanOrEqual(200)
    expect(await run(`for ($i = 0; $i < 10; $i++) { unlink("f$i"); rmdir("d$i"); } return touch('again');`)).toBe(true)
  })

  it('makes SQLite report a full disk, later than for files, and keep reading', async () => {
    const code = `$bytes = str_repeat('x', 1 << 16); while (@file_put_contents('full', $bytes, FILE_APPEND) === 1 << 16);
      $d = new SQLite3('/private/database/x.sqlite'); $d->enableExceptions(true);
      $d->exec('create table t (v)'); $n = 0;
      try { for (; $n < 3000; $n++) $d->exec("insert into t values (randomblob(20000))"); $why = 'none'; }
      catch (Exception $e) { $why = $e->getMessage(); }
      return [$n > 10 && $n < 3000, $why, $d->querySingle('select count(*) from t') === $n, $d->querySingle('pragma integrity_check')];`
    expect(await run(code)).toEqual([true, expect.stringMatching(/database or disk is full/), true, 'ok'])
  })

  it('writes nothing while the disk has less free space than the reserve', async () => {
    keepFreeBytes = Number.MAX_SAFE_INTEGER
    try {
      await fresh()
      expect(await run(`return [@file_put_contents('a', 'x'), is_file('/wordpress/disk.php')];`)).toEqual([false, true])
      expect(refusals.at(-1)).toBe('disk')
    } finally {
      keepFreeBytes = 0
    }
  })

  it('counts what others add and remove, without a restart', async () => {
    expect(await run(`return file_put_contents('a', 'x');`)).toBe(1)
    await writeFile(join(directory.siteDirectory, 'private/tmp/big'), Buffer.alloc(20 * MB, 'x'))
    const { pid } = php
    await measured()
    expect(await run(`return @file_put_contents('b', 'x');`)).toBe(false)
    await rm(join(directory.siteDirectory, 'private/tmp/big'))
    await measured()
    expect(await run(`return file_put_contents('b', 'x');`)).toBe(1)
    expect(php.pid).toBe(pid)
  })

  it('ends a process that writes past its own counting, and keeps the next one from changing anything until there is room', async () => {
    await writeFile(join(directory.siteDirectory, 'private/tmp/big'), Buffer.alloc(120 * MB, 'x'))
    const { exited } = php
    await measured()
    expect((await exited).reason).toMatch(/more than its disk quota/)
    php = await runtime.start(directory)
    expect(await run(`return [@unlink('/tmp/big'), is_file('/tmp/big'), @file_put_contents('b', 'x')];`)).toEqual([
      false,
      true,
      false,
    ])
    await php.stop()
    await rm(join(directory.siteDirectory, 'private/tmp/big'))
    php = await runtime.start(directory)
    expect(await run(`return file_put_contents('b', 'x');`)).toBe(1)
  })

  /** Measures now, whenever the last measurement was. */
  async function measured(): Promise<void> {
    await watch.look({ now: true })
  }
})
