import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type MadeEntry, makeTar, makeZip } from '../../../test/support/archives.ts'
import { madeRelease, type ReleaseApi, startReleaseApi } from '../../../test/support/release-api.ts'
import { type CoreLibrary, type CoreLibraryOptions, CoreUnavailable, createCoreLibrary } from './core-library.ts'
import type { CoreSource } from './core-source.ts'
import { sealTree } from './core-tree.ts'
import { releaseApiSource } from './sources/release-api.ts'

const run = promisify(execFile)
const child = new URL('./ensure-in-child.ts', import.meta.url).pathname
let dataDir = ''
let api: ReleaseApi

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'stead-cores-'))
  api = await startReleaseApi()
})
afterEach(async () => {
  api.close()
  await rm(dataDir, { recursive: true })
})

const apiOnly = () => [releaseApiSource({ base: api.base, allowPrivate: true })]

function library(more: Partial<CoreLibraryOptions> = {}): CoreLibrary {
  const log = { info: () => {}, warn: () => {} }
  const settings = { dataDir, coreSource: undefined, wordpressApi: api.base, allowPrivate: true, log }
  return createCoreLibrary({ ...settings, sources: apiOnly(), ...more })
}

/** Returns the entries in the library's folder besides cores and their manifests. */
const leftovers = async () => (await readdir(join(dataDir, 'cores'))).filter((name) => name.startsWith('.unpack-'))

describe('from the release API', () => {
  test('fetches and verifies the latest release, and returns it without a request from then on', async () => {
    api.publish('6.8.7')
    api.publish('6.9-beta1')
    const phases = new Set<string>()
    const core = await library().ensure('latest', { onProgress: ({ phase }) => phases.add(phase) })
    expect(core).toMatchObject({ version: '6.8.7', path: join(dataDir, 'cores', '6.8.7'), files: 9 })
    expect(core.source).toBe(`the release API at ${api.base}`)
    expect([...phases]).toEqual(['resolving', 'downloading', 'verifying', 'unpacking'])
    const askedOnce = api.asked.length
    expect(await library().ensure('latest')).toEqual(core)
    expect(await library().ensure('6.8.7')).toEqual(core)
    expect(await library().list()).toEqual([core])
    expect(api.asked).toHaveLength(askedOnce)
    expect(await leftovers()).toEqual([])
    const { path: _path, ...manifest } = core
    expect(JSON.parse(await readFile(join(dataDir, 'cores', '6.8.7.json'), 'utf8'))).toEqual(manifest)
    expect((await stat(join(core.path, 'index.php'))).mode & 0o7777).toBe(0o644)
    expect((await stat(join(core.path, 'wp-admin'))).mode & 0o7777).toBe(0o755)
  })

  test('computes a checksum that depends on the content only', async () => {
    api.publish('6.8.7')
    const first = await library().ensure('6.8.7')
    await rm(join(dataDir, 'cores'), { recursive: true })
    expect((await library().ensure('6.8.7')).sha256).toBe(first.sha256)
    await rm(join(dataDir, 'cores'), { recursive: true })
    api.publish('6.8.7', madeRelease('6.8.7', [{ name: 'wordpress/more.php', content: 'x' }]))
    expect((await library().ensure('6.8.7')).sha256).not.toBe(first.sha256)
  })

  test('fetches a test version by name and a release no longer offered, and lists all offers', async () => {
    for (const version of ['6.7.1', '6.8.7', '6.9-beta1', '6.9-RC1']) api.publish(version)
    expect((await library().ensure('6.9-beta1')).version).toBe('6.9-beta1')
    const offers = api.base
    api.override('/core/version-check/1.7/', (_request, response) =>
      response.end(
        JSON.stringify({
          offers: [
            {
              version: '6.8.7',
              packages: { full: `${offers}/release/wordpress-6.8.7.zip` },
              php_version: '8.2.1',
              mysql_version: '5.5.5',
            },
          ],
        }),
      ),
    )
    expect((await library().ensure('6.7.1')).version).toBe('6.7.1')
    expect(await library().offers()).toEqual([
      { version: '6.9-beta1', kind: 'beta', phpVersion: null, isOffered: false },
      { version: '6.8.7', kind: 'stable', phpVersion: '8.2.1', isOffered: true },
      { version: '6.7.1', kind: 'stable', phpVersion: null, isOffered: false },
    ])
    expect((await library().latest())?.version).toBe('6.7.1')
  })

  test('takes a new release once the last answer has expired', async () => {
    api.publish('6.8.7')
    await library().ensure('latest')
    api.publish('6.8.8')
    expect((await library().ensure('latest')).version).toBe('6.8.7')
    expect((await library({ latestForMs: 0 }).ensure('latest')).version).toBe('6.8.8')
  })

  test('returns the newest stored release when no source is reachable', async () => {
    api.publish('6.8.7')
    await library().ensure('latest')
    api.close()
    expect((await library({ latestForMs: 0 }).ensure('latest')).version).toBe('6.8.7')
  })
})

