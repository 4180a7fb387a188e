import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeZip } from '../../../test/support/archives.ts'
import { type PluginDirectoryServer, startPluginDirectory } from '../../../test/support/plugin-directory.ts'
import { FetchError, FetchRefused } from '../../platform/fetch/fetch-public.ts'
import { ArchiveRefused } from '../archives/unpack-zip.ts'
import { createPluginDirectory } from './plugin-directory.ts'
import { createPluginPackages, type PackageOrder } from './plugin-packages.ts'

let server: PluginDirectoryServer
let dataDir: string
beforeEach(async () => {
  server = await startPluginDirectory()
  dataDir = await mkdtemp(join(tmpdir(), 'stead-packages-'))
})
afterEach(async () => {
  server.close()
  await rm(dataDir, { recursive: true })
})

const info = '/plugins/info/1.2/'

describe('the plugin directory', () => {
  const directory = () => createPluginDirectory({ base: server.base, allowPrivate: false })

  test('returns the newest release, and the address of each release', async () => {
    const first = server.publish('forms', '1.0', {})
    const second = server.publish('forms', '2.0', {})
    const found = await directory().find('forms')
    expect([found?.version, [...(found?.packages ?? [])]]).toEqual([
      '2.0',
      [
        ['1.0', first],
        ['2.0', second],
      ],
    ])
  })

  test('returns none that is unknown or was closed', async () => {
    expect(await directory().find('forms')).toBeUndefined()
    server.override(info, (_, response) => void response.end(JSON.stringify({ error: 'closed', reason: 'x' })))
    expect(await directory().find('forms')).toBeUndefined()
  })

  test('accepts a plugin without other releases, and never its trunk', async () => {
    const answer = { slug: 'forms', version: '2.0', download_link: 'https://example.com/a.zip' }
    server.override(info, (_, response) => void response.end(JSON.stringify({ ...answer, versions: [] })))
    expect([...((await directory().find('forms'))?.packages.keys() ?? [])]).toEqual(['2.0'])
    const versions = { trunk: 'https://example.com/trunk.zip', '1.0': 'https://example.com/1.zip' }
    server.override(info, (_, response) => void response.end(JSON.stringify({ ...answer, versions })))
    expect([...((await directory().find('forms'))?.packages.keys() ?? [])]).toEqual(['1.0', '2.0'])
  })

  test.each(['null', '{}', '{"slug":"forms","version":5,"download_link":"x"}', 'not json'])(
    'treats an invalid answer (%s) as an error, and not as a plugin',
    async (text) => {
      server.override(info, (_, response) => void response.end(text))
      await expect(directory().find('forms')).rejects.toThrow(FetchError)
    },
  )

  test('reports a server error', async () => {
    server.override(info, (_, response) => void response.writeHead(500).end())
    await expect(directory().find('forms')).rejects.toThrow('status 500')
  })
})

describe('packages', () => {
  const packages = (base: string | undefined = server.base) =>
    createPluginPackages({ dataDir, base, allowPrivate: false })
  const order = (url: string): PackageOrder => ({ url, otherwise: 'forms', signal: AbortSignal.timeout(60_000) })
  const filesOf = (url: string) =>
    packages().withPackage('key', order(url), async ({ path, folder }) => {
      expect(await readdir(path)).toEqual([folder])
      return [folder, (await readdir(join(path, folder))).sort()]
    })
  const serve = (entries: Parameters<typeof makeZip>[0]) => {
    server.override('/a.zip', (_, response) => void response.end(makeZip(entries)))
    return `${server.base}/a.zip`
  }

  test('have the folder of the archive, and leave nothing behind', async () => {
    const url = server.publish('forms', '1.0', { 'forms.php': '<?php', 'js/forms.js': '1' })
    expect(await filesOf(url)).toEqual(['forms', ['forms.php', 'js']])
    expect(await readdir(join(dataDir, 'packages'))).toEqual([])
  })

  test('get a folder if they have none, without files that a desktop has added', async () => {
    expect(await filesOf(serve([{ name: 'a.php' }, { name: '__MACOSX/a.php' }]))).toEqual(['forms', ['a.php']])
    expect(await filesOf(serve([{ name: 'b/a.php' }, { name: '__MACOSX/a.php' }]))).toEqual(['b', ['a.php']])
  })

  test('replace what a crash has left behind', async () => {
    const url = server.publish('forms', '1.0', { 'forms.php': '<?php' })
    // Never continues.
    await new Promise<void>((begun) => {
      packages().withPackage('key', order(url), () => new Promise<never>(() => begun()))
    })
    expect(await filesOf(url)).toEqual(['forms', ['forms.php']])
  })

  test.each([
    ['that lead out of their folder', [{ name: '../../evil.php' }]],
    ['with links', [{ name: 'a/b', linkTo: '/etc/passwd' }]],
    ['with nothing in them', []],
  ])('are refused if they are %s', async (_, entries) => {
    await expect(filesOf(serve(entries))).rejects.toThrow(ArchiveRefused)
    expect(await readdir(join(dataDir, 'packages'))).toEqual([])
  })

  test('are requested again from a server that fails once, and not from one that refuses', async () => {
    const zip = makeZip([{ name: 'forms/forms.php', content: '<?php' }])
    let asked = 0
    server.override('/a.zip', (_, response) => void (++asked === 1 ? response.writeHead(502).end() : response.end(zip)))
    expect(await filesOf(`${server.base}/a.zip`)).toEqual(['forms', ['forms.php']])
    let refused = 0
    server.override('/b.zip', (_, response) => {
      refused++
      response.writeHead(403).end()
    })
    await expect(filesOf(`${server.base}/b.zip`)).rejects.toThrow('status 403')
    expect([asked, refused]).toEqual([2, 1])
  })

  test('are not downloaded from this machine if a user names them', async () => {
    const url = server.publish('forms', '1.0', { 'forms.php': '<?php' }).replace('http:', 'https:')
    const other = packages('https://elsewhere.example.com')
    await expect(other.withPackage('key', order(url), async () => {})).rejects.toThrow(FetchRefused)
  })

  test('keep the bytes of the archive', async () => {
    const url = server.publish('forms', '1.0', { 'forms.php': 'content' })
    const read = packages().withPackage('key', order(url), ({ path }) =>
      readFile(join(path, 'forms/forms.php'), 'utf8'),
    )
    expect(await read).toBe('content')
  })
})
