/**
 * Sites that send requests to each other and to themselves, as WordPress and its plugins do: real PHP behind a host and
 * an edge.
 */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createGateway, type Gateway } from '../src/edge/gateway/gateway.ts'
import type { Route } from '../src/edge/routing/route.ts'
import { createHairpinRoute, OWN_HTTPS_PORT } from '../src/hosting/php/hairpin-route.ts'
import { PhpPool } from '../src/hosting/php/pool/pool.ts'
import type { PhpRuntime } from '../src/hosting/php/runtime.ts'
import type { HostedSite } from '../src/hosting/web-server/hosted-site.ts'
import { createWebServer } from '../src/hosting/web-server/web-server.ts'
import { testCore } from './support/core.ts'
import { type TestDirectory, testBodies, testDirectory, testHeld, testRuntime } from './support/site-directory.ts'
import { visit } from './support/visit.ts'
import { runtimes } from './support/ways.ts'

const core = await testCore()
const KEY = 'the-key-of-this-host'
const log = { debug() {}, warn() {}, error() {} }
const MB = 1 << 20
const names = ['my', 'other']

describe.skipIf(!core).each(runtimes.filter(({ skip }) => !skip))(
  'requests from site to site, on $runtime',
  (tested) => {
    const isNative = tested.runtime === 'native'
    let runtime: PhpRuntime
    let pool: PhpPool
    let host: Server
    let gateway: Gateway
    let port: number
    /** A private server of this machine. */
    let secret: Server
    const siteDirectories: TestDirectory[] = []

    beforeAll(async () => {
      const sites = new Map<number, HostedSite>()
      const routes = new Map<string, Route>()
      gateway = createGateway({
        routes: { find: (hostName) => routes.get(hostName) },
        log,
        hostKey: KEY,
        trustProxy: ['127.0.0.1'],
      })
      port = await listen(gateway.server)
      secret = createServer((_request, response) => response.end('secret'))
      await listen(secret)
      const edge = createHairpinRoute({
        edges: new Map([
          [port, { host: '127.0.0.1', port }],
          [OWN_HTTPS_PORT, { host: '127.0.0.1', port, scheme: 'https' }],
        ]),
        edgeKey: KEY,
        isSite: async (hostName) => routes.has(hostName),
      })
      const ownHttps = Buffer.from(`<?php return ['port' => 443, 'edge' => ${OWN_HTTPS_PORT}];`)
      runtime = await testRuntime({ edge, runtime: tested.runtime, morePhp: { 'own-https.php': ownHttps } })
      // biome-ignore format: one record
      pool = new PhpPool(runtime, { requestMs: 60_000, taskMs: 60_000, memoryBytes: 2048 * MB, bodies: testBodies(), queueLength: 100, idleMs: 600_000, processMemoryBytes: 1024 * MB })
      host = createWebServer({
        siteById: async (siteId) => sites.get(siteId),
        php: pool,
        ...testHeld(tmpdir()),
        hostKey: KEY,
        log,
        directoryOfSender: (peer) => edge.directoryOf(peer),
        httpsPort: 443,
        mostBodyBytes: 128 * MB,
      })
      const upstream = `http://127.0.0.1:${await listen(host)}`
      for (const [i, name] of names.entries()) {
        const hostName = `${name}.localhost`
        const directory = await testDirectory(core as string, { phpVersion: tested.phpVersion })
        siteDirectories.push(directory)
        const { siteDirectory, corePath, phpVersion, uid } = directory
        const site: HostedSite = {
          siteId: i + 1,
          siteDirectory,
          corePath,
          phpVersion,
          uid,
          address: `${hostName}:${port}`,
          state: 'live',
        }
        sites.set(site.siteId, site)
        await pool.runTask(site, 'install', {
          title: name,
          user: 'admin',
          password: 'correct horse battery',
          email: 'owner@example.com',
          url: `http://${site.address}`,
        })
        // biome-ignore format: one record
        routes.set(hostName, { hostName, siteId: site.siteId, state: 'live', hostId: 1, upstream, redirectsTo: null, isInMaintenance: false, hasEdgeCache: false, cacheEpoch: 0, hasCdn: false, cdnEpoch: 0 })
      }
    })
    afterAll(async () => {
      gateway?.server.closeAllConnections()
      await gateway?.close()
      host?.closeAllConnections()
      host?.close()
      secret?.close()
      await pool?.stopAll(0)
      await runtime?.close()
      for (const directory of siteDirectories) await directory.remove()
    })

    /**
     * Runs code with WordPress in the first site, as a visitor's request does.
     * @returns what it returns
     */
    async function run(code: string): Promise<unknown> {
      const wordpress = "require '/wordpress/wp-load.php';"
      await siteDirectories[0]?.script('run.php', `${wordpress} echo json_encode((function () { ${code} })());`)
      return JSON.parse((await visit({ host: 'my.localhost', port, path: '/run.php' })).text)
    }
    const url = (name: string, path: string) => `http://${name}.localhost:${port}${path}`
    const get = `$get = function ($url, $more = []) {
    $answer = wp_remote_get($url, $more + ['timeout' => 30]);
    return is_wp_error($answer) ? $answer->get_error_message() : [wp_remote_retrieve_response_code($answer), wp_remote_retrieve_body($answer)];
  };`

    it('reach a neighbor through the edge, over https too', async () => {
      await siteDirectories[1]?.script('hello.php', "echo 'hello from PHP';")
      await writeFile(join(siteDirectories[1]?.siteDirectory as string, 'web/picture.png'), 'a picture')
      const code = `${get} $safe = wp_safe_remote_get('${url('other', '/picture.png')}');
      return [$get('${url('other', '/hello.php')}'), is_wp_error($safe) ? $safe->get_error_message() : $safe['body']];`
      expect(await run(code)).toEqual([[200, 'hello from PHP'], 'a picture'])
    })

    it('fail at once when the site would wait for itself, and still get its own files', async () => {
      await writeFile(join(siteDirectories[0]?.siteDirectory as string, 'web/style.css'), 'body{}')
      const code = `${get} return [$get('${url('my', '/?x=1')}'), $get('${url('my', '/style.css')}')];`
      const [own, file] = (await run(code)) as [[number, string], unknown]
      expect(own[0]).toBe(isNative ? 200 : 503)
      expect(own[1]).toContain(isNative ? 'Hello world!' : 'This site cannot wait for itself')
      expect(file).toEqual([200, 'body{}'])
    })

    it('are accepted at once when nothing waits for them, and run next', async () => {
      const marks = join(siteDirectories[0]?.siteDirectory as string, 'web/marks.txt')
      await siteDirectories[0]?.script(
        'later.php',
        "file_put_contents('/wordpress/marks.txt', 'ran with ' . $_POST['word'], FILE_APPEND);",
      )
      const code = `$answer = wp_remote_post('${url('my', '/later.php')}', ['blocking' => false, 'body' => ['word' => 'a word']]);
      file_put_contents('/wordpress/marks.txt', 'asked, ', FILE_APPEND); return is_wp_error($answer);`
      expect(await run(code)).toBe(false)
      await vi.waitFor(
        async () =>
          expect(await readFile(marks, 'utf8')).toEqual(
            isNative ? expect.stringContaining('ran with a word') : 'asked, ran with a word',
          ),
        60_000,
      )
    })

    it('reach nothing else on this machine', async () => {
      const { port: elsewhere } = secret.address() as AddressInfo
      const places = [
        // Native PHP reaches the edge through them, which has no site with these names.
        ...(isNative
          ? []
          : [`http://nobody.localhost:${port}/`, `http://127.0.0.1:${port}/`, `http://localhost:${port}/`]),
        `http://other.localhost:${elsewhere}/`,
        `http://127.0.0.1:${elsewhere}/`,
      ]
      const code = `${get} return array_map($get, ${JSON.stringify(places)});`
      for (const answer of (await run(code)) as unknown[])
        expect(answer).toMatch(/Connection refused|reset by peer|cURL error 7:/)
    })

    it('reach the site itself by https if TLS ends before the edge, and may not claim headers of others', async () => {
      await siteDirectories[0]?.script(
        'seen.php',
        "echo json_encode([$_SERVER['HTTPS'] ?? '', $_SERVER['HTTP_HOST'], $_SERVER['REMOTE_ADDR']]);",
      )
      await writeFile(join(siteDirectories[0]?.siteDirectory as string, 'web/style.css'), 'body{}')
      const more = "['headers' => ['X-Forwarded-For' => '203.0.113.9', 'X-Forwarded-Proto' => 'http']]"
      const code = `${get} return [$get('https://my.localhost/style.css?a=1#b', ${more}), $get('https://my.localhost/seen.php', ${more})];`
      const [file, script] = (await run(code)) as [unknown, [number, string]]
      expect(file).toEqual([200, 'body{}'])
      if (isNative) expect(script).toEqual([200, '["on","my.localhost","127.0.0.1"]'])
      else expect(script[0]).toBe(503)
    })

    it('cause no critical result in Site Health', async () => {
      const code = `require_once ABSPATH . 'wp-admin/includes/admin.php';
      $health = WP_Site_Health::get_instance();
      wp_set_current_user(1);
      $_COOKIE[LOGGED_IN_COOKIE] = wp_generate_auth_cookie(1, time() + 60, 'logged_in');
      return [$health->get_test_loopback_requests()['status'], $health->get_test_rest_availability()['status']];`
      const found = await run(code)
      expect(found).not.toContain('critical')
      if (isNative) expect(found).toEqual(['good', 'good'])
    })

    it('do not run events through wp-cron.php, because the host runs them', async () => {
      const marks = join(siteDirectories[0]?.siteDirectory as string, 'web/events.txt')
      await siteDirectories[0]?.script(
        'wp-content/mu-plugins/event.php',
        "add_action('my_event', fn () => file_put_contents('/wordpress/events.txt', 'ran', FILE_APPEND));",
      )
      const code = `${get} wp_schedule_single_event(time() - 60, 'my_event'); return $get('${url('my', '/wp-cron.php?doing_wp_cron=1')}');`
      expect(await run(code)).toEqual(isNative ? [200, ''] : [503, expect.anything()])
      expect((await visit({ host: 'my.localhost', port, path: '/wp-cron.php' })).status).toBe(403)
      expect(existsSync(marks)).toBe(false)
    })
  },
)

async function listen(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return (server.address() as AddressInfo).port
}
