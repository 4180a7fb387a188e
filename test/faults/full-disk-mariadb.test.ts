/** A site on MariaDB that fills its database without end, and a server that runs out of disk space. */
import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { nativeAndMariaDb, settingsOf } from '../support/native-mariadb.ts'
import { maySmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const run = promisify(execFile)
const core = await testCore()
const { skip, phpVersion } = nativeAndMariaDb
const MB = 1 << 20
const RESERVE_MB = 24

/** Writes until it is refused, and prints why. */
const FILL = `<?php require __DIR__ . '/wp-load.php'; global $wpdb; $wpdb->suppress_errors();
$wpdb->query('CREATE TABLE IF NOT EXISTS fill (id int AUTO_INCREMENT PRIMARY KEY, b longtext)');
for ($i = 0; $i < 500; $i++) if ($wpdb->query("INSERT INTO fill (b) VALUES (REPEAT('x', 4000000))") === false) break;
echo $i, ' ', $wpdb->last_error;`
const PROBE = `<?php require __DIR__ . '/wp-load.php'; echo update_option('probe', uniqid()) ? 'kept' : 'refused';`
const DROP = `<?php require __DIR__ . '/wp-load.php'; global $wpdb; $wpdb->query('DROP TABLE fill'); echo 'dropped';`

interface Readiness {
  readonly status: string
  readonly hosts: readonly { readonly mariaDb: { isUp: boolean; fault?: string; mayWrite: string; restarts: number } }[]
}

describe.skipIf(!core || skip || !maySmallDisk)('MariaDB on a small disk', () => {
  let disk: SmallDisk
  let stead: Stead
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    disk = await smallDisk(1000)
    stead = await startStead({
      below: disk.folder,
      env: {
        ...settingsOf,
        STEAD_PREPARED_SITES: '0',
        STEAD_SITE_DISK_MB: '150',
        STEAD_DISK_RESERVE_MB: String(RESERVE_MB),
        STEAD_TRASH_DAYS: '0',
      },
    })
    id = await stead.createSite({ name: 'filling', php_version: phpVersion })
    for (const [name, code] of Object.entries({ fill: FILL, drop: DROP, probe: PROBE }))
      await writeFile(join(stead.directoryOf('filling'), `web/${name}.php`), code)
  })
  afterAll(async () => {
    await stead?.remove()
    await disk?.remove()
  })

  const readiness = async () => {
    const answer = await fetch(`${stead.apiUrl}/readyz`)
    return { code: answer.status, ...((await answer.json()) as Readiness) }
  }
  const server = () => stead.processes().find(({ words }) => words[0]?.endsWith('mariadbd'))

  test('stops a site at its quota: it can be read, its users sign in and delete, and its owner is notified', async () => {
    const before = disk.freeBytes()
    await stead.visit('filling', '/fill.php')
    await until('it is refused', async () => (await stead.visit('filling', '/fill.php?')).text.includes('denied'))
    expect(before - disk.freeBytes()).toBeLessThan(500 * MB)
    expect((await stead.visit('filling', '/?uncached=1')).text).toContain('<title>filling</title>')
    const log = await until('the owner is told', async () => {
      const { body } = await stead.api('POST', `/v1/sites/${id}/logs/activity`, {})
      const entries = body.data.filter(({ name }: { name: string }) => name === 'site.disk_full')
      return entries.length > 0 && entries
    })
    expect(log).toHaveLength(1)
    expect((await stead.visit('filling', '/drop.php')).text).toBe('dropped')
    await until('it may write again', async () => {
      const { text } = await stead.visit('filling', `/probe.php?${Math.random()}`)
      return text === 'kept'
    })
    await until('all of it is gone', () => before - disk.freeBytes() < 60 * MB)
    const browser = new Browser((path, options) => stead.visit('filling', path, options))
    const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
    expect((await browser.logIn('admin', password)).text).toContain('wp-admin-bar')
    expect(await readiness()).toMatchObject({ code: 200, hosts: [{ mariaDb: { restarts: 0, mayWrite: 'all' } }] })
  })

  test('reports a server without disk space, and starts it again when there is some', async () => {
    // the server cannot be started while the host is suspended, and a start would take the space of its temporary
    // tablespace
    const host = stead.role('host')?.pid as number
    process.kill(host, 'SIGSTOP')
    process.kill(server()?.pid as number, 'SIGTERM')
    await until('it has ended', () => !server())
    await disk.fill(MB)
    const rests: string[] = []
    await until('Stead uses its disk reserve', async () => !(await readdir(stead.dataDir)).includes('reserve'))
    // others write as well: allocate until nothing is left, and keep it
    await until('nothing is left', async () => {
      const bytes = disk.freeBytes() - MB
      if (bytes <= 0) return true
      const rest = join(disk.folder, `rest-${rests.length}`)
      // fallocate takes nothing at all when another writer was quicker
      await run('fallocate', ['-l', String(bytes), rest]).catch(() => {})
      rests.push(rest)
      return false
    })
    process.kill(host, 'SIGCONT')
    const down = await until('it is known', async () => {
      const now = await readiness()
      return now.hosts[0]?.mariaDb.fault?.includes('disk of the host is full') && now
    })
    expect(down).toMatchObject({ code: 503, status: 'not ready', hosts: [{ mariaDb: { isUp: false } }] })
    await disk.relieve()
    for (const rest of rests) await rm(rest, { force: true })
    await until('it is back', async () => (await readiness()).code === 200)
    await until('the site answers', async () => (await stead.visit('filling', '/?back')).status === 200)
    await until('the operator has a mail', async () => {
      const outbox = join(stead.dataDir, 'outbox')
      const mails = await Promise.all(
        (await readdir(outbox).catch(() => [])).map((name) => readFile(join(outbox, name), 'utf8').catch(() => '')),
      )
      return mails.some((mail) => mail.includes('does not start'))
    })
    expect((await readiness()).hosts[0]?.mariaDb.mayWrite).toBe('all')
  })
})
