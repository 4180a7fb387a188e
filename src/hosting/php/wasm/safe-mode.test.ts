/** What an owner can do when the site's own code ends every request with a fatal error. */
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
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
import { hereRuntimes } from '../../../../test/support/ways.ts'
import { changeWpConfig } from '../../site-files/platform/wp-config-file.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()
const PASSWORD = 'correct horse battery'
const FATAL = '<?php /* Plugin Name: Broken */ call_to_nothing();'

// Each test starts PHP again, some of them four times.
describe.skipIf(!core).each(hereRuntimes)(
  'a site whose own code is broken, $runtime',
  ({ runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let usual: PhpProcess
    let safe: PhpProcess

    /** Runs one process at a time, because each has the site's database. */
    const restarted = async (isInSafeMode: boolean): Promise<PhpProcess> => {
      await usual?.stop()
      await safe?.stop()
      return runtime.start({ ...directory, isInSafeMode })
    }
    const put = async (name: string, code: string) => {
      const path = join(directory.siteDirectory, 'web/wp-content', name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, code)
    }
    const script = async (php: PhpProcess, name: string, code: string) =>
      (await fetchPage(php, testRequest(`/${name}`, await directory.script(name, code)))).text
    const logIn = async (php: PhpProcess): Promise<{ status: number; cookie: string }> => {
      const body = Buffer.from(new URLSearchParams({ log: 'admin', pwd: PASSWORD, testcookie: '1' }).toString())
      const type = 'application/x-www-form-urlencoded'
      const request = testRequest('/wp-login.php', '/wordpress/wp-login.php', {
        method: 'POST',
        headers: ['Host', testAddress, 'Content-Type', type, 'Cookie', 'wordpress_test_cookie=x'],
        body: Readable.from([body]),
        bodyBytes: body.length,
      })
      const { status, headers } = await fetchPage(php, request)
      return { status, cookie: cookiesOf(headers) }
    }
    const dashboard = (php: PhpProcess, page: string, cookie: string) =>
      fetchPage(
        php,
        testRequest(`/wp-admin/${page}`, `/wordpress/wp-admin/${page.split('?')[0]}`, {
          headers: ['Host', testAddress, 'Cookie', cookie],
        }),
      )

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind })
      directory = await testDirectory(core as string, { phpVersion })
      usual = await runtime.start(directory)
      await install(usual)
      await put('plugins/broken/broken.php', FATAL)
      const config = join(directory.siteDirectory, 'web/wp-config.php')
      const text = await readFile(config, 'utf8')
      // Without it, WordPress does not load `advanced-cache.php`.
      await writeFile(config, text.replace('<?php', "<?php define('WP_CACHE', true);"))
      const activate = "require '/wordpress/wp-load.php'; update_option('active_plugins', ['broken/broken.php']);"
      await script(usual, 'activate.php', activate)
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })
    afterEach(async () => {
      const content = join(directory.siteDirectory, 'web/wp-content')
      for (const name of ['mu-plugins/broken.php', 'object-cache.php', 'advanced-cache.php', 'fatal-error-handler.php'])
        await rm(join(content, name), { force: true })
    })

    it('is locked, and reports a link into recovery mode, which lets the owner in', async () => {
      usual = await restarted(false)
      const notes: string[] = []
      usual.onNote = (text) => notes.push(text)
      expect((await fetchPage(usual, testRequest('/'))).status).toBe(500)
      expect(notes).toEqual([])
      const page = await fetchPage(usual, testRequest('/wp-login.php', '/wordpress/wp-login.php'))
      expect(page.status).toBe(500)
      expect(page.text).toContain('Please check your site admin email inbox')
      const { recovery } = notes.map((text) => JSON.parse(text)).find((each) => 'recovery' in each)
      expect(recovery.cause).toBe('plugins/broken')
      const { pathname, search } = new URL(recovery.url)
      const entered = await fetchPage(usual, testRequest(pathname + search, '/wordpress/wp-login.php'))
      expect(entered.status).toBe(302)
      const inside = testRequest('/wp-login.php', '/wordpress/wp-login.php', {
        headers: ['Host', testAddress, 'Cookie', cookiesOf(entered.headers)],
      })
      // The first page in recovery mode finds what is broken, and is then loaded again without it.
      expect((await fetchPage(usual, inside)).status).toBe(302)
      expect((await fetchPage(usual, inside)).status).toBe(200)
    })

    it('still takes a new password, even with broken must-use plugins and drop-ins', async () => {
      usual = await restarted(false)
      const password = 'another horse battery'
      expect(await usual.runTask('reset-password', { login: 'admin', password })).toMatchObject({ login: 'admin' })
      for (const name of ['mu-plugins/broken.php', 'object-cache.php', 'advanced-cache.php', 'fatal-error-handler.php'])
        await put(name, FATAL)
      expect(await usual.runTask('reset-password', { login: 'admin', password: PASSWORD })).toMatchObject({
        login: 'admin',
        dropIn: true,
      })
      // A drop-in that PHP has compiled and kept.
      await put('sunrise.php', "<?php exit('sunrise');")
      const sunrise = join(directory.siteDirectory, 'web/wp-content/sunrise.php')
      await utimes(sunrise, 1_000_000_000, 1_000_000_000)
      const including = "include '/wordpress/wp-content/sunrise.php';"
      for (let i = 0; i < 2; i++) expect(await script(usual, 'include.php', including)).toBe('sunrise')
      expect(await usual.runTask('reset-password', { login: 'admin', password: PASSWORD })).toMatchObject({
        login: 'admin',
      })
      await rm(sunrise)
      // Also for a collaborator, who may be missing.
      const mate = { email: 'mate@example.com', name: 'Mate', login: 'mate', password }
      expect(await usual.runTask('reset-administrator', mate)).toEqual({ login: 'mate', created: true, dropIn: true })
      expect(await usual.runTask('reset-administrator', mate)).toMatchObject({ login: 'mate', created: false })
      await expect(
        usual.runTask('ensure-administrator', { email: 'x@example.com', name: 'X', login: 'x' }),
      ).rejects.toThrow()
    })

    it('in safe mode asks for another wp-config.php if its own keeps WordPress from starting', async () => {
      const config = join(directory.siteDirectory, 'web/wp-config.php')
      const before = await readFile(config, 'utf8')
      safe = await restarted(true)
      const notes: string[] = []
      safe.onNote = (text) => notes.push(text)
      for (const broken of ['<?php define(', "<?php require '/home/old/waf.php';", '<?php exit;']) {
        await writeFile(config, broken)
        expect((await fetchPage(safe, testRequest('/'))).status).toBeGreaterThanOrEqual(500)
        expect(notes.splice(0)).toEqual(['{"mend":"config"}'])
      }
      await writeFile(config, before)
      const styles = testRequest('/wp-admin/load-styles.php?load=buttons', '/wordpress/wp-admin/load-styles.php')
      expect((await fetchPage(safe, styles)).status).toBe(200)
      expect(notes).toEqual([])
    })

    it('in safe mode shows its pages, lets the owner in, and lets the owner deactivate its plugins', async () => {
      for (const name of ['mu-plugins/broken.php', 'object-cache.php', 'advanced-cache.php', 'fatal-error-handler.php'])
        await put(name, FATAL)
      await put('themes/broken/style.css', '/* Theme Name: Broken */')
      await put('themes/broken/index.php', FATAL)
      await put('themes/broken/functions.php', FATAL)
      safe = await restarted(true)
      const theme =
        "require '/wordpress/wp-load.php'; update_option('template', 'broken'); update_option('stylesheet', 'broken');"
      await script(safe, 'theme.php', theme)

      const front = await fetchPage(safe, testRequest('/'))
      expect(front.status).toBe(200)
      expect(front.text).toContain('/wp-content/themes/twenty')
      const { status, cookie } = await logIn(safe)
      expect([status, cookie]).toEqual([302, expect.stringContaining('wordpress_logged_in')])
      expect((await dashboard(safe, 'index.php', cookie)).text).toContain('Safe mode is on')
      expect((await dashboard(safe, 'post-new.php', cookie)).status).toBe(200)

      // The site's own settings are unchanged, and are what the owner edits.
      const themes = await dashboard(safe, 'themes.php', cookie)
      expect(themes.text).toMatch(/class="theme active">[\s\S]{0,2000}id="broken-name"/)
      const plugins = await dashboard(safe, 'plugins.php', cookie)
      const link = /href="(plugins\.php\?action=deactivate&amp;plugin=broken[^"]*)"/.exec(plugins.text)?.[1]
      const done = await dashboard(safe, (link as string).replaceAll('&amp;', '&').replaceAll('&#038;', '&'), cookie)
      expect(done.status).toBe(302)
      const active = "require '/wordpress/wp-load.php'; echo json_encode(get_option('active_plugins'));"
      expect(await script(safe, 'active.php', active)).toBe('[]')
      const back =
        "require '/wordpress/wp-load.php'; $default = WP_Theme::get_core_default_theme()->get_stylesheet(); update_option('template', $default); update_option('stylesheet', $default);"
      await script(safe, 'back.php', back)
    })

    it('is as before after safe mode: what was not changed loads again', async () => {
      await put(
        'plugins/well/well.php',
        "<?php /* Plugin Name: Well */ add_action('wp_footer', fn() => print('all is well'));",
      )
      const activate = "require '/wordpress/wp-load.php'; update_option('active_plugins', ['well/well.php']);"
      safe = await restarted(true)
      await script(safe, 'activate.php', activate)
      expect((await fetchPage(safe, testRequest('/'))).text).not.toContain('all is well')
      usual = await restarted(false)
      expect((await fetchPage(usual, testRequest('/'))).text).toContain('all is well')
    })

    it('runs no scheduled event in safe mode, because the plugins for it are not loaded', async () => {
      safe = await restarted(true)
      const plan =
        "require '/wordpress/wp-load.php'; wp_schedule_single_event(time() - 60, 'of_a_plugin'); echo 'planned';"
      expect(await script(safe, 'plan.php', plan)).toBe('planned')
      expect(await safe.runTask('cron', {})).toMatchObject({ ran: 0 })
      const left = "require '/wordpress/wp-load.php'; echo json_encode(wp_next_scheduled('of_a_plugin') !== false);"
      await fetchPage(safe, testRequest('/wp-cron.php', '/wordpress/wp-cron.php'))
      expect(await script(safe, 'left.php', left)).toBe('true')
    })

    it('stores no rewrite rules that lack those of plugins', async () => {
      safe = await restarted(true)
      const flush =
        "require '/wordpress/wp-load.php'; flush_rewrite_rules(false); echo strlen((string) $wpdb->get_var(\"select option_value from $wpdb->options where option_name = 'rewrite_rules'\"));"
      expect(await script(safe, 'flush.php', flush)).toBe('0')
      expect((await fetchPage(safe, testRequest('/hello-world/'))).status).toBe(200)
      usual = await restarted(false)
      expect((await fetchPage(usual, testRequest('/hello-world/'))).status).toBe(200)
    })

    it('does the same for a network, which has a separate list of plugins', async () => {
      usual = await restarted(false)
      const { networkId, blogId, path } = await usual.runTask('make-network', { title: 'A network' })
      await changeWpConfig(directory.siteDirectory, directory.uid, {
        MULTISITE: true,
        SUBDOMAIN_INSTALL: false,
        DOMAIN_CURRENT_SITE: testAddress,
        PATH_CURRENT_SITE: path,
        SITE_ID_CURRENT_SITE: networkId,
        BLOG_ID_CURRENT_SITE: blogId,
      })
      usual = await restarted(false)
      const activate =
        "require '/wordpress/wp-load.php'; echo json_encode(update_site_option('active_sitewide_plugins', ['broken/broken.php' => 1]));"
      expect(await script(usual, 'network.php', activate)).toBe('true')
      expect((await fetchPage(usual, testRequest('/'))).status).toBe(500)
      expect(await usual.runTask('reset-password', { login: 'admin', password: PASSWORD })).toMatchObject({ id: 1 })
      safe = await restarted(true)
      expect((await fetchPage(safe, testRequest('/'))).status).toBe(200)
      const { cookie } = await logIn(safe)
      expect((await dashboard(safe, 'network/plugins.php', cookie)).text).toContain(
        'action=deactivate&amp;plugin=broken',
      )
      // A drop-in that no hook excludes, with each request of a process.
      await put('sunrise.php', FATAL)
      await changeWpConfig(directory.siteDirectory, directory.uid, { SUNRISE: true })
      usual = await restarted(false)
      expect((await fetchPage(usual, testRequest('/'))).status).toBe(500)
      safe = await restarted(true)
      for (let visit = 0; visit < 3; visit++) expect((await fetchPage(safe, testRequest('/'))).status).toBe(200)
      // A file that does not even parse.
      await put('sunrise.php', '<?php (')
      safe = await restarted(true)
      expect((await fetchPage(safe, testRequest('/'))).status).toBe(200)
    })

    it('leaves no trace in the site folder', async () => {
      expect(
        (await readdir(join(directory.siteDirectory, 'web/wp-content'))).filter((name) => /safe|stead/.test(name)),
      ).toEqual([])
    })
  },
)

function cookiesOf(headers: readonly string[]): string {
  const set = headers.filter((_value, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'set-cookie')
  return set.map((each) => each.split(';', 1)[0]).join('; ')
}
