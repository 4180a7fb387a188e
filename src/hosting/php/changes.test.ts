/** What a site reports as changed (`tasks/changes.php`), so that edges purge it. */
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testAddress,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../test/support/ways.ts'
import type { PhpProcess, PhpRuntime } from './runtime.ts'

const core = await testCore()

/** Registers types as plugins do, and creates content of each. The option of the IDs has a name that reports nothing. */
const beginning = `
  if (isset($_GET['admin'])) define('WP_ADMIN', true);
  if (isset($_GET['ajax'])) define('DOING_AJAX', true);
  require 'wp-load.php';
  require_once ABSPATH . 'wp-admin/includes/admin.php';
  register_post_type('own_form', ['public' => false]);
  register_post_type('flamingo_inbound', ['public' => false]);
  register_post_type('own_product', ['public' => true]);
  global $wpdb;
  $insert = static fn ($type, $more = []) =>
    wp_insert_post($more + ['post_type' => $type, 'post_title' => "a $type", 'post_name' => str_replace('_', '-', "a-$type"), 'post_content' => 'old', 'post_status' => 'publish']);
  $update = static fn ($id) => wp_update_post(['ID' => $id, 'post_content' => 'new']);
  $made = get_option('made_count', []);
  wp_set_current_user((int) ($_GET['user'] ?? 0) ?: (isset($_GET['subscriber']) ? $made['subscriber'] : 0));`

const parts = [
  'nav_menu_item',
  'wp_template',
  'wp_template_part',
  'wp_global_styles',
  'wp_navigation',
  'wp_block',
  'custom_css',
  'wp_font_family',
  'wp_font_face',
]

const creation = `
  foreach (['${['post', 'own_form', 'own_product', 'flamingo_inbound', ...parts].join("', '")}'] as $type) $made[$type] = $insert($type);
  $made['draft'] = $insert('own_form', ['post_status' => 'draft']);
  $made['menu'] = wp_create_nav_menu('Own');
  $file = wp_upload_bits('cat.png', null, 'one');
  foreach (['media', 'media2'] as $name) $made[$name] = wp_insert_attachment(['post_mime_type' => 'image/png', 'post_title' => 'cat'], $file['file']);
  foreach (['media', 'media2'] as $name) wp_update_attachment_metadata($made[$name], ['width' => 1, 'sizes' => []]);
  $made['uploads'] = dirname(wp_parse_url($file['url'], PHP_URL_PATH));
  $made['subscriber'] = wp_insert_user(['user_login' => 'sub', 'user_pass' => 'x', 'user_email' => 'sub@example.com', 'role' => 'subscriber']);
  foreach (['own_tables', 'own_logs', 'own_sessions', 'own_stats', 'own_queue'] as $name)
    $wpdb->query("CREATE TABLE {$wpdb->prefix}$name (id int auto_increment primary key, text varchar(100))");
  update_option('own_setting', 'old');
  update_option('made_count', $made);
  echo json_encode($made);`

const ALL = ['all']
/** Everything, without anybody waiting for it. */
const SOFT = ['soft']
const NOTHING: readonly string[] = []

interface Case {
  readonly what: string
  readonly code: string
  /** In any order. With `...`, others may be among them. */
  readonly reported: readonly string[]
}

