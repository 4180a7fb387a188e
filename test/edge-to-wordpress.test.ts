/** A real WordPress behind edge and host, used like in a browser, over real sockets. */
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGateway, type Gateway } from '../src/edge/gateway/gateway.ts'
import type { Route } from '../src/edge/routing/route.ts'
import { PhpPool } from '../src/hosting/php/pool/pool.ts'
import type { PhpRuntime } from '../src/hosting/php/runtime.ts'
import type { HostedSite } from '../src/hosting/web-server/hosted-site.ts'
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

describe.skipIf(!core).each(hereRuntimes)('WordPress behind the edge, $runtime', ({ runtime: kind, phpVersion }) => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let pool: PhpPool
  let host: Server
  let gateway: Gateway
  let port: number

  beforeAll(async () => {
    runtime = await testRuntime({ runtime: kind })
    directory = await testDirectory(core as string, { phpVersion })
    const process = await runtime.start(directory)
    await install(process)
    // biome-ignore format: one record
    pool = new PhpPool(runtime, { requestMs: 60_000, taskMs: 60_000, memoryBytes: 2048 * MB, bodies: testBodies(), queueLength: 100, idleMs: 600_000, processMemoryBytes: 1024 * MB })
    const { siteDirectory, corePath, uid, address } = directory
    const site: HostedSite = { siteId: 7, siteDirectory, corePath, phpVersion, uid, address, state: 'live' }
    await pool.adopt(site, process)
    host = createWebServer({
      siteById: async () => site,
      php: pool,
      ...testHeld(tmpdir()),
      hostKey: KEY,
      httpsPort: 443,
      log,
      mostBodyBytes: 128 * MB,
    })
    const upstream = `http://127.0.0.1:${await listen(host)}`
    // biome-ignore format: one record
    const route: Route = { hostName: 'my.localhost', siteId: 7, state: 'live', hostId: 1, upstream, redirectsTo: null, isInMaintenance: false, hasEdgeCache: false, cacheEpoch: 0, hasCdn: false, cdnEpoch: 0 }
    const routes = { find: (hostName: string) => (hostName === 'my.localhost' ? route : undefined) }
    gateway = createGateway({ routes, log, hostKey: KEY })
    port = await listen(gateway.server)
  })

  afterAll(async () => {
    gateway?.server.closeAllConnections()
    await gateway?.close()
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

  interface Reply {
    status: number
    headers: IncomingHttpHeaders
    text: string
  }

  async function ask(
    path: string,
    more: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Reply> {
    const { method = 'GET', headers, body } = more
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      path,
      method,
      headers: { host: testAddress, ...headers },
      agent: false,
    })
    request.end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return { status: response.statusCode as number, headers: response.headers, text }
  }

  /** Returns the paths of a page's scripts and styles on its own site. */
  const assetsOf = (html: string): string[] =>
    [...html.matchAll(/(?:href|src)=["'](?:http:\/\/my\.localhost:8081)?(\/[^"']+\.(?:css|js|php)(?:\?[^"']*)?)["']/g)]
      .map((match) => (match[1] as string).replaceAll('&amp;', '&').replaceAll('&#038;', '&'))
      .filter((path) => /\.(?:css|js)|load-(?:styles|scripts)\.php/.test(path))

  test('200 for the front page and everything that it loads, 304 the second time', async () => {
    const front = await ask('/')
    expect(front.status).toBe(200)
    expect(front.text).toContain('<title>A test site</title>')
    expect(front.headers['x-powered-by']).toBeUndefined()
    const assets = assetsOf(front.text)
    for (const path of [...assets, '/wp-includes/css/dist/block-library/style.min.css?ver=1']) {
      const asset = await ask(path)
      expect([path, asset.status]).toEqual([path, 200])
      expect(asset.headers['content-type']).toMatch(/^text\/(?:css|javascript)/)
      expect((await ask(path, { headers: { 'if-none-match': asset.headers.etag as string } })).status).toBe(304)
    }
  })

  test('200 for a pretty address and the REST API, 404 by the theme, HEAD without body', async () => {
    expect((await ask('/hello-world/')).text).toContain('Hello world!')
    expect((await ask('/index.php/hello-world/')).status).toBeLessThan(400)
    expect(JSON.parse((await ask('/wp-json/')).text)).toMatchObject({ name: 'A test site' })
    expect((await ask('/no-such-page/')).status).toBe(404)
    const head = await ask('/', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await ask('/wp-cron.php')).status).toBe(403)
    expect((await ask('/wp-config.php')).status).toBe(404)
  })

  async function logIn(): Promise<{ login: Reply; cookie: string }> {
    const form = new URLSearchParams({ log: 'admin', pwd: 'correct horse battery', testcookie: '1' }).toString()
    const login = await ask('/wp-login.php', {
      method: 'POST',
      body: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: 'wordpress_test_cookie=x' },
    })
    return { login, cookie: (login.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ') }
  }

  test('logs in as a browser does, and loads the dashboard with all its files', async () => {
    const bare = await ask('/wp-admin')
    expect([bare.status, bare.headers.location]).toEqual([301, '/wp-admin/'])
    const sentAway = await ask('/wp-admin/')
    expect(sentAway.status).toBe(302)
    expect(sentAway.headers.location).toContain(`http://${testAddress}/wp-login.php`)
    const { login, cookie } = await logIn()
    expect(login.status).toBe(302)
    const dashboard = await ask('/wp-admin/', { headers: { cookie } })
    expect(dashboard.status).toBe(200)
    expect(dashboard.text).toContain('id="wpadminbar"')
    const assets = assetsOf(dashboard.text)
    expect(assets.length).toBeGreaterThan(3)
    for (const path of assets) expect([path, (await ask(path, { headers: { cookie } })).status]).toEqual([path, 200])
  })

  test('Site Health shows the sizes of directories and of the database', async () => {
    const { cookie } = await logIn()
    const nonce = (await ask('/wp-admin/admin-ajax.php?action=rest-nonce', { headers: { cookie } })).text
    const sizes = await ask('/wp-json/wp-site-health/v1/directory-sizes', {
      headers: { cookie, 'x-wp-nonce': nonce },
    })
    expect(sizes.status).toBe(200)
    const bytes = JSON.parse(sizes.text) as Record<string, { raw: number }>
    for (const name of ['wordpress_size', 'themes_size', 'database_size', 'total_size'])
      expect([name, bytes[name]?.raw ?? 0]).toEqual([name, expect.toSatisfy((raw: number) => raw > 10_000)])
  })

  test('an object cache in PHP files keeps objects, and notices changes', async () => {
    const content = join(directory.siteDirectory, 'web/wp-content')
    // Docket Cache does this: each object is a separate PHP file, replaced by a rename.
    const dropIn = `<?php
require ABSPATH . WPINC . '/class-wp-object-cache.php';
class Own_Files extends WP_Object_Cache {
    private static function file($key, $group) {
        return WP_CONTENT_DIR . '/cache/own/' . md5("$group $key") . '.php';
    }
    public function get($key, $group = 'default', $force = false, &$found = null) {
        $value = parent::get($key, $group, $force, $found);
        $file = self::file($key, $group);
        if ($found || !is_file($file)) return $value;
        $value = unserialize(include $file);
        $found = parent::set($key, $value, $group);
        return $value;
    }
    public function set($key, $data, $group = 'default', $expire = 0) {
        $file = self::file($key, $group);
        wp_mkdir_p(dirname($file));
        file_put_contents("$file.new", '<?php return ' . var_export(serialize($data), true) . ';');
        rename("$file.new", $file);
        function_exists('opcache_invalidate') && opcache_invalidate($file, true);
        return parent::set($key, $data, $group, $expire);
    }
    public function delete($key, $group = 'default', $deprecated = false) {
        $file = self::file($key, $group);
        is_file($file) && unlink($file);
        return parent::delete($key, $group);
    }
}
function wp_cache_init() { $GLOBALS['wp_object_cache'] = new Own_Files(); }
`
    const functions = await readFile(join(directory.corePath, 'wp-includes/cache.php'), 'utf8')
    await writeFile(
      join(content, 'object-cache.php'),
      dropIn +
        functions
          .replace('<?php', '')
          .replace(/function wp_cache_init\(\) \{[^}]*\}/, '')
          .replace(/require_once ABSPATH[^;]*;/g, ''),
    )
    await directory.script(
      'cached.php',
      `require 'wp-load.php'; if (isset($_GET['set'])) { wp_cache_set('own', [(object) ['x' => $_GET['set']]], 'own'); update_option('own_option', $_GET['set']); }
       echo json_encode([wp_using_ext_object_cache(), wp_cache_get('own', 'own'), get_option('own_option')]);`,
    )
    for (const value of ['one', 'two', 'three']) {
      await ask(`/cached.php?set=${value}`)
      expect(JSON.parse((await ask('/cached.php')).text)).toEqual([true, [{ x: value }], value])
      expect((await ask('/')).status).toBe(200)
    }
    expect((await readdir(join(content, 'cache/own'))).length).toBeGreaterThan(5)
    await rm(join(content, 'object-cache.php'))
  })

  test('a sitemap that a plugin writes before WordPress looks for a page has its own type', async () => {
    // The SEO Framework does this: no rewrite rule, its own answer, one lock for its writers.
    await mkdir(join(directory.siteDirectory, 'web/wp-content/mu-plugins'), { recursive: true })
    await writeFile(
      join(directory.siteDirectory, 'web/wp-content/mu-plugins/sitemap.php'),
      `<?php add_action('parse_request', function () {
        if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/sitemap.xml') return;
        while (ob_get_level()) ob_end_clean();
        if (get_transient('sitemap_lock')) { status_header(423); exit; }
        set_transient('sitemap_lock', 1, 60);
        status_header(200);
        header('Content-Type: text/xml; charset=utf-8', true);
        header('X-Robots-Tag: noindex', true);
        echo '<?xml version="1.0" encoding="UTF-8"?><urlset>';
        foreach (get_posts(['post_type' => ['post', 'page'], 'numberposts' => -1]) as $post) echo '<loc>', get_permalink($post), '</loc>';
        echo '</urlset>';
        delete_transient('sitemap_lock');
        exit;
      }, 15);`,
    )
    for (let visit = 0; visit < 2; visit++) {
      const map = await ask('/sitemap.xml')
      expect([map.status, map.headers['content-type'], map.headers['x-robots-tag']]).toEqual([
        200,
        'text/xml; charset=utf-8',
        'noindex',
      ])
      expect(map.text).toMatch(/<loc>http:\/\/my\.localhost:8081\/hello-world\/<\/loc>.*<\/urlset>$/)
    }
  })

  test('programs log in only by XML-RPC and by an application password', async () => {
    await directory.script(
      'application.php',
      `require 'wp-load.php'; echo WP_Application_Passwords::create_new_application_password(1, ['name' => 'client'])[0];`,
    )
    // WordPress offers them only for https, or if a plugin says so.
    await mkdir(join(directory.siteDirectory, 'web/wp-content/mu-plugins'), { recursive: true })
    await writeFile(
      join(directory.siteDirectory, 'web/wp-content/mu-plugins/application.php'),
      "<?php add_filter('wp_is_application_passwords_available', '__return_true');",
    )
    const { text: secret } = await ask('/application.php')
    const rest = async (password: string) => {
      const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
      const { status, text } = await ask('/wp-json/wp/v2/users/me', { headers: { authorization } })
      return [status, JSON.parse(text).id ?? JSON.parse(text).code]
    }
    expect(await rest(secret)).toEqual([200, 1])
    expect(await rest('correct horse battery')).toEqual([401, 'rest_not_logged_in'])
    const call = async (password: string) => {
      const parameters = ['1', 'admin', password].map((each) => `<param><value>${each}</value></param>`).join('')
      const body = `<?xml version="1.0"?><methodCall><methodName>wp.getProfile</methodName><params>${parameters}</params></methodCall>`
      return (await ask('/xmlrpc.php', { method: 'POST', body, headers: { 'content-type': 'text/xml' } })).text
    }
    for (const password of [secret, 'correct horse battery'])
      expect(await call(password)).toMatch(/<name>user_id<\/name>\s*<value><string>1</)
    expect(await call('wrong')).toMatch(/<name>faultCode<\/name>\s*<value><int>403</)
  })

  test('a PHP session lasts over pages, belongs to one visitor, and survives a restart of PHP', async () => {
    await directory.script(
      'session.php',
      `session_start(); $_SESSION['seen'] = ($_SESSION['seen'] ?? 0) + 1; echo $_SESSION['seen'];`,
    )
    const first = await ask('/session.php')
    const cookie = (first.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    expect(cookie).toMatch(/^PHPSESSID=/)
    const seen = async (headers = {}) => (await ask('/session.php', { headers })).text
    expect([first.text, await seen({ cookie }), await seen()]).toEqual(['1', '2', '1'])
    await pool.stop(7)
    expect(await seen({ cookie })).toBe('3')
  })

  test('a body of 64 MB reaches PHP, with length and in chunks', async () => {
    await directory.script(
      'size.php',
      `$n = 0; $f = fopen('php://input', 'r'); while (!feof($f)) $n += strlen(fread($f, 1 << 20)); echo $n, ' ', $_SERVER['REMOTE_ADDR'], ' ', $_SERVER['HTTP_HOST'];`,
    )
    const piece = Buffer.alloc(MB, 'x')
    for (const headers of [{ 'content-length': String(64 * MB) }, { 'transfer-encoding': 'chunked' }]) {
      const type = { 'content-type': 'application/octet-stream' }
      const request = httpRequest({
        port,
        host: '127.0.0.1',
        path: '/size.php',
        method: 'POST',
        headers: { host: testAddress, ...type, ...headers },
      })
      const answer = once(request, 'response') as Promise<[IncomingMessage]>
      for (let sent = 0; sent < 64; sent++) if (!request.write(piece)) await once(request, 'drain')
      request.end()
      const [response] = await answer
      let text = ''
      for await (const chunk of response) text += chunk
      expect(text).toBe(`${64 * MB} 127.0.0.1 ${testAddress}`)
    }
  })
})