describe('refused downloads', () => {
  const zip = '/release/wordpress-6.8.7.zip'
  const cases: [string, () => void, RegExp][] = [
    [
      'a wrong checksum',
      () => api.override(`${zip}.sha1`, (_q, r) => r.end('0'.repeat(40))),
      /checksum of the download is wrong/,
    ],
    [
      'no checksum',
      () => ['sha1', 'md5'].map((kind) => api.override(`${zip}.${kind}`, (_q, r) => r.writeHead(404).end())),
      /no checksum of the download is published/,
    ],
    [
      'one file that differs from the list',
      () => api.override('/core/checksums/1.0/', (_q, r) => r.end('{"checksums":{"index.php":"00"}}')),
      /index.php differs from the published file/,
    ],
    [
      'one file of the list missing',
      () => api.override('/core/checksums/1.0/', (_q, r) => r.end('{"checksums":{"more.php":"00"}}')),
      /more.php is missing in the download/,
    ],
    [
      'a list that points elsewhere',
      () => api.override('/core/checksums/1.0/', (_q, r) => r.end('{"checksums":{"../../x":"00"}}')),
      /its response is invalid/,
    ],
    ['no list', () => api.override('/core/checksums/1.0/', (_q, r) => r.end('{"checksums":false}')), /no checksums/],
    [
      'a download that is cut off',
      () =>
        api.override(zip, (_q, r) => {
          r.writeHead(200, { 'content-length': 5000 }).write('PK')
          setImmediate(() => r.destroy())
        }),
      /closed the connection/,
    ],
    ['another version inside', () => api.publish('6.8.7', madeRelease('6.8.6')), /announces 6.8.7 but delivers 6.8.6/],
    ['half a release', () => api.publish('6.8.7', madeRelease('6.8.7').slice(0, 4)), /is missing/],
    [
      'no theme',
      () =>
        api.publish(
          '6.8.7',
          madeRelease('6.8.7').filter((entry) => !entry.name.includes('themes')),
        ),
      /no theme/,
    ],
    ['nonsense', () => api.override('/core/version-check/1.7/', (_q, r) => r.end('[]')), /its response is invalid/],
    ...(
      [
        ['a path upwards', { name: 'wordpress/../../../../evil.php', content: 'x' }],
        ['an absolute path', { name: '/evil.php', content: 'x' }],
        ['a link', { name: 'wordpress/wp-content/uploads', linkTo: '/etc' }],
      ] as [string, MadeEntry][]
    ).map(([name, entry]): [string, () => void, RegExp] => [
      name,
      () => api.publish('6.8.7', [...madeRelease('6.8.7'), entry]),
      /leaves its folder|absolute path|invalid relative path|neither a file nor a folder/,
    ]),
  ]

  test.each(cases)('refuses %s', async (_name, arrange, reason) => {
    api.publish('6.8.7')
    arrange()
    const error: CoreUnavailable = await library()
      .ensure('latest')
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(CoreUnavailable)
    expect(error.failures).toEqual([
      { source: `the release API at ${api.base}`, reason: expect.stringMatching(reason) },
    ])
    expect(await library().list()).toEqual([])
    expect((await readdir(join(dataDir, 'cores'))).filter((name) => name !== '.lock')).toEqual([])
  })

  test.each(['', '..', '../6.8', '6', '6.8/../..', 'v6.8', '6.8 '])('refuses the version %j', async (version) => {
    await expect(library().ensure(version)).rejects.toThrow(CoreUnavailable)
    expect(api.asked).toEqual([])
  })
})