/** Changes that are visible for certain, so that anyone who makes them waits for the purge. Nobody is logged in. */
const known: readonly Case[] = [
  ...parts.map((type) => ({ what: `content of the type ${type}`, code: `$update($made['${type}']);`, reported: ALL })),
  {
    what: 'a new menu item',
    code: `wp_update_nav_menu_item($made['menu'], 0, ['menu-item-title' => 'x', 'menu-item-url' => '/x/', 'menu-item-status' => 'publish']);`,
    reported: ALL,
  },
  { what: 'a menu that a plugin saves', code: `do_action('wp_update_nav_menu', $made['menu']);`, reported: ALL },
  { what: 'a deleted menu', code: `wp_delete_nav_menu(wp_create_nav_menu('Gone'));`, reported: ALL },
  { what: 'the place of a menu', code: `set_theme_mod('nav_menu_locations', ['x' => $made['menu']]);`, reported: ALL },
  {
    what: 'a widget',
    code: `update_option('widget_text', [2 => ['title' => 'x'], '_multiwidget' => 1]);`,
    reported: ALL,
  },
  {
    what: 'the order of widgets',
    code: `update_option('sidebars_widgets', ['x' => ['text-2'], 'array_version' => 3]);`,
    reported: ALL,
  },
  { what: 'the saved customizer', code: `do_action('customize_save_after', null);`, reported: ALL },
  { what: 'a setting of the theme', code: `set_theme_mod('own_note', 'new');`, reported: ALL },
  { what: 'the title of the site', code: `update_option('blogname', 'Another');`, reported: ALL },
  { what: 'the name of a category', code: `wp_update_term(1, 'category', ['name' => 'Renamed']);`, reported: ALL },
  { what: 'the name of an author', code: `wp_update_user(['ID' => 1, 'display_name' => 'Another']);`, reported: ALL },
  {
    what: 'an activated plugin',
    code: `do_action('activated_plugin', 'x.php', false);`,
    reported: ['all', 'files', 'extensions'],
  },
  ...[
    `activated_plugin', 'woocommerce/w.php', false`,
    `deactivated_plugin', 'woocommerce/w.php', false`,
    `deleted_plugin', 'woocommerce/w.php', true`,
  ].map((hook) => ({
    what: `that WooCommerce changed: ${hook.split("'", 1)[0]}`,
    code: `do_action('${hook});`,
    reported: ['all', 'files', 'shop', 'extensions'],
  })),
  {
    what: 'a plugin that is only named similarly',
    code: `do_action('activated_plugin', 'woocommerce-forms/w.php', false);`,
    reported: ['all', 'files', 'extensions'],
  },
  {
    what: 'another theme',
    code: `do_action('switch_theme', 'x', wp_get_theme(), wp_get_theme());`,
    reported: ['all', 'files', 'extensions'],
  },
  {
    what: 'a replaced picture',
    code: `wp_update_attachment_metadata($made['media'], ['width' => 2, 'sizes' => []]);`,
    reported: ['UPLOADS/cat*'],
  },
  {
    what: 'a picture that is replaced and gets another title',
    code: `wp_update_attachment_metadata($made['media'], ['width' => 3, 'sizes' => []]); wp_update_post(['ID' => $made['media'], 'post_title' => 'dog']);`,
    reported: ['all', 'UPLOADS/cat*'],
  },
  {
    what: 'the name of a picture',
    code: `update_attached_file($made['media'], dirname(get_attached_file($made['media'])) . '/dog.png');`,
    reported: ['UPLOADS/dog*'],
  },
  {
    what: 'the text for a picture',
    code: `update_post_meta($made['media'], '_wp_attachment_image_alt', 'A cat');`,
    reported: ALL,
  },
  { what: 'the title of a picture', code: `$update($made['media']);`, reported: ALL },
  {
    what: 'an update that WordPress has found',
    code: `set_site_transient('update_plugins', (object) ['last_checked' => 1, 'response' => ['x/x.php' => (object) ['new_version' => '2.0']]]);`,
    reported: ['extensions'],
  },
  {
    what: 'a check that finds the same updates',
    code: `set_site_transient('update_themes', (object) ['last_checked' => 1, 'response' => []]);`,
    reported: NOTHING,
  },
  {
    what: 'an update of a theme that WordPress has found',
    code: `set_site_transient('update_themes', (object) ['last_checked' => 2, 'response' => ['x' => ['new_version' => '2.0']]]);`,
    reported: ['extensions'],
  },
  {
    what: 'another check that finds the same updates',
    code: `set_site_transient('update_themes', (object) ['last_checked' => 3, 'response' => ['x' => ['new_version' => '2.0']]]);`,
    reported: NOTHING,
  },
  {
    what: 'automatic updates that are turned on',
    code: `update_site_option('auto_update_plugins', ['x/x.php']);`,
    reported: ['extensions'],
  },
  { what: 'a deleted theme', code: `do_action('deleted_theme', 'x', true);`, reported: ['extensions'] },
  { what: 'a deleted picture', code: `wp_delete_attachment($made['media2'], true);`, reported: ['files'] },
  { what: 'the text of a post', code: `$update($made['post']);`, reported: ['/', '/a-post/', '/a-post/*', '...'] },
  {
    what: 'the picture of a post',
    code: `set_post_thumbnail($made['post'], $made['media']);`,
    reported: ['/a-post/', '...'],
  },
  ...['woocommerce_updated_product_stock', 'woocommerce_product_set_stock_status'].map((hook) => ({
    what: `the stock of a product (${hook})`,
    code: `do_action('${hook}', $made['own_product'], 'outofstock');`,
    reported: ['/own_product/a-own-product/', '...'],
  })),
  { what: 'the purge of everything that a plugin requests', code: `do_action('stead_purge');`, reported: ALL },
  {
    what: 'the purge of addresses that a plugin requests',
    code: `do_action('stead_purge', ['/x/', 'http://${testAddress}/y/']);`,
    reported: ['/x/', '/y/'],
  },
  {
    what: 'the purge of a file and of everything that a plugin requests',
    code: `do_action('stead_purge', '/wp-content/x.css'); do_action('stead_purge');`,
    reported: ['all', '/wp-content/x.css'],
  },
  {
    what: 'the purge of a post that a plugin requests',
    code: `do_action('stead_purge', $made['post']);`,
    reported: ['/a-post/', '...'],
  },
]

