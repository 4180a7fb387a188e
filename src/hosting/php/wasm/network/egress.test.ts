import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testCore } from '../../../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../../../test/support/ways.ts'
import { readProxyHeaders } from '../../../../platform/http/client/proxy-protocol.ts'
import { type TestBudgets, testBudgets } from '../../../web-server/test-support.ts'
import { createHairpinRoute } from '../../hairpin-route.ts'
import type { PhpProcess, PhpRuntime } from '../../runtime.ts'
import { defaultEgressLimits } from './egress.ts'

const core = await testCore()

describe.skipIf(!core).each(hereRuntimes)('outgoing connections, $runtime', ({ runtime: kind, phpVersion }) => {
  let server: Server
  let port: number
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess
  let budgets: TestBudgets
  const asked: string[] = []

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.host}`)
      response.end(request.url === '/big' ? Buffer.alloc(5 << 20, 'x') : 'hello from outside')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    budgets = testBudgets({ outgoing: { each: 6, all: 3 } })
    runtime = await testRuntime({
      runtime: kind,
      budgets,
      egress: {
        ...defaultEgressLimits,
        // A busy machine may not run a process for up to a second.
        idleTimeoutMs: 2000,
        allows: (address) => address === '127.0.0.1',
      },
    })
    directory = await testDirectory(core as string, { phpVersion })
    php = await runtime.start(directory)
    await install(php)
  })
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
    server?.close()
  })

  async function run(name: string, code: string): Promise<unknown> {
    const script = await directory.script(name, `echo json_encode((function () { ${code} })());`)
    return JSON.parse((await fetchPage(php, testRequest(`/${name}`, script))).text)
  }

  it('carry WordPress’ HTTP API over curl, including its safe variant and a name', async () => {
    const code = `require '/wordpress/wp-load.php';
      $get = fn($answer) => is_wp_error($answer) ? $answer->get_error_message() : wp_remote_retrieve_body($answer);
      add_filter('http_allowed_safe_ports', fn($ports) => [...$ports, ${port}]);
      return [
        $get(wp_remote_get('http://127.0.0.1:${port}/plain')),
        $get(wp_remote_get('http://service.localhost:${port}/named')),
        $get(wp_safe_remote_get('http://service.localhost:${port}/safe')),
        $get(wp_safe_remote_get('http://127.0.0.1:${port}/literal')),
      ];`
    const [plain, named, safe, literal] = (await run('api.php', code)) as string[]
    expect([plain, named]).toEqual(['hello from outside', 'hello from outside'])
    // WordPress still judges literal addresses. Names are judged when they are resolved.
    expect([safe, literal]).toEqual(['hello from outside', 'A valid URL was not provided.'])
    expect(asked).toContain(`GET /named service.localhost:${port}`)
  })

  it('carry plain sockets and PHP’s own http streams, with large answers whole', async () => {
    const code = `return [file_get_contents('http://127.0.0.1:${port}/a'), strlen(file_get_contents('http://127.0.0.1:${port}/big'))];`
    expect(await run('streams.php', code)).toEqual(['hello from outside', 5 << 20])
  })

  it('go nowhere that the policy refuses', async () => {
    const code = `return [@file_get_contents('http://127.0.0.2:${port}/'), @file_get_contents('http://[::1]:${port}/')];`
    expect(await run('refused.php', code)).toEqual([false, false])
  })

  it('end when nothing arrives, and are limited in number', async () => {
    const silent = createTcpServer(() => {})
    let most = 0
    silent.on('connection', () => {
      silent.getConnections((_, count) => {
        most = Math.max(most, count)
      })
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port: silentPort } = silent.address() as AddressInfo
    const code = `$all = []; for ($i = 0; $i < 6; $i++) $all[] = @stream_socket_client('tcp://127.0.0.1:${silentPort}', $c, $t, 2);
      $ended = 0; foreach ($all as $one) { if (!$one || !@fread($one, 1)) $ended++; } return $ended;`
    expect(await run('silent.php', code)).toBe(6)
    expect(most).toBeLessThanOrEqual(3)
    expect(budgets.outgoing.metrics().refusals).toBeGreaterThan(0)
    await vi.waitFor(() => expect(budgets.outgoing.used).toBe(0), 60_000)
    silent.close()
  })
})

describe.skipIf(!core).each(hereRuntimes)(
  'connections to sites of this Stead, $runtime',
  ({ runtime: kind, phpVersion }) => {
    it('lead to the edge and are recognized as the site’s, while other private addresses are refused', async () => {
      const peers: (string | undefined)[] = []
      const edge = createServer((request, response) => {
        peers.push(way.directoryOf(`${request.socket.remoteAddress} ${request.socket.remotePort}`))
        response.end(request.headers.host)
      })
      readProxyHeaders(edge, { isBalancer: () => false, siteKey: 'key', timeoutMs: 60_000 })
      const other = createServer((_, response) => response.end('private'))
      for (const each of [edge, other]) await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve))
      const [port, otherPort] = [edge, other].map((each) => (each.address() as AddressInfo).port)
      const way = createHairpinRoute({
        edges: new Map([[port as number, { host: '127.0.0.1', port: port as number }]]),
        edgeKey: 'key',
        isSite: async (name) => ['my.localhost', 'neighbour.localhost', 'neighbour.test'].includes(name),
      })
      const runtime = await testRuntime({ runtime: kind, edge: way })
      const directory = await testDirectory(core as string, { phpVersion })
      try {
        const php = await runtime.start({ ...directory, address: `my.localhost:${port}` })
        // libcurl resolves *.localhost without a query. PHP’s own streams send one.
        const code = `$curl = function ($url) {
          $c = curl_init($url);
          curl_setopt_array($c, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 10]);
          return curl_exec($c);
        };
        $all = [];
        foreach (['my.localhost:${port}', 'neighbour.localhost:${port}', 'neighbour.test:${port}', 'my.localhost:${otherPort}', '127.0.0.1:${otherPort}'] as $at)
          array_push($all, $curl("http://$at/"), @file_get_contents("http://$at/"));
        echo json_encode($all);`
        const script = await directory.script('sites.php', code)
        const found = JSON.parse((await fetchPage(php, testRequest('/sites.php', script))).text)
        const names = ['my.localhost', 'neighbour.localhost', 'neighbour.test'].flatMap((name) => [name, name])
        expect(found).toEqual([...names.map((name) => `${name}:${port}`), false, false, false, false])
        expect(peers).toEqual(names.map(() => directory.siteDirectory))
      } finally {
        await runtime.close()
        await directory.remove()
        for (const each of [edge, other]) each.close()
      }
    })
  },
)
