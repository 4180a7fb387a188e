import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../../test/support/core.ts'
import { type HttpsServer, startHttps } from '../../../../../test/support/https.ts'
import { packedRelease, startReleaseApi } from '../../../../../test/support/release-api.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../../test/support/site-directory.ts'
import { ways } from '../../../../../test/support/ways.ts'
import { createCoreLibrary } from '../../../core-library/core-library.ts'
import { releaseApiSource } from '../../../core-library/sources/release-api.ts'
import { versionOf } from '../../../core-library/wordpress-version.ts'
import { type PhpProcess, type PhpRuntime, phpVersions } from '../../runtime.ts'
import { defaultEgressLimits } from './egress.ts'

const core = await testCore()

let folder: string
let server: HttpsServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-https-'))
  server = await startHttps('service.localhost', (_request, response) => response.end('hello over TLS'))
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

const egress = { ...defaultEgressLimits, allows: (address: string) => address === '127.0.0.1' }

/** @returns what the code returns */
async function run(php: PhpProcess, directory: TestDirectory, code: string): Promise<unknown> {
  const script = await directory.script('run.php', `echo json_encode((function () { ${code} })());`)
  return JSON.parse((await fetchPage(php, testRequest('/run.php', script))).text)
}

const theirOwn = "ABSPATH . WPINC . '/certificates/ca-bundle.crt'"
const asPublished = /(set_certificate_path\( |'sslcertificates' +=> )(?:'[^']+'|ABSPATH \. WPINC \. '[^']+')/g

/** Creates a core as wordpress.org packages it. Distributions replace its certificates with their system's. */
async function publishedCore(certificates: string): Promise<string> {
  const http = 'wordpress/wp-includes/class-wp-http.php'
  const bundle = 'wordpress/wp-includes/certificates/ca-bundle.crt'
  const entries = (await packedRelease(core as string)).filter(({ name }) => name !== bundle)
  const published = entries.map((entry) =>
    entry.name === http ? { ...entry, content: String(entry.content).replace(asPublished, `$1${theirOwn}`) } : entry,
  )
  expect(String(published.find(({ name }) => name === http)?.content).split(theirOwn)).toHaveLength(3)
  const api = await startReleaseApi()
  try {
    const version = (await versionOf(core as string)) as string
    api.publish(version, [...published, { name: bundle, content: certificates }])
    const library = createCoreLibrary({
      dataDir: folder,
      coreSource: undefined,
      wordpressApi: undefined,
      allowPrivate: true,
      log: { info() {}, warn() {} },
      sources: [releaseApiSource({ base: api.base, allowPrivate: true })],
    })
    return (await library.ensure(version)).path
  } finally {
    api.close()
  }
}

const cores = [
  { source: 'what this machine has', corePath: async () => core as string },
  { source: 'the zip of a release', corePath: () => publishedCore(server.caCertificate) },
]
const cases = cores.flatMap((each, i) =>
  ways.filter(({ skip }) => !skip).flatMap((way, j) => (i === 0 || j === 0 ? [{ ...each, ...way }] : [])),
)

describe.skipIf(!core).each(cases)(
  'HTTPS from WordPress out of $source, $way',
  ({ corePath, sandbox, isOpen, runtime: kind, phpVersion }) => {
    let runtime: PhpRuntime
    let directory: TestDirectory
    let php: PhpProcess

    beforeAll(async () => {
      runtime = await testRuntime({ runtime: kind, egress, sandbox, certificates: server.caCertificate })
      directory = await testDirectory(await corePath(), { isOpen, phpVersion })
      php = await runtime.start(directory)
      await install(php)
    })
    afterAll(async () => {
      await runtime?.close()
      await directory?.remove()
    })

    it('trusts the CAs of this machine, and no others', async () => {
      const code = `require '/wordpress/wp-load.php';
      $get = function ($url) {
        $answer = wp_remote_get($url);
        return is_wp_error($answer) ? $answer->get_error_message() : wp_remote_retrieve_body($answer);
      };
      return [
        $get('https://service.localhost:${server.port}/'),
        $get('https://other.localhost:${server.port}/'),
        file_get_contents('https://service.localhost:${server.port}/'),
        @file_get_contents('https://other.localhost:${server.port}/'),
        @file_put_contents('/etc/ssl/certs/ca-certificates.crt', 'nobody'),
      ];`
      const [named, misnamed, streamed, ...refused] = (await run(php, directory, code)) as unknown[]
      expect([named, streamed]).toEqual(['hello over TLS', 'hello over TLS'])
      expect(misnamed).toContain('no alternative certificate subject name matches')
      expect(refused).toEqual([false, false])
    })
  },
)

it.skipIf(!core)('fails for HTTPS servers that this machine does not trust', async () => {
  const runtime = await testRuntime({ egress })
  const directory = await testDirectory(core as string)
  try {
    const php = await runtime.start(directory)
    expect(await run(php, directory, curl(`https://service.localhost:${server.port}/`))).toEqual([false, 60])
    const certificates = "substr_count(file_get_contents('/etc/ssl/certs/ca-certificates.crt'), 'BEGIN CERTIFICATE')"
    expect(await run(php, directory, `return ${certificates};`)).toBeGreaterThan(20)
  } finally {
    await runtime.close()
    await directory.remove()
  }
})

/** Returns code that yields cURL's result and its error number. */
const curl = (url: string) => `$curl = curl_init('${url}');
  curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 20]);
  return [curl_exec($curl), curl_errno($curl)];`

const couldNotConnect = 7
const handshakeFailed = 35

describe.skipIf(!core).each(phpVersions)('cURL of PHP %s', (phpVersion) => {
  let closing: Server
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess

  beforeAll(async () => {
    closing = createTcpServer((socket) => socket.destroy())
    await new Promise<void>((ready) => closing.listen(0, '127.0.0.1', ready))
    runtime = await testRuntime({ egress, certificates: server.caCertificate })
    directory = await testDirectory(core as string, { phpVersion })
    php = await runtime.start(directory)
  })
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
    closing?.close()
  })

  it('learns at once that a connection was refused, failed, or was closed by the other side', async () => {
    const { port } = closing.address() as AddressInfo
    for (const scheme of ['http', 'https']) {
      // Refused by Stead, refused by the other machine, and a name that does not exist.
      for (const place of [`127.0.0.2:${port}`, 'service.localhost:1', 'nowhere.invalid'])
        expect(await run(php, directory, curl(`${scheme}://${place}/`)), `${scheme}://${place}`).toEqual([
          false,
          couldNotConnect,
        ])
    }
    expect(await run(php, directory, curl(`https://service.localhost:${port}/`))).toEqual([false, handshakeFailed])
    expect(await run(php, directory, curl(`https://service.localhost:${server.port}/`))).toEqual(['hello over TLS', 0])
  })
})