/** Hooks and functions that plugins call for other caches. */
const ofCachePlugins: readonly Case[] = [
  ...[
    'litespeed_purge_all',
    'cache_enabler_clear_complete_cache',
    'cache_enabler_clear_site_cache',
    'cachify_flush_cache',
    'breeze_clear_all_cache',
    'wphb_clear_page_cache',
    'rt_nginx_helper_purge_all',
    'autoptimize_action_cachepurged',
  ].map((hook) => ({ what: hook, code: `do_action('${hook}');`, reported: ALL })),
  ...['litespeed_purge_post', 'cache_enabler_clear_page_cache_by_post'].map((hook) => ({
    what: hook,
    code: `do_action('${hook}', $made['post']);`,
    reported: ['/a-post/', '...'],
  })),
  ...[
    'wp_cache_clear_cache',
    'wp_cache_clean_cache',
    'w3tc_flush_all',
    'w3tc_flush_posts',
    'w3tc_pgcache_flush',
    'rocket_clean_domain',
    'rocket_clean_files',
    'rocket_clean_home',
    'wpfc_clear_all_cache',
    'sg_cachepress_purge_cache',
    'sg_cachepress_purge_everything',
    'wpo_cache_flush',
    'cachify_flush_cache',
  ].map((name) => ({ what: `${name}()`, code: `${name}();`, reported: ALL })),
  ...[
    'wpsc_delete_post_cache',
    'wp_cache_post_change',
    'w3tc_flush_post',
    'w3tc_pgcache_flush_post',
    'rocket_clean_post',
    'wpfc_clear_post_cache_by_id',
  ].map((name) => ({ what: `${name}()`, code: `${name}($made['post']);`, reported: ['/a-post/', '...'] })),
]

/** Changes by an editor that no rule covers, or that other pages may show, too. */
const byEditors: readonly Case[] = [
  {
    what: 'the price of a product',
    code: `update_post_meta($made['own_product'], '_price', 'new');`,
    reported: ['/own_product/a-own-product/', 'soft', '...'],
  },
  { what: 'a form', code: `$update($made['own_form']);`, reported: SOFT },
  { what: 'a new form', code: `$insert('own_form');`, reported: SOFT },
  { what: 'a field of a form', code: `update_post_meta($made['own_form'], 'fields', 'new');`, reported: SOFT },
  { what: 'a table of a plugin', code: `$wpdb->insert("{$wpdb->prefix}own_tables", ['text' => 'x']);`, reported: SOFT },
  { what: 'an emptied table', code: `$wpdb->query("TRUNCATE TABLE {$wpdb->prefix}own_tables");`, reported: SOFT },
  { what: 'an option of a plugin', code: `update_option('own_setting', 'by an editor');`, reported: SOFT },
  {
    what: 'content that a plugin writes itself',
    code: `$wpdb->query("UPDATE {$wpdb->posts} SET post_content = 'direct' WHERE ID = {$made['post']}");`,
    reported: SOFT,
  },
  { what: 'the draft of a form', code: `$update($made['draft']);`, reported: NOTHING },
  { what: 'what a form received', code: `$update($made['flamingo_inbound']);`, reported: NOTHING },
  {
    what: 'a note about editing',
    code: `update_post_meta($made['own_form'], '_edit_lock', '1:1');`,
    reported: NOTHING,
  },
  ...['own_logs', 'own_sessions', 'own_stats', 'own_queue'].map((table) => ({
    what: `the table ${table}`,
    code: `$wpdb->insert("{$wpdb->prefix}${table}", ['text' => 'x']);`,
    reported: NOTHING,
  })),
  { what: 'an option that counts', code: `update_option('own_last_seen', 'x');`, reported: NOTHING },
  { what: 'a transient', code: `set_transient('own', 'x');`, reported: NOTHING },
  {
    what: 'transients that a plugin deletes itself',
    code: `$wpdb->query("DELETE FROM {$wpdb->options} WHERE option_name LIKE '\\\\_transient\\\\_own%'");`,
    reported: NOTHING,
  },
  { what: 'data of a user', code: `update_user_meta(1, 'own', 'x');`, reported: NOTHING },
  { what: 'a planned event', code: `wp_schedule_single_event(time() + 60, 'own');`, reported: NOTHING },
]

