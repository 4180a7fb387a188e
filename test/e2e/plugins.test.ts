/** Plugins of a real WordPress, from a directory with real archives. */
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type PluginDirectoryServer, pluginFile, startPluginDirectory } from '../support/plugin-directory.ts'
import { siteRows } from '../support/site-rows.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

interface Operation {
  readonly id: number
  readonly state: string
  readonly error: string | null
  readonly results: readonly { readonly subject: string; readonly outcome: string; readonly message: string }[]
}

/** A plugin that prints its version at the end of each page, and counts in the database what happens to it. */
const speaking = (version: string, more = '') =>
  pluginFile(
    'Speaking',
    version,
    `add_action('wp_footer', fn () => print('<i>speaking ${version}</i>'));
     register_activation_hook(__FILE__, fn () => update_option('speaking_activated', 1 + (int) get_option('speaking_activated')));
     add_action('upgrader_process_complete', fn ($upgrader, $what) => update_option('speaking_seen', $what['action'] . ' ' . $what['type']), 10, 2);
     ${more}`,
  )

/** Shaped like WooCommerce, without telling caches what to skip. */
const shop = `
  final class WC_Install {
    public static function create_pages(): void {
      foreach (['shop', 'cart', 'checkout', 'myaccount'] as $name) {
        if (wc_get_page_id($name) <= 0) {
          $post = ['post_type' => 'page', 'post_status' => 'publish', 'post_title' => "The $name", 'post_name' => $name];
          update_option("woocommerce_{$name}_page_id", wp_insert_post($post));
        }
      }
    }
  }
  function wc_get_page_id($name) { return (int) get_option("woocommerce_{$name}_page_id", -1); }
  function is_cart() { return is_page(wc_get_page_id('cart')); }
  function is_checkout() { return is_page(wc_get_page_id('checkout')); }
  function is_account_page() { return is_page(wc_get_page_id('myaccount')); }`

