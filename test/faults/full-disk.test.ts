/** A site that writes without end, first up to its quota, then with others up to the end of a small disk. */
import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { maySmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const run = promisify(execFile)
const core = await testCore()
const MB = 1 << 20
const RESERVE_MB = 16

/** Writes until it is refused, and prints how much it wrote. */
const HOSTILE = `<?php $n = 0; $bytes = str_repeat('x', 1 << 20);
for ($i = 0; $i < 2000; $i++) { $f = __DIR__ . '/wp-content/uploads/' . uniqid('fill', true); $m = @file_put_contents($f, $bytes); $n += (int) $m; if ($m !== 1 << 20) break; }
echo $n >> 20;`
const TIDY = `<?php foreach (glob(__DIR__ . '/wp-content/uploads/fill*') as $f) unlink($f); echo 'tidy';`
/** Nested as PHP can do it: folders far beyond the length of a path, the last one without permissions. */
const DEEP = `<?php chdir(__DIR__ . '/wp-content/uploads'); for ($i = 0; $i < 40; $i++) { mkdir('deep'); chdir('deep'); mkdir('x'); chmod('x', 0); } echo 'deep';`

describe.skipIf(!core || !maySmallDisk)('a hostile site on a small disk', () => {
  let disk: SmallDisk
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    disk = await smallDisk(440)
    stead = await startStead({
      below: disk.folder,
      env: {
        STEAD_PREPARED_SITES: '0',
        STEAD_SITE_DISK_MB: '80',
        STEAD_DISK_RESERVE_MB: String(RESERVE_MB),
        STEAD_TRASH_DAYS: '0',
      },
    })
  })
  afterAll(async () => {
    await stead?.remove()
    await disk?.remove()
  })

  const freeMb = () => Math.floor(disk.freeBytes() / MB)
  const script = (site: string, name: string, code: string) =>
    writeFile(join(stead.directoryOf(site), 'web', name), code)

  test('is stopped at its quota, can still be read, is reported, and writes again when something is deleted', async () => {
    const id = await stead.createSite({ name: 'hostile' })
    await script('hostile', 'fill.php', HOSTILE)
    await script('hostile', 'tidy.php', TIDY)
    const written = Number((await stead.visit('hostile', '/fill.php')).text)
    expect(written).toBeGreaterThan(10)
    expect(written).toBeLessThan(80)
    expect(Number((await stead.visit('hostile', '/fill.php?again')).text)).toBe(0)
    expect((await stead.visit('hostile', '/?uncached=1')).text).toContain('<title>')
    const log = await until('the owner is told', async () => {
      const { body } = await stead.api('POST', `/v1/sites/${id}/logs/activity`, {})
      const entries = body.data.filter(({ name }: { name: string }) => name === 'site.disk_full')
      return entries.length > 0 && entries
    })
    expect(log).toHaveLength(1)
    expect((await stead.visit('hostile', '/tidy.php')).text).toBe('tidy')
    expect(Number((await stead.visit('hostile', '/fill.php?more')).text)).toBeGreaterThan(10)
    await stead.visit('hostile', '/tidy.php?again')
  })

  test('stops before the disk is full; other writers still leave room for tokens, notes, lists, and deletions', async () => {
    const siteId = await stead.createSite({ name: 'second' })
    await script('second', 'fill.php', HOSTILE)
    expect(Number((await stead.visit('second', '/fill.php')).text)).toBeGreaterThan(30)
    await disk.fill((2 * RESERVE_MB + 20) * MB)
    for (const site of ['hostile', 'second']) await stead.visit(site, '/fill.php?until-the-end')
    expect(freeMb()).toBeGreaterThanOrEqual(2 * RESERVE_MB - 2)

    // other data than a site's take the rest
    const rest = join(disk.folder, 'rest')
    await run('fallocate', ['-l', `${freeMb() - 1}M`, rest])
    await until('Stead uses its disk reserve', async () => !(await readdir(stead.dataDir)).includes('reserve'))
    // the name disappears a moment before its space is free
    await expect.poll(freeMb).toBeGreaterThan(RESERVE_MB / 2)
    const readiness = async () => {
      const response = await fetch(`${stead.apiUrl}/readyz`)
      const { disk } = (await response.json()) as { disk: { state: string } }
      return [response.status, disk.state]
    }
    await expect.poll(readiness).toEqual([200, 'records'])
    expect((await stead.visit('second', '/?uncached=1')).text).toContain('<title>')
    expect(Number((await stead.visit('second', '/fill.php?not-from-the-reserve')).text)).toBe(0)
    const { client_id, client_secret } = JSON.parse(await readFile(join(stead.dataDir, 'credentials.json'), 'utf8'))
    const note = { subject: 'full', body: 'x'.repeat(10_000) }
    for (let i = 0; i < 20; i++) {
      const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
      expect((await fetch(`${stead.apiUrl}/auth/token`, { method: 'POST', body: form })).status).toBe(200)
      expect((await stead.api('POST', `/v1/sites/${siteId}/notes`, note)).status).toBe(200)
    }
    expect((await stead.api('GET', '/v1/sites')).status).toBe(200)

    const before = freeMb()
    const deleted = await stead.api('DELETE', `/v1/sites/${siteId}`)
    expect(deleted.status).toBeLessThan(300)
    await until('its room is there again', () => freeMb() > before + 20)
    await disk.relieve()
    await rm(rest)
    await until('the reserve is there again', async () => (await readdir(stead.dataDir)).includes('reserve'))
    expect(Number((await stead.visit('hostile', '/fill.php?room')).text)).toBeGreaterThanOrEqual(0)
  })

  test('is purged even if its paths are too long to delete', async () => {
    const id = await stead.createSite({ name: 'deep' })
    await script('deep', 'deep.php', DEEP)
    expect((await stead.visit('deep', '/deep.php')).text).toBe('deep')
    const directory = stead.directoryOf('deep')
    // PHP gets this deep by moving trees into each other
    const dig = `process.chdir(process.argv[1]); const fs = require('node:fs')
      for (let i = 0; i < 100; i++) { const name = 'd'.repeat(200); fs.mkdirSync(name); process.chdir(name) }`
    await run(process.execPath, ['-e', dig, join(directory, 'web/wp-content/uploads')])
    await stead.api('DELETE', `/v1/sites/${id}`)
    await until(
      'it is gone',
      async () => !(await readdir(join(stead.dataDir, 'sites'))).includes(directory.split('/').at(-1)!),
    )
  })
})
