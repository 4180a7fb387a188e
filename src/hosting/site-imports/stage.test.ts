import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type MadeEntry, makeTar, makeZip } from '../../../test/support/archives.ts'
import { archivesOf, contentFiles, makeDaf, makeDump, makeWpress } from '../../../test/support/hosted-archives.ts'
import { ArchiveRefused } from '../archives/unpack-zip.ts'
import { lookAtContent } from './look-at-content.ts'
import { stageDatabase } from './stage-database.ts'
import { contentFolder, stageFiles } from './stage-files.ts'

let folder = ''
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'stead-imports-')), 'staging')
  await mkdir(folder)
})
afterEach(() => rm(join(folder, '..'), { recursive: true }))

const signal = new AbortController().signal
const bounds = { maxBytes: 1 << 20, maxEntries: 100, keepFreeBytes: 0, signal }

async function stage(files: Readonly<Record<string, Buffer>>, more: Partial<typeof bounds> = {}) {
  await mkdir(join(folder, 'sent'), { recursive: true })
  const sources = Object.keys(files).map((name, at) => ({ name, path: join(folder, 'sent', String(at)) }))
  for (const [at, content] of Object.values(files).entries()) await writeFile(join(folder, 'sent', String(at)), content)
  const options = { ...bounds, ...more }
  const staged = await stageFiles(folder, sources, options)
  return { staged, database: await stageDatabase(folder, staged, options) }
}

const filesIn = async (path: string) =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort()

const archives = Object.entries(archivesOf).map(
  ([name, make]) => [name, name.startsWith('daf') ? 'duplicator' : name, make] as const,
)
describe.each(archives)('%s', (_name, format, make) => {
  test('finds files and the database, and reports what stays behind', async () => {
    const { staged, database } = await stage(make())
    expect(staged).toMatchObject({ format, links: format === 'files' ? 1 : 0 })
    expect(await filesIn(join(contentFolder(folder), 'wp-content'))).toEqual(
      expect.arrayContaining(contentFiles.map(({ name }) => name)),
    )
    const content = await lookAtContent(contentFolder(folder), signal)
    expect(content.leftBehind).toEqual(
      expect.arrayContaining([
        { path: 'cache', reason: 'cache' },
        { path: 'mu-plugins/kinsta-mu-plugins.php', reason: 'host' },
        { path: 'object-cache.php', reason: 'drop-in' },
      ]),
    )
    expect(content).toMatchObject({ files: 5, themes: ['plain'], mustUsePlugins: ['own.php'] })
    expect(content.plugins).toMatchObject([{ path: 'forms', name: 'Forms', version: '1.2', requiresPhp: '9.9' }])
    const prefix = format === 'duplicator' ? 'old_' : 'wp_'
    expect(database).toMatchObject({ prefix, tables: 5, otherTables: 0, isNetwork: false })
    expect(database.options).toMatchObject({ home: 'https://old.example.com', blogname: 'Imported' })
    // The same again, after a crash.
    expect((await stage(make())).staged).toEqual(staged)
  })
})

test('stages an UpdraftPlus set in one archive', async () => {
  const set = Object.entries(archivesOf.updraftplus()).map(([name, content]) => ({ name: `set/${name}`, content }))
  const { staged, database } = await stage({ 'set.zip': makeZip(set) })
  expect([staged.format, database.tables]).toEqual(['updraftplus', 5])
  expect((await lookAtContent(contentFolder(folder), signal)).files).toBe(5)
})

const site = (more: readonly MadeEntry[] = []): MadeEntry[] => [
  { name: 'wp-content/themes/plain/style.css', content: '' },
  { name: 'database.sql', content: makeDump() },
  ...more,
]
const kinds = {
  zip: (entries: readonly MadeEntry[]) => makeZip(entries),
  'tar.gz': (entries: readonly MadeEntry[]) => gzipSync(makeTar(entries)),
  wpress: (entries: readonly MadeEntry[]) => makeWpress(entries),
  daf: (entries: readonly MadeEntry[]) => makeDaf(entries),
}