describe.skipIf(!core).each(hereRuntimes)('changes of a site, $runtime', ({ runtime: kind, phpVersion }) => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let process: PhpProcess
  let uploads: string
  let said: string[] = []

  beforeAll(async () => {
    runtime = await testRuntime({ runtime: kind })
    directory = await testDirectory(core as string, { phpVersion })
    process = await runtime.start(directory)
    await install(process)
    process.onNote = (text) => said.push(text)
    const created = await fetchPage(
      process,
      testRequest('/x.php', await directory.script('x.php', beginning + creation)),
    )
    uploads = JSON.parse(created.text).uploads
  })
  afterAll(async () => {
    await process?.stop(0)
    await runtime?.close()
    await directory?.remove()
  })

  /** Runs code in a request. @returns what the site reported as changed */
  async function reportsOf(
    code: string,
    {
      query = '',
      method = 'GET',
      cookie = '',
      body = '',
    }: Partial<Record<'query' | 'method' | 'cookie' | 'body', string>> = {},
  ): Promise<string[]> {
    // One file for each: the compiled one is compared by its time in seconds.
    const name = `run-${++count}.php`
    const script = await directory.script(name, `${beginning}\n${code}`)
    said = []
    const { status, text } = await fetchPage(
      process,
      testRequest(`/${name}?${query}`, script, {
        method,
        headers: [
          ...['Host', testAddress, 'Content-Type', 'application/x-www-form-urlencoded'],
          ...(cookie ? ['Cookie', cookie] : []),
        ],
        ...(body && { body: Readable.from([Buffer.from(body)]), bodyBytes: body.length }),
      }),
    )
    expect([status, text]).toEqual([200, ''])
    return said.flatMap((note) => {
      const { changed } = JSON.parse(note) as {
        changed?: { shop?: boolean; extensions?: boolean; filePaths?: string[] } & {
          all?: boolean
          soft?: boolean
          files?: boolean
          paths?: string[]
        }
      }
      if (changed?.soft) return ['soft']
      const flags = (['all', 'files', 'shop', 'extensions'] as const).filter((flag) => changed?.[flag])
      return [...flags, ...(changed?.paths ?? []), ...(changed?.filePaths ?? [])]
    })
  }
  let count = 0

  function expectReports(reports: readonly string[], wanted: readonly string[]): void {
    const named = wanted.filter((each) => each !== '...').map((each) => each.replace('UPLOADS', uploads))
    if (named.length < wanted.length) {
      expect(reports).toEqual(expect.arrayContaining(named))
      expect(reports).not.toContain('all')
    } else expect(reports.toSorted()).toEqual(named.toSorted())
  }

  it.each([...known, ...ofCachePlugins])('reports $what', async ({ code, reported }) => {
    expectReports(await reportsOf(code), reported)
  })

  const editor = { query: 'user=1', method: 'POST', cookie: 'wordpress_logged_in_x=y' }

  it.each(byEditors)('reports what an editor changed: $what', async ({ code, reported }) => {
    expectReports(await reportsOf(code, editor), reported)
  })

  it('reports nothing that others than editors write, and nothing that no person requested', async () => {
    const table = `$wpdb->insert("{$wpdb->prefix}own_tables", ['text' => 'x']);`
    expect(await reportsOf(table, { ...editor, query: 'subscriber=1' })).toEqual([])
    expect(await reportsOf(table, { method: 'POST' })).toEqual([])
    expect(await reportsOf(table, { ...editor, method: 'GET' })).toEqual([])
    expect(await reportsOf(table, { ...editor, body: 'action=heartbeat' })).toEqual([])
    expect(await reportsOf(`wp_update_user(['ID' => $made['subscriber'], 'display_name' => 'x']);`)).toEqual([])
    expect(await reportsOf(`update_post_meta($made['own_product'], '_views', 7);`)).toEqual([])
    expect(await reportsOf(`add_option('widget_own', ['_multiwidget' => 1]);`)).toEqual([])
    // A link of the dashboard that changes something.
    expect(await reportsOf(table, { ...editor, method: 'GET', query: 'user=1&_wpnonce=x' })).toEqual(['soft'])
  })

  it('reports options at once that a page of the dashboard saves, and others later', async () => {
    const save = `update_option('own_setting', uniqid());`
    expect(await reportsOf(save, { ...editor, query: 'user=1&admin=1' })).toEqual(['all'])
    expect(await reportsOf(save, { ...editor, query: 'user=1&admin=1&ajax=1' })).toEqual(['soft'])
    expect(await reportsOf(save)).toEqual([])
  })
})
