import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testAddress,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { ways } from '../../../../test/support/ways.ts'
import { type PhpProcess, type PhpRuntime, phpVersions } from '../runtime.ts'
import { PhpTaskError } from '../task-error.ts'
import { innerPages } from '../tasks.ts'

const core = await testCore()

const inAllWays = ways.filter(({ skip }) => !skip)
const [firstWay] = inAllWays
/** Every version in the strongest way, and every way with the newest version. */
const cases = phpVersions.flatMap((phpVersion) =>
  inAllWays
    .filter((way) => way.versions.includes(phpVersion))
    .filter((way) => way === firstWay || phpVersion === way.versions.at(-1))
    .map((way) => ({ ...way, phpVersion })),
)

/** Returns raw headers as pairs, without those that describe the process. */
const pairs = (flat: readonly string[] = []): string[] =>
  flat.flatMap((name, at) => (at % 2 === 0 ? `${name.toLowerCase()}: ${flat[at + 1]}` : [])).toSorted()

describe.skipIf(!core).each(cases)(
  'WordPress on PHP $phpVersion, $way',
  ({ runtime: kind, phpVersion, sandbox, isOpen }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let php: PhpProcess

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind, sandbox })
      directory = await testDirectory(core as string, { phpVersion, isOpen })
      php = await runtime.start(directory)
      await install(php)
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })

    /** @returns headers of requests with the session */
    const logIn = async (log: string, pwd: string): Promise<string[]> => {
      const body = Buffer.from(new URLSearchParams({ log, pwd, testcookie: '1' }).toString())
      const login = await fetchPage(
        php,
        testRequest('/wp-login.php', '/wordpress/wp-login.php', {
          method: 'POST',
          headers: [
            'Host',
            testAddress,
            'Content-Type',
            'application/x-www-form-urlencoded',
            'Cookie',
            'wordpress_test_cookie=x',
          ],
          body: Readable.from([body]),
          bodyBytes: body.length,
        }),
      )
      expect(login.status).toBe(302)
      const cookies = valuesOf(login.headers, 'set-cookie').map((cookie) => cookie.split(';')[0])
      expect(cookies.length).toBeGreaterThan(2)
      return ['Host', testAddress, 'Cookie', cookies.join('; ')]
    }
    const dashboard = (headers: string[]) =>
      fetchPage(php, testRequest('/wp-admin/', '/wordpress/wp-admin/index.php', { headers }))

    it('serves the front page with its title, also at its pretty address', async () => {
      const front = await fetchPage(php, testRequest('/'))
      expect(front.status).toBe(200)
      expect(front.text).toContain('<title>A test site</title>')
      expect(front.text).not.toContain('localhost/wp-')
      const post = await fetchPage(php, testRequest('/hello-world/'))
      expect(post.status).toBe(200)
      expect(post.text).toContain('Hello world!')
      expect((await fetchPage(php, testRequest('/no-such-page/'))).status).toBe(404)
    })

    it('runs the requested PHP with opcache on', async () => {
      await fetchPage(php, testRequest('/'))
      const info = (await php.runTask('php-info', {})) as {
        version: string
        opcache: { scripts: number; freeBytes: number }
      }
      expect(info.version.startsWith(phpVersion)).toBe(true)
      expect(info.opcache.scripts).toBeGreaterThan(100)
      expect(info.opcache.freeBytes).toBeGreaterThan(4 << 20)
    })

    it('logs in to wp-admin with the password that the task set, and shows the dashboard', async () => {
      expect(await php.runTask('reset-password', { login: 'admin', password: 'p"ass \\ wörd' })).toEqual({
        id: 1,
        login: 'admin',
        email: 'owner@example.com',
        dropIn: false,
      })
      const headers = await logIn('admin', 'p"ass \\ wörd')
      const admin = await dashboard(headers)
      expect(admin.status).toBe(200)
      expect(admin.text).toContain('id="wpadminbar"')
    })

    it('ends a user’s sessions with a new password, and no other user’s', async () => {
      const script = await directory.script(
        'sessions.php',
        `require 'wp-load.php'; echo json_encode(array_map(fn ($login) => count(WP_Session_Tokens::get_instance(get_user_by('login', $login)->ID)->get_all()), ['admin', 'mate']));`,
      )
      const sessions = async () => JSON.parse((await fetchPage(php, testRequest('/sessions.php', script))).text)
      const mate = { email: 'mate@example.com', name: 'Mate', login: 'mate', password: 'first' }
      await php.runTask('reset-password', { login: 'admin', password: 'first' })
      await php.runTask('reset-administrator', mate)
      const [ofAdmin, ofMate] = [await logIn('admin', 'first'), await logIn('mate', 'first')]
      const statuses = async () => [(await dashboard(ofAdmin)).status, (await dashboard(ofMate)).status]
      expect([await sessions(), await statuses()]).toEqual([
        [1, 1],
        [200, 200],
      ])
      await php.runTask('reset-password', { login: 'admin', password: 'second' })
      expect([await sessions(), await statuses()]).toEqual([
        [0, 1],
        [302, 200],
      ])
      await php.runTask('reset-administrator', { ...mate, password: 'second' })
      expect([await sessions(), await statuses()]).toEqual([
        [0, 0],
        [302, 302],
      ])
      expect((await dashboard(await logIn('mate', 'second'))).status).toBe(200)
    })

    it('keeps a license in the options table until it is removed', async () => {
      const script = await directory.script(
        'license.php',
        `require 'wp-load.php'; echo json_encode($wpdb->get_col("SELECT option_value FROM $wpdb->options WHERE option_name = 'stead_ext_license'"));`,
      )
      const stored = async () => JSON.parse((await fetchPage(php, testRequest('/license.php', script))).text)
      for (const key of ['one', 'one', 'two', null, null]) {
        expect(await php.runTask('write-license', { key })).toEqual({ dropIn: false })
        expect(await stored()).toEqual(key === null ? [] : [key])
      }
    })

    it('returns the shared front page with the proof of a site, as an edge gets it', async () => {
      const { page } = await php.runTask('check-site', {})
      const headers = ['Host', testAddress, 'User-Agent', 'Mozilla/5.0 (compatible; Stead)', 'Accept', '*/*']
      const asked = await fetchPage(php, testRequest('/', undefined, { headers }))
      expect(Buffer.from(page?.body ?? '', 'base64').toString()).toBe(asked.text)
      expect(pairs(page?.headers)).toEqual(pairs(asked.headers))
    })

    it.each([
      ['sets a cookie', "add_action('send_headers', function () { setcookie('own', '1'); });"],
      ['is not to be kept', "define('DONOTCACHEPAGE', true);"],
      ['is not finished yet', "add_action('template_redirect', function () { ob_start(); });"],
      ['is very large', "add_action('wp_footer', function () { echo str_repeat('x', 600 << 10); });"],
      [
        'has a very long header',
        "add_action('send_headers', function () { header('X-Own: ' . str_repeat('x', 9000)); });",
      ],
    ])('returns no front page that %s', async (_, code) => {
      const plugin = join(directory.siteDirectory, 'web/wp-content/mu-plugins/own-page.php')
      await mkdir(dirname(plugin), { recursive: true })
      await writeFile(plugin, `<?php ${code}`)
      try {
        expect(await php.runTask('check-site', {})).toEqual({ title: 'A test site', page: null })
      } finally {
        await rm(plugin)
      }
    })

    it('reports a task’s error with PHP’s message, and continues', async () => {
      await expect(php.runTask('reset-password', { login: 'nobody', password: 'x' })).rejects.toThrow('no such user')
      expect(await php.runTask('check-site', {})).toMatchObject({ title: 'A test site' })
    })

    it('sees the front page of a site that is set to https and redirects visitors there', async () => {
      const setTo = async (scheme: string) => {
        const set = `foreach (['home', 'siteurl'] as $name) update_option($name, '${scheme}://${testAddress}');`
        const script = await directory.script(`${scheme}.php`, `require '/wordpress/wp-load.php'; ${set}`)
        await fetchPage(php, testRequest(`/${scheme}.php`, script))
      }
      const insists = join(directory.siteDirectory, 'web/wp-content/mu-plugins/insists.php')
      try {
        await setTo('https')
        await mkdir(join(directory.siteDirectory, 'web/wp-content/mu-plugins'), { recursive: true })
        const sends = "if (!is_ssl()) { wp_redirect('https://' . $_SERVER['HTTP_HOST']); exit; }"
        await writeFile(insists, `<?php add_action('init', function () { ${sends} });`)
        expect((await fetchPage(php, testRequest('/'))).status).toBe(302)
        expect(await php.runTask('check-site', {})).toMatchObject({ title: 'A test site' })
        expect(await php.runTask('front-page', {})).toMatchObject({ status: 200 })
        // A browser that arrives over http would never send back a cookie for https.
        for (const https of [false, true]) {
          const browser = { login: 'admin', userAgent: 'a browser', remoteAddress: '192.0.2.1', https }
          const { cookies } = await php.runTask('log-in', browser)
          expect([...new Set(cookies.map(({ isSecure }) => isSecure))]).toEqual([https])
        }
      } finally {
        await rm(insists, { force: true })
        await setTo('http')
      }
      expect((await fetchPage(php, testRequest('/'))).status).toBe(200)
    })

    // This tests WordPress itself, so one version on each runtime is enough.
    const judges = phpVersion === '8.2'
    it.runIf(judges)('shows dashboard, editor, and REST index to Stead, and stores nothing', async () => {
      const well = { status: 200, isWhole: true, isRedirect: false, databaseErrors: [] }
      const script = "require '/wordpress/wp-load.php'; global $wpdb;"
      // WordPress creates the post with a theme's styles once, permanently.
      const drafts = `$wpdb->get_var("select count(*) from $wpdb->posts where post_type <> 'wp_global_styles'")`
      const count = `${drafts} . get_user_meta(1, "session_tokens", true)`
      const counts = testRequest('/count.php', await directory.script('count.php', `${script} echo ${count};`))
      const before = (await fetchPage(php, counts)).text
      for (const page of innerPages) expect([page, await php.runTask('inner-page', { page })]).toEqual([page, well])
      expect((await fetchPage(php, counts)).text).toBe(before)
      const broken = join(directory.siteDirectory, 'web/wp-content/mu-plugins/broken.php')
      await mkdir(join(directory.siteDirectory, 'web/wp-content/mu-plugins'), { recursive: true })
      try {
        await writeFile(broken, `<?php add_action('admin_init', fn () => none_such());`)
        await expect(php.runTask('inner-page', { page: 'admin' })).rejects.toThrow('none_such()')
        await writeFile(broken, "<?php if (is_admin()) die('x');")
        expect(await php.runTask('inner-page', { page: 'editor' })).toEqual({ ...well, isWhole: false })
        expect(await php.runTask('inner-page', { page: 'rest' })).toEqual(well)
      } finally {
        await rm(broken, { force: true })
      }
    })

    it('rejects an answer of another form, which a plugin may give in the task’s place', async () => {
      const forge = `if (($GLOBALS['stead']['task'] ?? '') === 'site-title') {
      [$marker, $GLOBALS['stead']['marker']] = [$GLOBALS['stead']['marker'], null];
      while (ob_get_level() > 0 && ob_end_clean());
      exit($marker . '{"result": {"title": ["forged"]}}' . $marker);
    }`
      await mkdir(join(directory.siteDirectory, 'web/wp-content/mu-plugins'), { recursive: true })
      await writeFile(join(directory.siteDirectory, 'web/wp-content/mu-plugins/forge.php'), `<?php ${forge}`)
      try {
        await expect(php.runTask('site-title', {})).rejects.toThrow(
          new PhpTaskError('the result does not have its form (task site-title)'),
        )
      } finally {
        await rm(join(directory.siteDirectory, 'web/wp-content/mu-plugins/forge.php'))
      }
      expect(await php.runTask('site-title', {})).toMatchObject({ title: 'A test site' })
    })

    it('runs due events and reports when the next are due', async () => {
      const cron = (await php.runTask('cron', {})) as {
        failed: string[]
        nextInSeconds: number
      }
      expect(cron).toMatchObject({ failed: [] })
      expect(cron.nextInSeconds).toBeGreaterThan(0)
    })

    it('sees the address at which it is reached, including https', async () => {
      const script = await directory.script('seen.php', 'echo json_encode($_SERVER);')
      const headers = [
        'Host',
        testAddress,
        'X-Thing',
        'a',
        'x-thing',
        'b',
        'X_Thing',
        'evil',
        'Proxy',
        'evil',
        'Cookie',
        'a=1',
      ]
      const seen = await fetchPage(php, testRequest('/seen.php?a=%20b', script, { https: true, headers }))
      expect(JSON.parse(seen.text)).toMatchObject({
        HTTPS: 'on',
        HTTP_HOST: testAddress,
        HTTP_X_THING: 'a, b',
        HTTP_COOKIE: 'a=1',
        QUERY_STRING: 'a=%20b',
        REQUEST_URI: '/seen.php?a=%20b',
        SCRIPT_NAME: '/seen.php',
        REMOTE_ADDR: '192.0.2.1',
        SERVER_PORT: '8081',
      })
      expect(seen.text).not.toContain('evil')
      const after = await fetchPage(php, testRequest('/seen.php', script))
      expect(JSON.parse(after.text)).not.toHaveProperty('HTTPS')
      expect(JSON.parse(after.text)).not.toHaveProperty('HTTP_COOKIE')
    })

    it('takes over another site when its database and wp-config.php have been replaced', async () => {
      await fetchPage(php, testRequest('/'))
      const database = join(directory.siteDirectory, 'private/database/site.sqlite')
      const config = join(directory.siteDirectory, 'web/wp-config.php')
      await copyFile(database, `${database}.new`)
      using changed = new DatabaseSync(`${database}.new`)
      changed.exec("UPDATE wp_options SET option_value = 'Moved in' WHERE option_name = 'blogname'")
      changed.exec(
        "UPDATE wp_options SET option_value = 'http://new.localhost:8081' WHERE option_name IN ('home', 'siteurl')",
      )
      changed.close()
      await copyFile(`${database}.new`, database)
      await writeFile(config, (await readFile(config, 'utf8')).replace('<?php', "<?php define('STEAD_MOVED', 'yes');"))
      await php.moveIn({ address: 'new.localhost:8081' })
      expect(await php.runTask('site-title', {})).toMatchObject({
        title: 'Moved in',
        home: 'http://new.localhost:8081',
      })
      const script = await directory.script('moved.php', "require '/wordpress/wp-load.php'; echo STEAD_MOVED;")
      expect((await fetchPage(php, testRequest('/moved.php', script))).text).toBe('yes')
      expect(
        (
          await fetchPage(
            php,
            testRequest('/', undefined, { host: 'new.localhost:8081', headers: ['Host', 'new.localhost:8081'] }),
          )
        ).text,
      ).toContain('<title>Moved in</title>')
      expect(await php.runTask('check-site', {})).toMatchObject({ title: 'Moved in' })
    })
  },
)

function valuesOf(headers: readonly string[], name: string): string[] {
  return headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name)
}