describe.each(Object.entries(kinds))('hostile archives: %s', (kind, make) => {
  const refused = async (entries: readonly MadeEntry[], more: Partial<typeof bounds> = {}) =>
    expect(stage({ 'evil.bin': make(entries) }, more)).rejects.toThrow(ArchiveRefused)

  test.each(['../../evil', 'a/../../../evil', '/evil', 'a\u0001'])(
    'writes nothing outside for the name %j',
    async (name) => {
      await refused(site([{ name, content: 'evil' }]))
      expect((await readdir(folder)).sort()).toEqual(['raw', 'sent'])
      expect(await readdir(join(folder, '..'))).toEqual(['staging'])
    },
  )

  test('refuses too many entries, too many bytes, a duplicate name, and a wrong size', async () => {
    await refused(site(Array.from({ length: 101 }, (_, at) => ({ name: `f${at}` }))))
    await refused(site([{ name: 'bomb', content: Buffer.alloc(2 << 20) }]))
    await refused(site([{ name: 'twice' }, { name: 'twice' }]))
    await refused(site([{ name: 'lie', content: 'x', claims: { sizeBytes: 4_000_000 } }]))
  })

  test('refuses cut and changed archives', async () => {
    const whole = make(site())
    for (const end of [whole.length >> 1, whole.length - 1])
      await expect(stage({ 'evil.bin': whole.subarray(0, end) })).rejects.toThrow(ArchiveRefused)
  })

  test.skipIf(kind === 'wpress' || kind === 'daf')('leaves out links, and counts them', async () => {
    const links = [
      { name: 'wp-content/uploads/way', linkTo: '/etc' },
      { name: 'wp-content/uploads/up', linkTo: '../../../..' },
    ]
    expect((await stage({ 'evil.bin': make(site(links)) })).staged.links).toBe(2)
    await expect(
      stage({ 'evil.bin': make(site([...links, { name: 'wp-content/uploads/way', content: '1' }])) }),
    ).resolves.toBeDefined()
  })
})

test.each([
  [[{ name: 'a.txt', content: '' }], 'no wp-content folder'],
  [[{ name: 'wp-content/themes/a/style.css' }], 'no database dump'],
  [[...site(), { name: 'other/wp-content/themes/a/style.css' }].map((e) => ({ ...e, name: `x/${e.name}` })), undefined],
  [[{ name: 'a/wp-content/themes/x' }, { name: 'b/wp-content/themes/x' }, { name: 'database.sql' }], 'several sites'],
  [
    [{ name: 'wp-content/themes/x' }, { name: 'database.sql', content: '-- nothing\n-- Dump completed\n' }],
    'It has no tables',
  ],
  [[{ name: 'wp-content/themes/x' }, { name: 'database.sql', content: 'DROP DATABASE' }], 'cannot be used'],
  [
    [{ name: 'wp-content/themes/x' }, { name: 'database.sql', content: makeDump().replaceAll('usermeta', 'somebody') }],
    'it lacks wp_users or wp_usermeta',
  ],
] as [MadeEntry[], string | undefined][])('accepts or refuses archive %#', async (entries, says) => {
  const staging = stage({ 'a.zip': makeZip(entries) })
  if (says) await expect(staging).rejects.toThrow(says)
  else await expect(staging).resolves.toBeDefined()
})

test('refuses encrypted and custom-compressed archives, and files that are not archives', async () => {
  const wpress = (facts: object) =>
    makeWpress([
      { name: 'package.json', content: JSON.stringify(facts) },
      { name: 'database.sql', content: '-- ' },
    ])
  await expect(stage({ a: wpress({ Encrypted: true }) })).rejects.toThrow('encrypted')
  await expect(stage({ a: wpress({ Compression: { Enabled: true } }) })).rejects.toThrow('without compression')
  await expect(stage({ a: Buffer.from('BZh91AY') })).rejects.toThrow('bzip2')
  await expect(stage({ a: makeDaf(site(), { password: '$6$rounds=50000$a<b$c' }) })).rejects.toThrow(
    'is encrypted. Create it again',
  )
  await expect(stage({ a: Buffer.from([0, 1, 2]) })).rejects.toThrow('neither a .zip')
  await expect(stage({ a: Buffer.alloc(0) })).rejects.toThrow('empty')
  await expect(stage({ a: gzipSync(makeDump({ more: `-- ${'x'.repeat(2 << 20)}\n` })) })).rejects.toThrow('larger than')
})

test('stages an archive that tar creates', async () => {
  const from = join(folder, 'made')
  await mkdir(join(from, 'htdocs/wp-content/themes/plain'), { recursive: true })
  await writeFile(join(from, 'htdocs/wp-content/themes/plain/style.css'), 'css')
  await writeFile(join(from, 'backup.sql'), makeDump())
  execFileSync('tar', ['-czf', join(folder, 'made.tgz'), '-C', from, '.'])
  const { database } = await stage({ 'made.tgz': await readFile(join(folder, 'made.tgz')) })
  expect(database.tables).toBe(5)
})
