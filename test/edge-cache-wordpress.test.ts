/**
 * A real WordPress behind the host and the caching edge: changes by an editor are visible at once, and pages of one
 * visitor never reach another.
 */
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPageCache } from '../src/edge/cache/page-cache.ts'
import { createPurgeFeed, type PurgeFeed } from '../src/edge/cache/purge/purge-feed.ts'
import { type PurgeLog, purgeLog } from '../src/edge/cache/test-support.ts'
import { defaultLimits } from '../src/edge/edge-limits.ts'
import { createGateway, type Gateway } from '../src/edge/gateway/gateway.ts'
import { createUpstreams } from '../src/edge/proxy/upstreams.ts'
import type { Route } from '../src/edge/routing/route.ts'
import { edgeRules } from '../src/edge/rules/index.ts'
import { ask, type Reply } from '../src/edge/test-support.ts'
import { PhpPool } from '../src/hosting/php/pool/pool.ts'
import type { PhpRuntime } from '../src/hosting/php/runtime.ts'
import { createSiteChanges, type OutdatedContent, type SiteChanges } from '../src/hosting/site-changes/site-changes.ts'
import type { HostedSite } from '../src/hosting/web-server/hosted-site.ts'
import { ServedFiles } from '../src/hosting/web-server/served-files.ts'
import { createWebServer } from '../src/hosting/web-server/web-server.ts'
import { testCore } from './support/core.ts'
import {
  install,
  type TestDirectory,
  testAddress,
  testBodies,
  testDirectory,
  testHeld,
  testRuntime,
} from './support/site-directory.ts'
import { hereRuntimes } from './support/ways.ts'

const core = await testCore()
const KEY = 'the-key-of-this-host'
const log = { debug() {}, warn() {}, error() {} }
const MB = 1 << 20
/** More than the tests order in a minute. Beyond it, changes are no longer visible at once. */
const MOST_PER_MINUTE = 300