describe('sources in order', () => {
  const failing: CoreSource = {
    name: 'nowhere',
    identity: async () => '',
    find: () => Promise.reject(new Error('it is not there')),
    versions: () => Promise.reject(new Error('it is not there')),
  }

  test('tries the next source when one fails', async () => {
    api.publish('6.8.7')
    expect((await library({ sources: [failing, ...apiOnly()] }).ensure('latest')).version).toBe('6.8.7')
  })

  test('reports a machine with neither a network nor apt', async () => {
    const noTools = { env: { PATH: dataDir } }
    const stopped = run(process.execPath, [child, dataDir, 'http://127.0.0.1:1', 'latest'], noTools)
    const { stderr } = await stopped.catch((error: { stderr: string }) => error)
    expect(stderr).toContain('- the release API at http://127.0.0.1:1: http://127.0.0.1:1/core/version-check/1.7/:')
    expect(stderr).toMatch(/- Debian's package \(\w+\): (apt-get is missing on this server|Debian's signing keys)/)
    expect(stderr).toContain('Set STEAD_CORE_SOURCE to')
  })

  test('lists each source with its reason, and suggests what to do, when none works', async () => {
    const none = library({ sources: [failing, { ...failing, name: 'elsewhere' }] })
    await expect(none.ensure('latest')).rejects.toThrow(
      [
        'No source provides WordPress latest:',
        '- nowhere: it is not there',
        '- elsewhere: it is not there',
        'Set STEAD_CORE_SOURCE to a folder, .zip or .tar.gz with a WordPress release, then restart Stead.',
      ].join('\n'),
    )
    await expect(none.offers()).rejects.toThrow(CoreUnavailable)
  })
})

describe('from the configured archive or folder', () => {
  const configured = (coreSource: string) =>
    createCoreLibrary({
      dataDir,
      coreSource,
      wordpressApi: 'http://127.0.0.1:1',
      allowPrivate: true,
      log: { info: () => {}, warn: () => {} },
    })

  test.each(['zip', 'tar.gz', 'tgz'])('unpacks a .%s', async (kind) => {
    const entries = madeRelease('6.5.1')
    const path = join(dataDir, `release.${kind}`)
    await writeFile(path, kind === 'zip' ? makeZip(entries) : gzipSync(makeTar(entries)))
    expect(await configured(path).ensure('latest')).toMatchObject({ version: '6.5.1', files: 9 })
    expect(await leftovers()).toEqual([])
  })

  test('copies a folder, even of a site, follows links, and takes nothing that belongs to the site', async () => {
    const site = join(dataDir, 'site')
    for (const { name, content = '' } of madeRelease('6.5.1')) {
      const path = join(site, name.replace('wordpress/', ''))
      await mkdir(join(path, '..'), { recursive: true })
      await writeFile(path, content)
    }
    await writeFile(join(dataDir, 'library.php'), 'from elsewhere')
    await symlink(join(dataDir, 'library.php'), join(site, 'wp-includes/library.php'))
    await writeFile(join(site, 'wp-config.php'), 'secret')
    await mkdir(join(site, 'wp-content/uploads'))
    await writeFile(join(site, 'wp-content/uploads/a.jpg'), 'private')
    const core = await configured(site).ensure('latest')
    expect(core).toMatchObject({ version: '6.5.1', files: 10 })
    expect((await readdir(join(core.path, 'wp-content'))).sort()).toEqual(['index.php', 'themes'])
    expect(await readFile(join(core.path, 'wp-includes/library.php'), 'utf8')).toBe('from elsewhere')
  })

  test('takes another release in the same place at once', async () => {
    const path = join(dataDir, 'release.zip')
    await writeFile(path, makeZip(madeRelease('6.5.1')))
    await configured(path).ensure('latest')
    await writeFile(path, makeZip(madeRelease('6.5.2', [{ name: 'wordpress/more.php', content: 'x' }])))
    expect((await configured(path).ensure('latest')).version).toBe('6.5.2')
  })
})

