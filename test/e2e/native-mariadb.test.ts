/** Sites on the machine's native PHP, with databases on MariaDB: created, used, isolated, and deleted. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { phpVersions } from '../../src/hosting/php/runtime.ts'
import { testCore } from '../support/core.ts'
import { nativeAndMariaDb, settingsOf } from '../support/native-mariadb.ts'
import { program, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const core = await testCore()
const { skip, phpVersion, versions } = nativeAndMariaDb
/** A version that runs in WebAssembly here, if any does. */
const otherVersion = phpVersions.find((version) => !versions.includes(version)) ?? phpVersion

const configOf = (stead: Stead, name: string): Record<string, string> => {
  const text = readFileSync(join(stead.directoryOf(name), 'web/wp-config.php'), 'utf8')
  return Object.fromEntries([...text.matchAll(/^define\('(\w+)', '(.*)'\);$/gm)].map(([, key, value]) => [key, value]))
}

describe.skipIf(!core || skip)('a site on native PHP and MariaDB', () => {
  let stead: Stead
  let id: number
  let browser: Browser
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    // the strictest umask of an operator's shell: MariaDB and sites run as other users, and read files that Stead wrote
    const launch = ['/bin/sh', '-c', 'umask 077 && exec "$@"', 'sh', process.execPath, program, 'serve']
    stead = await startStead({ env: settingsOf, launch })
    id = await stead.createSite({ name: 'on-server', php_version: phpVersion })
    browser = new Browser((path, options) => stead.visit('on-server', path, options))
  })
  afterAll(() => stead?.remove())

  test('is created with its own database user, and without SQLite', async () => {
    const directory = stead.directoryOf('on-server')
    const config = await readFile(join(directory, 'web/wp-config.php'), 'utf8')
    expect(config).toMatch(/define\('DB_NAME', 'stead_\w+_h\d+'\);/)
    expect(config).toContain("define('DB_HOST', 'localhost:/run/mariadb/socket');")
    expect(config).not.toMatch(/DB_FILE|SQLITE/)
    for (const gone of ['wp-content/db.php', 'wp-content/mu-plugins/sqlite-database-integration'])
      expect([gone, existsSync(join(directory, 'web', gone))]).toEqual([gone, false])
    expect((await stat(join(directory, 'mariadb.json'))).mode & 0o777).toBe(0o600)
    expect((await stead.visit('on-server')).text).toContain('<title>on-server</title>')
    const { hosts } = (await (await fetch(`${stead.apiUrl}/readyz`)).json()) as {
      hosts: { databases: Record<string, string>; containment: { runtimes: Record<string, string> } }[]
    }
    expect(hosts[0]).toMatchObject({
      databases: { [phpVersion]: 'mariadb' },
      containment: { runtimes: { [phpVersion]: 'native' } },
    })
  })

  test('accepts a log-in, posts, and uploads, and WordPress finds nothing critical', async () => {
    const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
    expect((await browser.logIn('admin', password)).text).toContain('wp-admin-bar')
    const headers = { 'x-wp-nonce': await browser.restNonce(), 'content-type': 'application/json' }
    const post = await browser.open('/wp-json/wp/v2/posts', {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ title: 'Größe 🙂', content: 'kept', status: 'publish' }),
    })
    expect(post.status).toBe(201)
    const { link } = JSON.parse(post.text) as { link: string }
    expect((await stead.visit('on-server', new URL(link).pathname)).text).toContain('Größe 🙂')
    const upload = await browser.open('/wp-json/wp/v2/media', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'image/gif', 'content-disposition': 'attachment; filename="dot.gif"' },
      body: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
    })
    expect(upload.status).toBe(201)
    const health = await browser.open('/wp-admin/site-health.php')
    expect(health.status).toBe(200)
    for (const asked of ['loopback-requests', 'authorization-header', 'page-cache']) {
      const { text } = await browser.open(`/wp-json/wp-site-health/v1/tests/${asked}`, { headers })
      expect([asked, (JSON.parse(text) as { status: string }).status]).not.toEqual([asked, 'critical'])
    }
  })

  test('answers in safe mode without a db.php that breaks every page', async () => {
    const dropIn = join(stead.directoryOf('on-server'), 'web/wp-content/db.php')
    const safe = async (enabled: boolean) => {
      const { status, headers } = await stead.api('PUT', `/v1/sites/${id}/cms/safe-mode`, { enabled })
      expect(status).toBe(200)
      expect(await stead.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    }
    const front = async () => (await stead.visit('on-server', `/?n=${Math.random()}`)).status
    for (const broken of ['<?php call_to_nothing();', '<?php (']) {
      await writeFile(dropIn, broken)
      await until('it is broken', async () => (await front()) === 500)
      await safe(true)
      for (let visit = 0; visit < 3; visit++) expect(await front()).toBe(200)
      await safe(false)
      expect(await front()).toBe(500)
    }
    await rm(dropIn)
    await until('it is well', async () => (await front()) === 200)
  })

  test('never shows the installer, whatever is in the database', async () => {
    for (const path of ['/wp-admin/install.php', '/wp-admin/setup-config.php'])
      expect([path, (await stead.visit('on-server', path)).status]).toEqual([path, 403])
  })

  test('can be copied, backed up, restored, and exported', async () => {
    await stead.createSite({ name: 'a-file', php_version: otherVersion })
    const clone = (await stead.api('POST', `/v1/sites/${id}/clone`, { name: 'copied' })).body.data.id as number
    await stead.live(clone)
    const [source, copy] = ['on-server', 'copied'].map((name) => configOf(stead, name))
    expect(copy?.DB_NAME).toMatch(/^stead_/)
    expect(copy?.DB_NAME).not.toBe(source?.DB_NAME)
    expect((await stead.visit('copied', '/wp-json/wp/v2/posts?search=Gr%C3%B6%C3%9Fe')).text).toContain('kept')
    const backup = (await stead.api('POST', `/v1/sites/${clone}/ondemand-backups`, { backup_type: 'db' })).headers
    expect(backup.get('operation-id')).not.toBeNull()
    expect(await stead.ended(backup.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    const { data } = (await stead.api('GET', `/v1/sites/${clone}/backups/db`)).body
    const restored = await stead.api('POST', `/v1/sites/${clone}/restores`, { database_id: data[0].id })
    expect(await stead.ended(restored.headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    await until('it answers', async () => (await stead.visit('copied')).status === 200)
  })

  const move = async (body: object) => {
    const { status, headers, body: said } = await stead.api('PUT', `/v1/sites/${id}/runtime`, body)
    expect([status, said.errors]).toEqual([200, null])
    return stead.ended(headers.get('operation-id') as string)
  }
  const lastWords = async () =>
    (await stead.api('POST', `/v1/sites/${id}/logs/activity`, {})).body.data[0].message as string

  test.skipIf(otherVersion === phpVersion)('does not move to a PHP on which its front page would fail', async () => {
    const elsewhere = (hook: string, code: string) =>
      `<?php if (PHP_SAPI !== 'fpm-fcgi') add_action('${hook}', function () { ${code} });`
    const plugin = join(stead.directoryOf('on-server'), 'web/wp-content/mu-plugins/elsewhere.php')
    await mkdir(dirname(plugin), { recursive: true })
    for (const [hook, code, reason] of [
      ['wp_footer', 'flush(); no_such_function();', /incomplete there|status 500/],
      ['template_redirect', 'wp_redirect("/elsewhere/"); exit;', /status 302 there, but with 200 here/],
    ] as const) {
      await writeFile(plugin, elsewhere(hook, code))
      expect(await move({ runtime: 'wasm', php_version: otherVersion })).toMatchObject({
        state: 'failed',
        error: expect.stringMatching(reason),
      })
      expect(configOf(stead, 'on-server').DB_NAME).toMatch(/^stead_/)
      await until('it answers', async () => (await stead.visit('on-server')).text.includes('Größe 🙂'))
      expect(await lastWords()).toContain('runs as before')
    }
    await rm(plugin)
  })

  test('moves to SQLite and back, with all content', async () => {
    const moved = async (body: object) => {
      const { state, error } = await move(body)
      expect([state, error]).toEqual(['succeeded', null])
      expect(await lastWords()).toContain('Its homepage is unchanged.')
    }
    const post = '/wp-json/wp/v2/posts?search=Gr%C3%B6%C3%9Fe'
    const refused = await stead.api('PUT', `/v1/sites/${id}`, { php_version: otherVersion })
    if (!versions.includes(otherVersion)) expect(refused.status).toBe(400)

    await moved({ runtime: 'wasm', php_version: otherVersion })
    expect(configOf(stead, 'on-server')).toMatchObject({ DB_NAME: 'wordpress', DB_FILE: 'site.sqlite' })
    expect(existsSync(join(stead.directoryOf('on-server'), 'mariadb.json'))).toBe(false)
    await until('it answers', async () => (await stead.visit('on-server', post)).text.includes('kept'))
    expect((await stead.api('GET', `/v1/sites/${id}`)).body.data.phpVersion).toBe(otherVersion)

    await moved({ runtime: 'native', php_version: phpVersion })
    expect(configOf(stead, 'on-server').DB_NAME).toMatch(/^stead_/)
    await until('it answers', async () => (await stead.visit('on-server', post)).text.includes('kept'))
    expect(existsSync(join(stead.directoryOf('on-server'), 'private/database/site.sqlite'))).toBe(false)
  })

  test('works again from the trash, and leaves nothing on the server when it is deleted permanently', async () => {
    const other = await stead.createSite({ name: 'short-lived', php_version: phpVersion })
    const number = /h(\d+)$/.exec(stead.directoryOf('short-lived'))?.[0] as string
    const databases = () =>
      readdir(join(stead.dataDir, 'mariadb/data')).then((names) => names.filter((name) => name.endsWith(`_${number}`)))
    expect(await databases()).toHaveLength(1)
    const removal = (await stead.api('DELETE', `/v1/sites/${other}`)).headers.get('operation-id') as string
    await stead.ended(removal)
    expect((await stead.cli('site', 'restore', '--name', 'short-lived')).code).toBe(0)
    await until('it answers', async () => (await stead.visit('short-lived')).status === 200)
    await stead.stop()
    stead.set({ STEAD_TRASH_DAYS: '0' })
    await stead.start()
    await until('it answers again', async () => (await stead.visit('on-server')).text.includes('on-server'))
    await stead.api('DELETE', `/v1/sites/${other}`)
    await until('its database is gone', async () => (await databases()).length === 0)
  })

  test('moves to SQLite even after native PHP was turned off and the site no longer answers', async () => {
    await stead.stop()
    stead.set({ STEAD_RUNTIME: 'wasm' })
    await stead.start()
    await until('it is refused', async () => (await stead.visit('on-server', '/?gone')).status === 502)
    expect(await move({ runtime: 'wasm', php_version: otherVersion })).toMatchObject({
      state: 'succeeded',
      error: null,
    })
    await until('it answers', async () => (await stead.visit('on-server', '/?gone')).text.includes('Größe 🙂'))
  })
})