describe.skipIf(!core).each(hereRuntimes)('WordPress behind the cache, $runtime', ({ runtime: kind, phpVersion }) => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let pool: PhpPool
  let host: Server
  let gateway: Gateway
  let feed: PurgeFeed
  let changes: SiteChanges
  let purges: PurgeLog
  let site: HostedSite
  let port: number
  let admin: { cookie: string; 'x-wp-nonce': string }
  /** Purges of the site since the last call. */
  let said: Omit<OutdatedContent, 'shop' | 'extensions'>[] = []

  beforeAll(async () => {
    runtime = await testRuntime({ runtime: kind })
    directory = await testDirectory(core as string, { phpVersion })
    const process = await runtime.start(directory)
    await install(process)
    purges = purgeLog()
    changes = createSiteChanges({
      log,
      pauseMs: 20,
      mostPerMinute: MOST_PER_MINUTE,
      async record(_siteId, change) {
        said.push({ pages: change.pages, files: change.files })
        return purges.commit(change)
      },
    })
    const served = new ServedFiles({
      pauseMs: { write: 20, read: 1000 },
      onChanged: (siteId, paths) =>
        changes.take(siteId, JSON.stringify({ changed: paths === 'all' ? { files: true } : { filePaths: paths } })),
    })
    // biome-ignore format: one record
    pool = new PhpPool(runtime, { requestMs: 60_000, taskMs: 60_000, memoryBytes: 2048 * MB, bodies: testBodies(), queueLength: 100, idleMs: 600_000, processMemoryBytes: 1024 * MB, onNote: (siteId, text) => changes.take(siteId, text), onWorked: (siteId, kind) => served.mayHaveChanged(siteId, kind) })
    const { siteDirectory, corePath, uid, address } = directory
    site = { siteId: 7, siteDirectory, corePath, phpVersion, uid, address, state: 'live' }
    await pool.adopt(site, process)
    // biome-ignore format: one record
    host = createWebServer({ siteById: async () => site, php: pool, ...testHeld(tmpdir()), servedFiles: served, hostKey: KEY, httpsPort: 443, log, mostBodyBytes: 128 * MB, changesSettled: (siteId) => changes.settled(siteId) })
    const upstream = `http://127.0.0.1:${await listen(host)}`
    // biome-ignore format: one record
    const route: Route = { hostName: 'my.localhost', siteId: 7, state: 'live', hostId: 1, upstream, redirectsTo: null, isInMaintenance: false, hasEdgeCache: true, cacheEpoch: 1, hasCdn: true, cdnEpoch: 1 }
    feed = createPurgeFeed({ since: (seq) => purges.since(seq), onChange: (callback) => purges.onChange(callback) })
    await feed.refresh()
    const upstreams = createUpstreams(defaultLimits.upstream)
    const cache = createPageCache({ upstreams, hostKey: KEY, purges: feed, memoryBytes: 32 * MB })
    // biome-ignore format: one record
    gateway = createGateway({ routes: { find: (name) => (name === 'my.localhost' ? route : undefined) }, log, hostKey: KEY, upstreams, rules: edgeRules({ cache: cache.rule }), reachPurge: (seq) => feed.reach(seq) })
    port = await listen(gateway.server)
    // The first page of a site stores settings of its theme.
    await get('/')
    await changes.settled(7)
    admin = await logIn()
  })

  afterAll(async () => {
    gateway?.server.closeAllConnections()
    await gateway?.close()
    feed?.close()
    host?.closeAllConnections()
    host?.close()
    await pool?.stopAll(0)
    await runtime?.close()
    await directory?.remove()
  })

  async function listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  const get = (path: string, headers: Record<string, string> = {}) => ask(port, path, { host: testAddress, headers })

  async function logIn() {
    const body = new URLSearchParams({ log: 'admin', pwd: 'correct horse battery', testcookie: '1' }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie: 'wordpress_test_cookie=x' }
    const login = await ask(port, '/wp-login.php', { host: testAddress, method: 'POST', body, headers })
    const cookie = (login.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    const nonce = await get('/wp-admin/admin-ajax.php?action=rest-nonce', { cookie })
    return { cookie, 'x-wp-nonce': nonce.body }
  }

  /** Does what the editor does. */
  async function rest(method: string, path: string, body: object = {}): Promise<{ id: number; link: string }> {
    said = []
    const headers = { ...admin, 'content-type': 'application/json' }
    const sent = method === 'DELETE' ? {} : { body: JSON.stringify(body) }
    const reply = await ask(port, `/wp-json${path}`, { host: testAddress, method, headers, ...sent })
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.body}`)
    expect(reply.raw.join('\n')).not.toMatch(/x-stead/i)
    return JSON.parse(reply.body)
  }

  const isHit = (reply: Reply) => /; hit;/.test(String(reply.headers['cache-status']))
  const pathOf = (link: string) => new URL(link).pathname

  /** Fetches a page until it comes from the cache. */
  async function cached(path: string): Promise<string> {
    await get(path)
    const reply = await get(path)
    expect([path, reply.status, reply.headers['cache-status']]).toEqual([path, 200, expect.stringContaining('; hit;')])
    return reply.body
  }

  test('serves front page, feeds and files from the cache, but never REST and login', async () => {
    for (const path of ['/', '/hello-world/', '/feed/', '/wp-includes/css/dist/block-library/style.min.css?ver=1'])
      await cached(path)
    for (const path of ['/wp-login.php', '/wp-admin/', '/no-such-page/', '/?preview=true&p=1']) {
      await get(path)
      expect([path, isHit(await get(path))]).toEqual([path, false])
    }
  })

  test('shows the admin bar only to logged-in users', async () => {
    await cached('/')
    expect((await get('/', admin)).body).toContain('id="wpadminbar"')
    expect(await cached('/')).not.toContain('wpadminbar')
  })

  test('shows a change at every spelling of an address that WordPress answers', async () => {
    const { id } = await rest('POST', '/wp/v2/posts', {
      title: 'Spelled',
      slug: 'spelled-post',
      content: 'the old text',
      status: 'publish',
    })
    const spellings = [
      '/spelled-post/',
      '/SPELLED-POST/',
      '/rss',
      '/rss2/',
      '/rdf/',
      '/atom/',
      '/index.php?feed=rss2',
      '/author/ADMIN/',
      '/category/uncategorized,none/feed/',
      '/search/spelled/feed/rss2/',
      `/${new Date().getUTCFullYear()}/feed/`,
    ]
    const seen = async () => {
      const texts: [string, string[]][] = []
      for (const path of spellings) texts.push([path, (await get(path)).body.match(/the (?:old|new) text/g) ?? []])
      return texts
    }
    await seen()
    for (const path of spellings) expect([path, isHit(await get(path))]).toEqual([path, true])
    await cached('/hello-world/')
    await rest('PUT', `/wp/v2/posts/${id}`, { content: 'the new text' })
    // Other posts are not purged.
    expect(isHit(await get('/hello-world/'))).toBe(true)
    expect((await seen()).filter(([, texts]) => texts.includes('the old text') || texts.length === 0)).toEqual([])
    await rest('PUT', `/wp/v2/posts/${id}`, { password: 'secret' })
    expect((await seen()).filter(([, texts]) => texts.length > 0)).toEqual([])
    await rest('DELETE', `/wp/v2/posts/${id}?force=true`)
  })

  test('shows a published post on the front page and in the feed with the next request', async () => {
    for (const round of ['First', 'Second', 'Third']) {
      await cached('/')
      await cached('/feed/')
      await rest('POST', '/wp/v2/posts', { title: `${round} news`, content: 'x', status: 'publish' })
      expect((await get('/')).body.includes(`${round} news`)).toBe(true)
      expect((await get('/feed/')).body).toContain(`${round} news`)
    }
  })

  test('shows a changed text on its page at once, and keeps other pages in the cache', async () => {
    const post = await rest('POST', '/wp/v2/posts', { title: 'Report', content: 'before', status: 'publish' })
    const path = pathOf(post.link)
    expect(await cached(path)).toContain('before')
    await cached('/hello-world/')
    await rest('POST', `/wp/v2/posts/${post.id}`, { content: 'after' })
    expect((await get(path)).body).toContain('after')
    expect(isHit(await get('/hello-world/'))).toBe(true)
    expect(said.at(-1)?.pages).toEqual(expect.arrayContaining([path, `${path}*`, '/', '/feed*', '/wp-sitemap*']))
  })

  test('purges nothing for a draft, an autosave or a view', async () => {
    await rest('POST', '/wp/v2/posts', { title: 'Draft', content: 'x' })
    expect(said).toEqual([])
    await get('/hello-world/?nothing=1')
    await get('/wp-admin/', admin)
    expect(said).toEqual([])
  })

  test('shows a deleted post, a new site title, a comment, a widget, and a theme at once', async () => {
    const post = await rest('POST', '/wp/v2/posts', { title: 'Mistake', content: 'x', status: 'publish' })
    expect(await cached('/')).toContain('Mistake')
    await rest('DELETE', `/wp/v2/posts/${post.id}`)
    expect((await get('/')).body).not.toContain('Mistake')
    expect((await get(pathOf(post.link))).status).toBe(404)
    await cached('/')
    await rest('POST', '/wp/v2/settings', { title: 'Another name' })
    expect((await get('/')).body).toContain('Another name')
    await cached('/hello-world/')
    await rest('POST', '/wp/v2/comments', { post: 1, content: 'I was here' })
    expect((await get('/hello-world/')).body).toContain('I was here')
    await rest('POST', '/wp/v2/categories/1', { name: 'Renamed' })
    expect(said).toEqual([{ pages: 'all', files: [] }])
  })

  test('purges for work without a visitor too (scheduled posts)', async () => {
    await cached('/')
    await directory.script(
      'schedule.php',
      `require 'wp-load.php'; $id = wp_insert_post(['post_title' => 'Timed', 'post_status' => 'future', 'post_date' => gmdate('Y-m-d H:i:s', time() + 3600)]);
       global $wpdb; $wpdb->update($wpdb->posts, ['post_date' => '2024-05-05 00:00:00', 'post_date_gmt' => '2024-05-05 00:00:00'], ['ID' => $id]); clean_post_cache($id);
       wp_clear_scheduled_hook('publish_future_post', [$id]); wp_schedule_single_event(time() - 1, 'publish_future_post', [$id]);`,
    )
    await get('/schedule.php')
    said = []
    await pool.runTask(site, 'cron', {})
    expect(await changes.settled(7)).not.toBe(0)
    expect(said.length).toBe(1)
    await feed.refresh()
    expect((await get('/2024/05/')).body).toContain('Timed')
  })

  test('obeys DONOTCACHEPAGE, and accepts no other instructions of a site', async () => {
    await directory.script('own.php', `define('DONOTCACHEPAGE', true); echo microtime(true);`)
    await directory.script('lie.php', `header('X-Stead-Purge: 99'); header('X-Stead-Renderer: static'); echo 'x';`)
    await get('/own.php')
    const own = await get('/own.php')
    expect([isHit(own), own.headers['x-stead-cache']]).toEqual([false, undefined])
    const lie = await get('/lie.php')
    expect([lie.body, lie.raw.join().match(/x-stead/i)]).toEqual(['x', null])
  })

  describe('changes without a WordPress hook', () => {
    /** Does what plugins do: admin-ajax saves forms and tables that other pages show. */
    const plugin = `<?php
add_action('init', function () {
    register_post_type('own_form', ['public' => false]);
    register_post_type('own_submission', ['public' => false]);
    register_post_type('own_product', ['public' => true]);
    add_shortcode('own', function () {
        global $wpdb;
        $form = get_posts(['post_type' => 'own_form', 'post_status' => 'any'])[0] ?? null;
        $rows = $wpdb->get_col("SELECT text FROM {$wpdb->prefix}own_tables");
        return 'shown: ' . implode(' ', [$form ? get_post_meta($form->ID, 'fields', true) : '', get_option('own_setting'), ...$rows, get_post_meta(get_posts(['post_type' => 'own_product'])[0]->ID ?? 0, '_price', true)]) . '.';
    });
});
function own_save() {
    global $wpdb;
    $value = sanitize_text_field($_POST['value'] ?? '');
    switch ($_POST['what'] ?? '') {
        case 'form':
            $form = get_posts(['post_type' => 'own_form', 'post_status' => 'any'])[0] ?? null;
            update_post_meta($form ? $form->ID : wp_insert_post(['post_type' => 'own_form', 'post_status' => 'publish', 'post_title' => 'form']), 'fields', $value);
            break;
        case 'table':
            $wpdb->query("DELETE FROM {$wpdb->prefix}own_tables");
            $wpdb->insert("{$wpdb->prefix}own_tables", ['text' => $value]);
            break;
        case 'option':
            update_option('own_setting', $value);
            break;
        case 'price':
            $product = get_posts(['post_type' => 'own_product'])[0] ?? null;
            update_post_meta($product ? $product->ID : wp_insert_post(['post_type' => 'own_product', 'post_status' => 'publish', 'post_title' => 'product']), '_price', $value);
            break;
        case 'noise':
            set_transient('own_cached', $value);
            update_option('own_last_seen', $value);
            $wpdb->insert("{$wpdb->prefix}own_logs", ['text' => $value]);
            wp_insert_post(['post_type' => 'own_submission', 'post_status' => 'publish', 'post_title' => $value]);
            break;
        case 'call':
            wp_cache_clear_cache();
            break;
        case 'order':
            do_action('stead_purge', ['/hello-world/']);
            break;
    }
    wp_send_json_success();
}
add_action('wp_ajax_own_save', 'own_save');
add_action('wp_ajax_nopriv_own_save', 'own_save');
add_action('rest_api_init', fn () => register_rest_route('own/v1', '/form', [
    'methods' => 'PUT',
    'permission_callback' => fn () => current_user_can('edit_pages'),
    'callback' => fn ($request) => update_post_meta(get_posts(['post_type' => 'own_form', 'post_status' => 'any'])[0]->ID, 'fields', $request['value']),
]));
`
    beforeAll(async () => {
      await mkdir(`${directory.siteDirectory}/web/wp-content/mu-plugins`, { recursive: true })
      await writeFile(`${directory.siteDirectory}/web/wp-content/mu-plugins/own.php`, plugin)
      await directory.script(
        'tables.php',
        `require 'wp-load.php'; global $wpdb; foreach (['own_tables', 'own_logs'] as $name) $wpdb->query("CREATE TABLE {$wpdb->prefix}$name (id int auto_increment primary key, text varchar(100))");`,
      )
      await get('/tables.php')
      await rest('POST', '/wp/v2/pages', { title: 'Own', slug: 'own', content: '[own]', status: 'publish' })
    })

    const save = async (what: string, value: string, headers: Record<string, string> = admin) => {
      said = []
      const body = new URLSearchParams({ action: 'own_save', what, value }).toString()
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      const reply = await ask(port, '/wp-admin/admin-ajax.php', {
        ...{ host: testAddress, method: 'POST', body },
        headers: { ...headers, ...type },
      })
      expect([reply.status, reply.body]).toEqual([200, '{"success":true}'])
    }

    test.each(['form', 'table', 'option', 'price'])('a visitor sees the %s that an editor saved', async (what) => {
      await cached('/own/')
      await save(what, `new-${what}`)
      await expect.poll(async () => (await get('/own/')).body, { timeout: 60_000 }).toContain(`new-${what}`)
      await save(what, `newer-${what}`)
      await expect.poll(async () => (await get('/own/')).body, { timeout: 60_000 }).toContain(`newer-${what}`)
    })

    test('a visitor sees the form that an editor saved with REST', async () => {
      await save('form', 'before')
      await expect.poll(async () => (await get('/own/')).body, { timeout: 60_000 }).toContain('before')
      await cached('/own/')
      await rest('PUT', '/own/v1/form', { value: 'by-rest' })
      await expect.poll(async () => (await get('/own/')).body, { timeout: 60_000 }).toContain('by-rest')
    })

    test('input of visitors, and data that no page shows, purge nothing', async () => {
      await save('noise', '1')
      await save('table', 'of-a-stranger', {})
      expect(said).toEqual([])
      // Pending purges would be included.
      await save('order', '')
      await expect.poll(() => said).toEqual([{ pages: ['/hello-world/'], files: [] }])
    })

    test('the functions of cache plugins and an action of Stead work', async () => {
      await cached('/own/')
      await save('call', '')
      await expect.poll(() => said).toEqual([{ pages: 'all', files: [] }])
      await cached('/hello-world/')
      await save('order', '')
      await expect.poll(() => said).toEqual([{ pages: ['/hello-world/'], files: [] }])
    })

    test('shows menus, reusable blocks, theme styles and widgets at once', async () => {
      const block = await rest('POST', '/wp/v2/blocks', { title: 'Shared', content: 'block-one', status: 'publish' })
      await rest('POST', '/wp/v2/pages', {
        title: 'B',
        slug: 'with-block',
        content: `<!-- wp:block {"ref":${block.id}} /-->`,
        status: 'publish',
      })
      expect(await cached('/with-block/')).toContain('block-one')
      await rest('PUT', `/wp/v2/blocks/${block.id}`, { content: 'block-two' })
      expect((await get('/with-block/')).body).toContain('block-two')
      await directory.script(
        'styles.php',
        `require 'wp-load.php'; wp_set_current_user(1); echo WP_Theme_JSON_Resolver::get_user_global_styles_post_id();`,
      )
      const styles = (await get('/styles.php')).body
      await cached('/with-block/')
      await rest('POST', `/wp/v2/global-styles/${styles}`, { styles: { color: { background: '#1234ab' } } })
      expect((await get('/with-block/')).body).toContain('#1234ab')
      for (const change of [
        () => rest('POST', '/wp/v2/navigation', { title: 'N', content: '<!-- wp:paragraph -->', status: 'publish' }),
        async () => {
          const { id: menus } = await rest('POST', '/wp/v2/menus', { name: 'Main' })
          await rest('POST', '/wp/v2/menu-items', { menus, title: 'Item', url: '/own/', status: 'publish' })
        },
        () =>
          rest('POST', '/wp/v2/widgets', {
            id_base: 'block',
            sidebar: 'wp_inactive_widgets',
            instance: { raw: { content: 'w' } },
          }),
      ]) {
        await cached('/hello-world/')
        await change()
        await expect.poll(() => said.some(({ pages }) => pages === 'all'), { timeout: 60_000 }).toBe(true)
      }
    })

    test('purges every size of a picture that is replaced', async () => {
      await directory.script(
        'media.php',
        `require 'wp-load.php'; wp_mkdir_p(wp_upload_dir()['path']); $file = wp_upload_dir()['path'] . '/cat.png'; file_put_contents($file, 'one');
         $id = wp_insert_attachment(['post_mime_type' => 'image/png', 'post_title' => 'cat'], $file); wp_update_attachment_metadata($id, ['width' => 1, 'sizes' => []]);
         echo wp_get_attachment_url($id), ' ', $id;`,
      )
      const [url = '', id] = (await get('/media.php')).body.split(' ')
      expect(await cached(pathOf(url))).toBe('one')
      await directory.script(
        'replace.php',
        `require 'wp-load.php'; file_put_contents(get_attached_file(${id}), 'two'); wp_update_attachment_metadata(${id}, ['width' => 2, 'sizes' => []]);
         wp_update_post(['ID' => ${id}, 'post_title' => 'another cat']);`,
      )
      await get('/replace.php')
      await changes.settled(7)
      await feed.refresh()
      expect((await get(pathOf(url))).body).toBe('two')
    })
  })

  test.each([
    ['style sheet', 'cache/own.css'],
    ['picture', 'uploads/replaced.gif'],
  ])('purges a %s that PHP rewrites without a hook', async (_what, file) => {
    const write = (text: string) =>
      directory.script(
        'style.php',
        `$file = __DIR__ . '/wp-content/${file}'; @mkdir(dirname($file)); file_put_contents($file, '${text}');`,
      )
    const post = async () => {
      const { status, body } = await ask(port, '/style.php', { host: testAddress, method: 'POST', body: 'x=1' })
      expect([status, body]).toEqual([200, ''])
    }
    await write('one')
    await post()
    expect(await cached(`/wp-content/${file}`)).toBe('one')
    await write('three')
    await post()
    await expect.poll(async () => (await get(`/wp-content/${file}`)).body, { timeout: 60_000 }).toBe('three')
  })

  test('a PHP session belongs to one visitor, and lasts over pages', async () => {
    await directory.script(
      'session.php',
      `session_start(); $_SESSION['seen'] = ($_SESSION['seen'] ?? 0) + 1; echo $_SESSION['seen'];`,
    )
    const first = await get('/session.php')
    const cookie = (first.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    expect(cookie).toMatch(/^PHPSESSID=/)
    expect([first.body, (await get('/session.php', { cookie })).body]).toEqual(['1', '2'])
    expect((await get('/session.php')).body).toBe('1')
    expect((await get('/session.php', { cookie })).body).toBe('3')
  })

  test('XML-RPC clients log in, and write posts that visitors see', async () => {
    const value = (text: string | number) => `<value>${typeof text === 'number' ? `<int>${text}</int>` : text}</value>`
    const member = (name: string, text: string) => `<member><name>${name}</name>${value(text)}</member>`
    const post = `<struct>${member('post_title', 'By XML-RPC')}${member('post_status', 'publish')}</struct>`
    const call = async (password: string) => {
      const parameters = [1, 'admin', password, post].map((each) => `<param>${value(each)}</param>`).join('')
      const body = `<?xml version="1.0"?><methodCall><methodName>wp.newPost</methodName><params>${parameters}</params></methodCall>`
      const headers = { 'content-type': 'text/xml' }
      return ask(port, '/xmlrpc.php', { host: testAddress, method: 'POST', body, headers })
    }
    await cached('/')
    expect((await call('wrong')).body).toMatch(/<name>faultCode<\/name>\s*<value><int>403</)
    expect((await call('correct horse battery')).body).toMatch(/<params>\s*<param>\s*<value>\s*<string>\d+</)
    expect((await get('/')).body).toContain('By XML-RPC')
  })

  test('local time is right on both sides of each change to summer time', async () => {
    const zones = ['Europe/Berlin', 'America/New_York', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Asia/Kolkata']
    zones.push('Africa/Casablanca', 'America/Santiago', 'Asia/Tehran', 'Pacific/Auckland', 'Pacific/Apia', 'UTC')
    await directory.script(
      'zones.php',
      `require 'wp-load.php'; $wrong = []; $count = 0;
       foreach (json_decode('${JSON.stringify([...zones, 'Asia/Tokyo'])}') as $name) {
         update_option('timezone_string', $name); $zone = new DateTimeZone($name);
         foreach (['2027-03-28 01:59:00', '2027-03-28 03:01:00', '2027-10-31 01:30:00', '2027-10-31 03:30:00', '2027-11-07 03:00:00', '2027-04-04 03:00:00'] as $local) {
           $at = (new DateTime($local, $zone))->getTimestamp(); $count++;
           if (strtotime(get_gmt_from_date($local) . ' UTC') !== $at || wp_date('Y-m-d H:i:s', $at) !== $local) $wrong[] = "$name $local";
         }
       }
       update_option('timezone_string', 'Europe/Berlin');
       $planned = wp_insert_post(['post_title' => 'planned', 'post_status' => 'future', 'post_date' => '2027-10-31 03:30:00']);
       $at = wp_next_scheduled('publish_future_post', [$planned]); wp_delete_post($planned, true);
       update_option('timezone_string', ''); echo json_encode([$count, $wrong, gmdate('H:i', $at)]);`,
    )
    expect(JSON.parse((await get('/zones.php')).body)).toEqual([72, [], '02:30'])
  })

  test('does not store a page that opts out late', async () => {
    await directory.script(
      'late.php',
      `echo str_repeat('x', 100000); define('DONOTCACHEPAGE', true); echo microtime(true);`,
    )
    await get('/late.php')
    expect(isHit(await get('/late.php'))).toBe(false)
  })

  test('tells plugins that would set a cookie with each page about the cache, and stores their pages', async () => {
    await directory.script(
      'cookies.php',
      `require '/wordpress/wp-load.php'; send_nosniff_header();
      if (!apply_filters('pll_is_cache_active', false)) setcookie('language', 'en');
      if (apply_filters('pmpro_set_visit_cookie', true)) setcookie('visit', '1');
      echo 'a page';`,
    )
    const first = await get('/cookies.php')
    expect([first.body, first.headers['set-cookie']]).toEqual(['a page', undefined])
    expect(isHit(await get('/cookies.php'))).toBe(true)
  })

  test('varies by a cookie that a plugin reads once it changed a page, and by no other', async () => {
    const plugin = `${directory.siteDirectory}/web/wp-content/mu-plugins/gate.php`
    await mkdir(`${directory.siteDirectory}/web/wp-content/mu-plugins`, { recursive: true })
    await writeFile(
      plugin,
      `<?php add_action('template_redirect', function () { if (isset($_GET['gated']) && ($_COOKIE['gate_pass'] ?? '') !== 'yes') { echo 'opens soon'; exit; } });`,
    )
    const ask = (cookie: string) => get('/?gated=1', { cookie })
    const status = async (cookie: string) => String((await ask(cookie)).headers['cache-status'])
    expect(await cached('/?gated=1')).toBe('opens soon')
    expect((await ask('gate_pass=yes')).body).toContain('Hello world!')
    await expect
      .poll(
        async () => {
          // A purge may have removed the page that answers are compared with.
          await get('/?gated=1')
          return status('gate_pass=yes')
        },
        { timeout: 60_000 },
      )
      .toContain('detail=cookie')
    expect((await ask('gate_pass=yes')).body).toContain('Hello world!')
    expect(await status('theme=dark')).toContain('detail=new-cookie')
    await expect
      .poll(
        async () => {
          await get('/?gated=1')
          return status('theme=dark')
        },
        { timeout: 60_000 },
      )
      .toContain('; hit;')
    expect(await cached('/?gated=1')).toBe('opens soon')
    await rm(plugin)
  })

  test('stores pages of a site’s page cache only briefly, and revalidates them', async () => {
    const content = `${directory.siteDirectory}/web/wp-content`
    await writeFile(`${content}/advanced-cache.php`, "<?php if (isset($_GET['kept'])) { echo 'kept'; exit; }")
    const config = `${directory.siteDirectory}/web/wp-config.php`
    const before = await readFile(config, 'utf8')
    await writeFile(config, before.replace('<?php', "<?php\ndefine('WP_CACHE', true);"))
    await get('/?kept=1')
    const reply = await get('/?kept=1')
    expect(reply.body).toBe('kept')
    expect(Number(/ttl=(\d+)/.exec(String(reply.headers['cache-status']))?.[1])).toBeLessThanOrEqual(10)
    await rm(`${content}/advanced-cache.php`)
  })

  // Last: a site that reports without a pause may wait for its purges for a minute.
  test('is not harmed by invalid or too many messages of a site', async () => {
    await directory.script(
      'shout.php',
      `foreach (['', '{', '{"changed":{"paths":["no"]}}', '{"changed":1}', str_repeat('x', 300000)] as $text) post_message_to_js($text);
       for ($i = 0; $i < 2000; $i++) post_message_to_js('{"changed":{"all":true}}'); echo 'done';`,
    )
    said = []
    expect((await get('/shout.php')).body).toBe('done')
    // Native PHP needs longer to report it.
    expect(said.length).toBeLessThan(2 * MOST_PER_MINUTE)
    // The purges that still wait may come between two visits.
    await expect.poll(async () => isHit(await get('/'))).toBe(true)
  })
})