describe('concurrent and interrupted calls', () => {
  const inChild = (version: string) => run(process.execPath, [child, dataDir, api.base, version])

  test('two processes and two simultaneous callers share one download and one core', async () => {
    api.publish('6.8.7')
    const results = await Promise.all([
      inChild('6.8.7'),
      inChild('latest'),
      library().ensure('latest'),
      library().ensure('6.8.7'),
    ])
    const cores = results.map((result) => ('stdout' in result ? JSON.parse(result.stdout) : result))
    expect(new Set(cores.map((core) => JSON.stringify(core))).size).toBe(1)
    expect(api.asked.filter((path) => path.endsWith('.zip'))).toHaveLength(1)
    expect(await leftovers()).toEqual([])
  })

  test('the remains of a killed process are not used, and are removed', async () => {
    api.publish('6.8.7')
    const begun = new Promise<void>((resolve) => {
      api.override('/release/wordpress-6.8.7.zip', (_request, response) => {
        response.writeHead(200).write('PK')
        resolve()
      })
    })
    const dying = spawn(process.execPath, [child, dataDir, api.base, '6.8.7'])
    await begun
    dying.kill('SIGKILL')
    await once(dying, 'exit')
    expect(await leftovers()).not.toEqual([])
    expect(await library().list()).toEqual([])
    await library().tidy()
    expect(await leftovers()).toEqual([])
    api.close()
    api = await startReleaseApi()
    api.publish('6.8.7')
    await mkdir(join(dataDir, 'cores', '.unpack-dead', 'core'), { recursive: true })
    expect((await library().ensure('6.8.7')).files).toBe(9)
    expect(await leftovers()).toEqual([])
  })

  test.each(['resolving', 'downloading', 'verifying', 'unpacking'])('recovers when killed while %s', async (phase) => {
    const big = Array.from({ length: 300 }, (_, index) => ({
      name: `wordpress/wp-includes/${index}.php`,
      content: 'x',
    }))
    api.publish('6.8.7', madeRelease('6.8.7', big))
    const dying = spawn(process.execPath, [child, dataDir, api.base, '6.8.7'])
    const exited = once(dying, 'exit')
    dying.stderr.on('data', (text) => String(text).includes(phase) && dying.kill('SIGKILL'))
    await exited
    const expected = await library({ dataDir: join(dataDir, 'other') }).ensure('6.8.7')
    for (const core of [...(await library().list()), await library().ensure('6.8.7')]) {
      expect(core.sha256).toBe(expected.sha256)
      expect(await sealTree(core.path)).toMatchObject({ sha256: expected.sha256, files: 309 })
    }
  })

  test('replaces a folder without its manifest, and a core with missing files', async () => {
    api.publish('6.8.7')
    const { path } = await library().ensure('6.8.7')
    await rm(join(dataDir, 'cores', '6.8.7.json'))
    await appendFile(join(path, 'index.php'), 'half written')
    expect(await library().list()).toEqual([])
    await library().ensure('6.8.7')
    expect(await readFile(join(path, 'index.php'), 'utf8')).not.toContain('half written')
    await rm(join(path, 'wp-settings.php'))
    expect(await library().list()).toEqual([])
    expect((await library().ensure('6.8.7')).files).toBe(9)
  })

  test('lets the caller abort, both while fetching and while waiting for another', async () => {
    api.publish('6.8.7')
    const caller = new AbortController()
    api.override('/release/wordpress-6.8.7.zip', () => caller.abort(new Error('enough')))
    const both = [library(), library()].map((each) => each.ensure('6.8.7', { signal: caller.signal }))
    for (const result of await Promise.allSettled(both)) expect(result.status).toBe('rejected')
    expect(await leftovers()).toEqual([])
  })
})