describeSites('plugins', ({ env, testOnce, isNative }) => {
  let stead: Stead
  let directory: PluginDirectoryServer
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    directory = await startPluginDirectory()
    directory.publish('speaking', '1.0', { 'speaking.php': speaking('1.0'), 'old.txt': 'of 1.0' })
    directory.publish('speaking', '1.1', {
      'speaking.php': speaking('1.1', "add_action('init', fn () => no_such_function());"),
      'new.txt': 'of 1.1',
    })
    directory.publish('speaking', '1.2', { 'speaking.php': speaking('1.2') })
    directory.publish('quiet', '3.0', { 'quiet.php': pluginFile('Quiet', '3.0') })
    directory.publish('dead', '1.0', { 'dead.php': pluginFile('Dead', '1.0', 'this is no php;') })
    const onFrontPage = (code: string) => `add_action('template_redirect', static function () { ${code} });`
    for (const [slug, code] of [
      ['members', "if (empty($_GET)) { wp_redirect(home_url('/?members')); exit; }"],
      ['blank', 'exit;'],
      ['sorry', "wp_die('Sorry', '', 500);"],
    ] as const)
      directory.publish(slug, '1.0', { [`${slug}.php`]: pluginFile(slug, '1.0', onFrontPage(code)) })
    const modern = pluginFile('Modern', '1.0').replace('Version:', 'Requires PHP: 99.0\nVersion:')
    directory.publish('modern', '1.0', { 'modern.php': modern })
    const hook = 'register_activation_hook(__FILE__, fn () => no_such_hook());'
    directory.publish('hooked', '1.0', { 'hooked.php': pluginFile('Hooked', '1.0', hook) })
    stead = await startStead({
      env: { ...env, STEAD_WORDPRESS_API: directory.base, STEAD_ALLOW_PRIVATE_FETCH: 'true' },
    })
    id = await stead.createSite({ name: 'plugged' })
  })
  afterAll(async () => {
    await stead?.remove()
    directory?.close()
  })

  const ask = (method: string, rest: string, plugins: object[]) =>
    stead.api(method, `/v1/sites/${id}/plugins${rest}`, { plugins })
  /** @returns the operation when it has ended */
  const done = async (method: string, rest: string, plugins: object[]) => {
    const { status, body, headers } = await ask(method, rest, plugins)
    expect([status, body.errors]).toEqual([200, null])
    return stead.ended(headers.get('operation-id') as string) as unknown as Promise<Operation>
  }
  const listed = async () => {
    const { status, body } = await stead.api('GET', `/v1/sites/${id}/plugins`)
    expect([status, body.errors]).toEqual([200, null])
    return body.data as { name: string; status: string; version: string }[]
  }
  const states = async () => {
    const found = (await listed()).filter(({ name }) => ['speaking', 'quiet', 'dead'].includes(name))
    return Object.fromEntries(found.map(({ name, status, version }) => [name, `${status} ${version}`]))
  }
  const frontPage = async () => (await stead.visit('plugged', '/', { headers: { cookie: 'a=b' } })).text

  const option = async (name: string) => {
    const sql = 'select option_value from wp_options where option_name = ?'
    return (await siteRows(stead, 'plugged', sql, [name]))[0]?.option_value
  }

  test('lists plugins with the headers of their files, drop-ins included', async () => {
    const found = await listed()
    // the drop-in that gives WordPress SQLite
    expect(found.find(({ name }) => name === 'db.php')?.status).toBe(isNative ? undefined : 'dropin')
    expect(found.every(({ status }) => ['active', 'inactive', 'must-use', 'dropin'].includes(status))).toBe(true)
  })

  testOnce('rejects invalid plugins one by one before anything starts', async () => {
    const { status, body, headers } = await ask('POST', '', [
      { path: 'speaking' },
      { path: 'nobody-has-this' },
      { path: 'quiet', version: '9.9' },
      { path: 'http//x' },
    ])
    expect([status, headers.get('operation-id')]).toEqual([400, null])
    expect(body.errors).toEqual([
      expect.stringContaining('nobody-has-this: the plugin directory does not list this plugin'),
      expect.stringContaining('quiet: version 9.9 does not exist, the latest is 3.0'),
      expect.stringContaining('http//x: not a slug'),
    ])
  })

  test('installs and activates the requested release', async () => {
    const operation = await done('POST', '', [{ path: 'speaking', version: '1.0' }, { path: 'quiet' }])
    expect(operation).toMatchObject({ state: 'succeeded' })
    expect(operation.results.map(({ subject, outcome }) => [subject, outcome])).toEqual([
      ['quiet', 'installed'],
      ['speaking', 'installed'],
    ])
    expect(await states()).toEqual({ speaking: 'active 1.0', quiet: 'active 3.0' })
    expect(await frontPage()).toContain('speaking 1.0')
  })

  test('rolls back an update that breaks the site, with PHP’s own message', async () => {
    const operation = await done('PUT', '', [{ path: 'speaking', version: '1.1' }, { path: 'quiet' }])
    expect(operation.state).toBe('failed')
    expect(operation.error).toContain('no_such_function')
    expect(operation.results).toEqual([
      expect.objectContaining({ subject: 'quiet', outcome: 'unchanged' }),
      expect.objectContaining({ subject: 'speaking', outcome: 'failed' }),
    ])
    expect(await states()).toEqual({ speaking: 'active 1.0', quiet: 'active 3.0' })
    expect(await frontPage()).toContain('speaking 1.0')
    const directory = join(stead.directoryOf('plugged'), 'web/wp-content')
    expect(await readFile(join(directory, 'plugins/speaking/old.txt'), 'utf8')).toBe('of 1.0')
    expect(existsSync(join(directory, 'plugins/speaking/new.txt'))).toBe(false)
    expect(existsSync(join(directory, 'upgrade')) ? await readdir(join(directory, 'upgrade')) : []).toEqual([])
    // it is over: WordPress mails no link to its recovery mode
    expect(existsSync(join(stead.dataDir, 'outbox')) ? await readdir(join(stead.dataDir, 'outbox')) : []).toEqual([])
  })

  test('updates with WordPress’ own upgrader, and removes files that the update lacks', async () => {
    expect(await done('PUT', '', [{ path: 'speaking' }])).toMatchObject({ state: 'succeeded' })
    expect(await states()).toMatchObject({ speaking: 'active 1.2' })
    expect(await frontPage()).toContain('speaking 1.2')
    // plugins get the dashboard's hooks; an update is not an activation
    expect([await option('speaking_seen'), await option('speaking_activated')]).toEqual(['update plugin', '1'])
    expect(existsSync(join(stead.directoryOf('plugged'), 'web/wp-content/plugins/speaking/old.txt'))).toBe(false)
  })

  testOnce('deactivates and activates plugins', async () => {
    expect(await done('PUT', '/deactivate', [{ path: 'speaking' }])).toMatchObject({ state: 'succeeded' })
    expect(await states()).toMatchObject({ speaking: 'inactive 1.2' })
    expect(await frontPage()).not.toContain('speaking')
    expect(await done('PUT', '/activate', [{ path: 'speaking' }])).toMatchObject({ state: 'succeeded' })
    expect(await frontPage()).toContain('speaking 1.2')
  })

  testOnce('does not install a plugin that does not load', async () => {
    const operation = await done('POST', '', [{ path: 'dead' }])
    expect(operation).toMatchObject({ state: 'failed', error: expect.stringContaining('syntax error') })
    expect(await states()).toEqual({ speaking: 'active 1.2', quiet: 'active 3.0' })
    expect(await frontPage()).toContain('speaking 1.2')
  })

  testOnce.each([
    ['blank', 'it breaks the site: its homepage is empty'],
    ['sorry', 'it breaks the site: its homepage responds with status 500'],
    ['hooked', 'WordPress says: Call to undefined function no_such_hook() (hooked.php:7)'],
    [
      'modern',
      /could not be installed\. The PHP version on your server is .*, however the uploaded plugin requires 99\.0\.$/,
    ],
  ])('does not install %s, and says why', async (slug, why) => {
    const { state, error } = await done('POST', '', [{ path: slug }])
    expect(state).toBe('failed')
    if (typeof why === 'string') expect(error).toBe(`${slug}: ${why}`)
    else expect(error).toMatch(why)
    expect((await listed()).map(({ name }) => name)).not.toContain(slug)
  })

  testOnce('accepts a plugin that redirects visitors of the front page', async () => {
    expect(await done('POST', '', [{ path: 'members' }])).toMatchObject({ state: 'succeeded' })
    expect((await stead.visit('plugged', '/', { headers: { cookie: 'a=b' } })).status).toBe(302)
    expect(await done('DELETE', '', [{ path: 'members' }])).toMatchObject({ state: 'succeeded' })
  })

  testOnce('installs from the address of a zip, and names the plugin and its source', async () => {
    const url = directory.publish('tool', '0.3', { 'tool.php': pluginFile('Tool', '0.3') })
    const { results } = await done('POST', '', [{ path: url }])
    expect(results).toMatchObject([{ subject: url, message: `Installed tool 0.3 from ${url}` }])
    const nowhere = `${directory.base}/none.zip`
    const { error } = await done('POST', '', [{ path: nowhere }])
    expect(error).toBe(`${nowhere}: the server responded with status 404`)
    expect(await done('DELETE', '', [{ path: 'tool' }])).toMatchObject({ state: 'succeeded' })
  })

  test('leaves no line of Stead’s own work in the site’s PHP log', async () => {
    const { body } = await stead.api('GET', `/v1/sites/${id}/logs/php`)
    const messages = body.data.logs.map(({ message }: { message: string }) => message)
    // written by its plugins
    expect(messages.filter((each: string) => !/no_such|no_php|syntax error/.test(each))).toEqual([])
  })

  test('lists the plugins of a site that one of them broke, and deactivating it repairs the site', async () => {
    const file = join(stead.directoryOf('plugged'), 'web/wp-content/plugins/quiet/quiet.php')
    await writeFile(file, pluginFile('Quiet', '3.0', 'no_such_function();'))
    expect(await states()).toMatchObject({ quiet: 'active 3.0' })
    expect(await done('PUT', '/deactivate', [{ path: 'quiet' }])).toMatchObject({ state: 'succeeded' })
    expect(await frontPage()).toContain('speaking 1.2')
  })

  testOnce('makes a site a shop whose cart, checkout, and account are never cached', async () => {
    directory.publish('woocommerce', '9.0', { 'woocommerce.php': pluginFile('WooCommerce', '9.0', shop) })
    const shopId = await stead.createSite({ name: 'a-shop', install: 'woocommerce' })
    const { body } = await stead.api('GET', `/v1/sites/${shopId}/plugins`)
    expect(body.data).toContainEqual(expect.objectContaining({ name: 'woocommerce', status: 'active', version: '9.0' }))
    expect((await stead.api('GET', `/v1/sites/${shopId}`)).body.data.ecommerce).toBe(true)
    const sql = "select post_name as name, ID as id from wp_posts where post_type = 'page' and post_title like 'The %'"
    const pages = (await siteRows(stead, 'a-shop', sql)) as { name: string; id: number }[]
    expect(pages.map(({ name }) => name).sort()).toEqual(['cart', 'checkout', 'myaccount', 'shop'])
    const renderers: Record<string, unknown> = {}
    for (const { name, id: page } of pages) {
      const look = () => stead.visit('a-shop', `/?page_id=${page}`)
      const first = await look()
      const path = first.headers.location ? new URL(first.headers.location).pathname : `/?page_id=${page}`
      for (let times = 0; times < 2; times++) await stead.visit('a-shop', path)
      const last = await stead.visit('a-shop', path)
      expect(last.text).toContain(`The ${name}`)
      renderers[name] = /hit/.test(String(last.headers['cache-status']))
    }
    expect(renderers).toEqual({ shop: true, cart: false, checkout: false, myaccount: false })
  })

  test('deletes plugins, and can restore what was there before', async () => {
    const operation = await done('DELETE', '', [{ path: 'speaking' }])
    expect(operation).toMatchObject({ state: 'succeeded' })
    expect(await states()).toEqual({ quiet: 'inactive 3.0' })
    const undo = await stead.api('POST', `/v1/operations/${operation.id}/undo`)
    expect([undo.status, undo.body.errors]).toEqual([200, null])
    expect(await stead.ended(undo.body.data.id)).toMatchObject({ state: 'succeeded' })
    expect(await states()).toEqual({ speaking: 'active 1.2', quiet: 'inactive 3.0' })
  })
})
