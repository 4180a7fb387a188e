import { execFile } from 'node:child_process'
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MadeEntry } from '../../../test/support/archives.ts'
import { startReleaseApi } from '../../../test/support/release-api.ts'
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

test.skipIf(!hasApt)('a real WordPress from Debian, and the same one again from a release API', async ({ skip }) => {
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
  const entries = await entriesOf(core.path)
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
})

test.skipIf(!hasApt)('another version than the one that Debian has is not to be had there', async ({ skip }) => {
  const error: unknown = await library('other', debianPackageSource())
    .ensure('4.0')
    .catch((thrown) => thrown)
  if (/offers no package|failed to fetch/i.test(String(error))) skip(String(error))
  expect(String(error)).toMatch(/Debian's package .*: it offers [\d.]+, not 4\.0/)
})

async function entriesOf(root: string, name = ''): Promise<MadeEntry[]> {
  const entries: MadeEntry[] = []
  for (const part of (await readdir(join(root, name))).sort()) {
    const inner = name ? `${name}/${part}` : part
    const stats = await lstat(join(root, inner))
    expect(stats.isDirectory() || stats.isFile()).toBe(true)
    if (stats.isDirectory()) entries.push(...(await entriesOf(root, inner)))
    else entries.push({ name: `wordpress/${inner}`, content: await readFile(join(root, inner)) })
  }
  return entries
}
