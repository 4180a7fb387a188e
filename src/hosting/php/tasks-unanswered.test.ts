import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import {
  install,
  type TestDirectory,
  testAddress,
  testBodies,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../test/support/ways.ts'
import { PhpPool, type PooledSite } from './pool/pool.ts'
import type { PhpRuntime } from './runtime.ts'
import { PhpTaskError } from './task-error.ts'

const core = await testCore()

/** Imitates page caches: prints the stored page to any client that looks like a visitor, before WordPress is loaded. */
const pageCache = `<?php
if (($_SERVER['REQUEST_METHOD'] ?? '') === 'GET' && !defined('DOING_CRON')) { echo 'the kept page'; exit; }
`
/**
 * Imitates plugins that close a site, demand a login, or redirect all requests except WordPress' own scheduled events.
 */
const guard = `<?php
add_action('init', function () {
    if (wp_doing_cron()) return;
    if (get_option('guard') === 'page') { status_header(503); echo 'Come back later'; exit; }
    if (get_option('guard') === 'redirect') { wp_redirect('https://elsewhere.example/'); exit; }
});
`
/** Imitates plugins that ask for a second step: a password does not log in, and the session of the first step ends. */
const secondStep = `<?php
function second_step_page() { echo 'Enter your code'; exit; }
add_action('wp_login', function ($login, $user) {
    WP_Session_Tokens::get_instance($user->ID)->destroy_all();
    wp_clear_auth_cookie();
    second_step_page();
}, PHP_INT_MAX, 2);
add_action('set_auth_cookie', fn () => did_action('login_init') || second_step_page(), PHP_INT_MAX);
`
/** A plugin error that keeps WordPress from starting completely. */
const exits = `<?php exit('gone');`
const dies = `<?php add_action('activate_strict/strict.php', fn () => wp_die('<b>Strict</b> needs a newer PHP.'));`
/** A plugin that fails when it is deactivated, as old ones do on a newer PHP. */
const clings = `<?php
foreach (['clings', 'clings-too'] as $name)
    add_action("deactivate_$name/$name.php", function () { throw new Error('undefined function'); });
`

describe.skipIf(!core).each(hereRuntimes)(
  'tasks in a site that answers for itself, $runtime',
  ({ runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let site: PooledSite
    let pool: PhpPool
    let heard = (_note: string) => {}
    const content = (path: string) => join(directory.siteDirectory, 'web/wp-content', path)

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind })
      directory = await testDirectory(core as string, { phpVersion })
      site = { ...directory, siteId: 1 }
      const process = await runtime.start(directory)
      await install(process)
      await process.stop()
      for (const [name, code] of Object.entries({
        guard,
        exits,
        'second-step': secondStep,
        clings,
        'clings-too': clings,
        strict: `<?php /* Plugin Name: Strict */ ?>${dies}`,
      })) {
        await mkdir(content(`plugins/${name}`))
        await writeFile(
          content(`plugins/${name}/${name}.php`),
          name === 'strict' ? code : code.replace('<?php', `<?php /* Plugin Name: ${name} */`),
        )
      }
      const config = join(directory.siteDirectory, 'web/wp-config.php')
      const before = await readFile(config, 'utf8')
      await writeFile(config, before.replace('<?php', "<?php\ndefine('WP_CACHE', true);"))
      pool = new PhpPool(runtime, {
        ...{ queueLength: 10, requestMs: 20_000, taskMs: 20_000, idleMs: 600_000 },
        ...{
          memoryBytes: 2 ** 31,
          processMemoryBytes: 768 << 20,
          bodies: testBodies(),
          onNote: (_id, note) => heard(note),
        },
      })
    })
    afterAll(async () => {
      await pool?.stopAll(0)
      await runtime?.close()
      await directory?.remove()
    })
    afterEach(async () => {
      for (const path of ['advanced-cache.php', 'maintenance.php', '../.maintenance'])
        await rm(content(path), { force: true })
    })

    const activate = (...names: string[]) =>
      pool.runTask(site, 'set-active-plugins', { active: names.map((name) => `${name}/${name}.php`), network: [] })
    const visit = async () => text((await pool.handle(site, testRequest('/'))).body)
    const option = async (name: string, value: string) => {
      const script = await directory.script(
        'set.php',
        `require '/wordpress/wp-load.php'; update_option('${name}', '${value}');`,
      )
      await text((await pool.handle(site, testRequest('/set.php', script))).body)
    }

    it('are not answered by a page cache, and its page is not taken for what the site shows', async () => {
      await writeFile(content('advanced-cache.php'), pageCache)
      expect(await visit()).toBe('the kept page')
      expect(await pool.runTask(site, 'site-title', {})).toMatchObject({ title: 'A test site' })
      expect(await pool.runTask(site, 'flush-object-cache', {})).toMatchObject({ flushed: true })
      const page = await pool.runTask(site, 'front-page', {})
      expect(page.status).toBe(200)
      expect(page.bytes).toBeGreaterThan(1000)
    })

    it('run during an interrupted update, which closes the site for visitors only', async () => {
      await writeFile(content('../.maintenance'), '<?php $upgrading = time();')
      await writeFile(content('maintenance.php'), '<?php echo "closed"; exit;')
      expect(await visit()).toBe('closed')
      expect(await pool.runTask(site, 'site-title', {})).toMatchObject({ title: 'A test site' })
      expect(await pool.runTask(site, 'front-page', {})).toMatchObject({ status: 200 })
      expect(await pool.runTask(site, 'inner-page', { page: 'admin' })).toMatchObject({ status: 200, isWhole: true })
    })

    it('pass a plugin that lets scheduled events pass, and count its own page as the front page', async () => {
      await option('guard', 'page')
      await activate('guard')
      expect(await visit()).toBe('Come back later')
      expect(await pool.runTask(site, 'flush-object-cache', {})).toMatchObject({ flushed: true })
      expect(await pool.runTask(site, 'front-page', {})).toEqual({ status: 503, bytes: 15, databaseErrors: [] })
      await activate()
      await option('guard', 'redirect')
      await activate('guard')
      expect(
        await pool.runTask(site, 'switch-plugin', { file: 'guard/guard.php', isActive: false, isSafe: false }),
      ).toEqual({ isActive: false })
    })

    it('respect a plugin with a second step at login, and let users with a link in', async () => {
      await activate('second-step')
      const logIn = async (password: string) => {
        const script = await directory.script('in.php', "require '/wordpress/wp-login.php';")
        const body = Buffer.from(new URLSearchParams({ log: 'admin', pwd: password, testcookie: '1' }).toString())
        const headers = ['Host', testAddress, 'Content-Type', 'application/x-www-form-urlencoded']
        headers.push('Content-Length', String(body.length), 'Cookie', 'wordpress_test_cookie=x')
        const change = { method: 'POST', headers, body: Readable.from([body]), bodyBytes: body.length }
        return text((await pool.handle(site, testRequest('/wp-login.php', script, change))).body)
      }
      expect(await logIn('correct horse battery')).toBe('Enter your code')
      const asked = { login: 'admin', userAgent: 'Tests/1.0', remoteAddress: '192.0.2.1', https: false }
      const { cookies } = await pool.runTask(site, 'log-in', asked)
      const cookie = cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ')
      const who = await directory.script('who.php', "require '/wordpress/wp-load.php'; echo get_current_user_id();")
      const headers = ['Host', testAddress, 'Cookie', cookie]
      expect(await text((await pool.handle(site, testRequest('/who.php', who, { headers }))).body)).toBe('1')
      await pool.runTask(site, 'reset-password', { login: 'admin', password: 'another battery' })
      expect(await logIn('correct horse battery')).toContain('is incorrect')
      expect(await logIn('another battery')).toBe('Enter your code')
      await activate()
    })

    it('run without a plugin that ends WordPress, if the task can do without it', async () => {
      await activate('exits')
      expect(await visit()).toBe('gone')
      expect(await pool.runTask(site, 'site-title', {})).toMatchObject({ title: 'A test site' })
      await expect(pool.runTask(site, 'flush-object-cache', {})).rejects.toThrow('the site ended the task (exit)')
      expect(
        await pool.runTask(site, 'switch-plugin', { file: 'exits/exits.php', isActive: false, isSafe: false }),
      ).toEqual({ isActive: false })
      expect(await visit()).toContain('A test site')
    })

    it('report a statement that the database refuses while a page is rendered', async () => {
      await mkdir(content('mu-plugins'), { recursive: true })
      await writeFile(
        content('mu-plugins/refused.php'),
        `<?php add_action('wp_loaded', function () {
          global $wpdb;
          $wpdb->get_results('SELECT * FROM not_there');
          // as dbDelta() does
          $wpdb->last_query = 'DESCRIBE not_yet_there';
          $wpdb->print_error('not_yet_there does not exist');
        });`,
      )
      const { databaseErrors } = await pool.runTask(site, 'front-page', {})
      expect(databaseErrors).toEqual([expect.stringContaining('not_there')])
      expect((await pool.runTask(site, 'inner-page', { page: 'rest' })).databaseErrors).toHaveLength(1)
      expect(await readFile(join(directory.siteDirectory, 'private/php-error.log'), 'utf8')).toMatch(
        /WordPress database error .*not_there/,
      )
      await rm(content('mu-plugins/refused.php'))
    })

    it('deactivate and delete a plugin whose own hook fails, and log the reason', async () => {
      await activate('clings', 'clings-too')
      for (const folder of ['plugins', 'plugins/clings-too']) await chmod(content(folder), 0o777)
      const [off, deleted] = ['clings/clings.php', 'clings-too/clings-too.php']
      expect(await pool.runTask(site, 'switch-plugin', { file: off, isActive: false, isSafe: false })).toEqual({
        isActive: false,
      })
      expect(await pool.runTask(site, 'delete-plugin', { file: deleted, isSafe: false })).toEqual({ deleted: true })
      expect(await readdir(content('plugins'))).not.toContain('clings-too')
      const log = await readFile(join(directory.siteDirectory, 'private/php-error.log'), 'utf8')
      for (const file of [off, deleted])
        expect(log).toContain(`Stead: the deactivation hook of ${file} failed: undefined function`)
    })

    it('report the reason that wp_die gives', async () => {
      const switching = pool.runTask(site, 'switch-plugin', {
        file: 'strict/strict.php',
        isActive: true,
        isSafe: false,
      })
      await expect(switching).rejects.toThrow(new PhpTaskError('Strict needs a newer PHP.', 'switch-plugin'))
    })

    it('restore a removed or replaced database drop-in at the next page', async () => {
      const script = await directory.script(
        'visit.php',
        "require '/wordpress/wp-load.php'; echo get_option('blogname');",
      )
      const page = async () => text((await pool.handle(site, testRequest('/visit.php', script))).body)
      const ours = await readFile(content('db.php'), 'utf8')
      await rm(content('db.php'))
      expect(await page()).toBe('A test site')
      expect(await readFile(content('db.php'), 'utf8')).toBe(ours)
      await writeFile(content('db.php'), '<?php // of a plugin that keeps answers of the database')
      expect(await page()).toBe('A test site')
      expect(await readFile(join(directory.siteDirectory, 'private/php-error.log'), 'utf8')).toContain(
        'It was put back.',
      )
      const notes: string[] = []
      const before = content('mu-plugins/sqlite-database-integration')
      await rename(before, `${before}-aside`)
      heard = (note) => notes.push(note)
      expect(await page()).toContain('being repaired')
      expect(notes).toEqual(['{"mend":true}'])
      await rename(`${before}-aside`, before)
      expect(await page()).toBe('A test site')
    })

    it('show no visitor the installer of a site without wp-config.php, and ask for the file', async () => {
      const visits = async (name: string, code: string) => {
        const { status, headers } = await pool.handle(site, testRequest(`/${name}`, await directory.script(name, code)))
        return { status, hasLocation: headers.some((each) => each.toLowerCase() === 'location') }
      }
      const notes: string[] = []
      heard = (note) => notes.push(note)
      await rename(content('../wp-config.php'), content('../aside.php'))
      const setUp = "define('ABSPATH', '/wordpress/'); require ABSPATH . 'wp-admin/setup-config.php';"
      expect(await visits('front.php', "require '/wordpress/wp-load.php';")).toEqual({
        status: 503,
        hasLocation: false,
      })
      expect(await visits('setup-config.php', setUp)).toEqual({ status: 503, hasLocation: false })
      expect(notes).toEqual(['{"mend":"config"}', '{"mend":"config"}'])
      // An error by the site's owner is for the owner to fix.
      await writeFile(content('../wp-config.php'), '<?php define(')
      expect((await visits('front.php', "require '/wordpress/wp-load.php';")).status).toBe(500)
      expect(notes).toHaveLength(2)
      await rename(content('../aside.php'), content('../wp-config.php'))
    })
  },
)
