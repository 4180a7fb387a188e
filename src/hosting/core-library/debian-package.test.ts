import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { packedRelease, startReleaseApi } from '../../../test/support/release-api.ts'
import { CoreUnavailable, createCoreLibrary } from './core-library.ts'
import type { CoreSource } from './core-source.ts'
import { debianPackageSource } from './sources/debian-package.ts'
import { releaseApiSource } from './sources/release-api.ts'

const run = promisify(execFile)
const hasApt = await run('apt-get', ['--version']).then(
  () => true,
  () => false,
)
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-debian-'))
})
afterAll(() => rm(folder, { recursive: true }))

const library = (name: string, source: CoreSource) =>
  createCoreLibrary({
    dataDir: join(folder, name),
    coreSource: undefined,
    wordpressApi: undefined,
    allowPrivate: true,
    log: { info: () => {}, warn: () => {} },
    sources: [source],
  })

test.skipIf(!hasApt)(
  'fetches a real WordPress from Debian, and the same one again from a release API',
  { timeout: 300_000 },
  async ({ skip }) => {
    const phases = new Set<string>()
    const fetching = library('debian', debianPackageSource()).ensure('latest', {
      onProgress: ({ phase }) => phases.add(phase),
    })
    const core = await fetching.catch((error: unknown) => {
      const unreachable = error instanceof CoreUnavailable && /offers no package|failed to fetch/i.test(error.message)
      return unreachable ? skip(error.message) : Promise.reject(error)
    })
    expect(phases).toEqual(new Set(['resolving', 'downloading', 'unpacking']))
    expect(core.files).toBeGreaterThan(2_500)
    const entries = await packedRelease(core.path)
    const bundle = entries.find((entry) => entry.name.endsWith('certificates/ca-bundle.crt'))
    expect(String(bundle?.content)).toContain('BEGIN CERTIFICATE')
    expect(entries.some((entry) => /^wordpress\/(\.htaccess|wp-config\.php)$/.test(entry.name))).toBe(false)

    const api = await startReleaseApi()
    try {
      api.publish(core.version, entries)
      const again = await library('api', releaseApiSource({ base: api.base, allowPrivate: true })).ensure('latest')
      expect([again.version, again.files, again.sha256]).toEqual([core.version, core.files, core.sha256])
    } finally {
      api.close()
    }
  },
)

test.skipIf(!hasApt)('does not provide a version other than Debian’s', async ({ skip }) => {
  const error: unknown = await library('other', debianPackageSource())
    .ensure('4.0')
    .catch((thrown) => thrown)
  if (/offers no package|failed to fetch/i.test(String(error))) skip(String(error))
  expect(String(error)).toMatch(/Debian's package .*: it offers [\d.]+, not 4\.0/)
})

describe('addresses come only from the machine’s configuration', () => {
  afterEach(() => vi.unstubAllEnvs())

  /**
   * Fetches as if this machine had only these package sources.
   * @returns the error of the attempt
   */
  async function fetchedWith(name: string, sources: string): Promise<string> {
    const [list, config] = ['list', 'conf'].map((kind) => join(folder, `${name}.${kind}`)) as [string, string]
    await writeFile(list, sources)
    await writeFile(
      config,
      `Dir::Etc::sourcelist "${list}"; Dir::Etc::sourceparts "/dev/null"; Acquire::http::Proxy "false";`,
    )
    vi.stubEnv('APT_CONFIG', config)
    return String(
      await library(name, debianPackageSource())
        .ensure('latest')
        .catch((error: unknown) => error),
    )
  }

  test.skipIf(!hasApt).each([
    ['none', ''],
    ['another-distribution', 'deb http://127.0.0.1:9/ubuntu noble main\n'],
    ['a-vendor', 'deb http://127.0.0.1:9/linux/debian bookworm stable\n'],
  ])('reports that there is no source: %s', async (name, sources) => {
    expect(await fetchedWith(name, sources)).toMatch(
      /Debian's package \(\w+\): (this server has no configured source of Debian packages|Debian's signing keys)/,
    )
  })

  test.skipIf(!hasApt)('sends requests only to the configured mirror', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url as string)
      response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    try {
      const reason = await fetchedWith('mirror', `deb http://127.0.0.1:${port}/pool/debian bookworm main\n`)
      expect(reason).toContain("Debian's package")
      expect(reason).not.toContain('is configured')
      if (!reason.includes("Debian's signing keys")) expect(asked).toContain('/pool/debian/dists/trixie/InRelease')
    } finally {
      server.close()
    }
  })
})
