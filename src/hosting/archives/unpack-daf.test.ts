import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MadeEntry } from '../../../test/support/archives.ts'
import { type DafForm, makeDaf } from '../../../test/support/hosted-archives.ts'
import { unpackDaf } from './unpack-daf.ts'
import { ArchiveRefused, type UnpackOptions } from './unpacked-tree.ts'

const options: UnpackOptions = { limits: { maxEntries: 100, maxBytes: 1 << 20 } }
let folder = ''
let into = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-daf-'))
  into = join(folder, 'in', 'to')
  await mkdir(into, { recursive: true })
})
afterEach(() => rm(folder, { recursive: true }))

async function unpackBytes(bytes: Uint8Array, more: Partial<UnpackOptions> = {}) {
  await writeFile(join(folder, 'a.daf'), bytes)
  return unpackDaf(join(folder, 'a.daf'), into, { ...options, ...more })
}
const unpack = (entries: readonly MadeEntry[], form: DafForm = {}) =>
  unpackBytes(makeDaf(entries, { pieceBytes: 1000, ...form }))

describe.each([
  ['5.0.1', true],
  ['5.0.1', false],
  ['1.0.0', true],
  ['1.0.0', false],
])('version %s, compressed: %s', (version, compressed) => {
  test('unpacks files of many pieces, empty files, and folders unchanged, without the table of contents', async () => {
    const content = randomBytes(50_500)
    const entries = [{ name: 'a/' }, { name: 'a/b/\u00fc.bin', content }, { name: 'empty' }]
    expect(await unpack(entries, { version, compressed })).toEqual({ files: 2, sizeBytes: content.length })
    expect(await readFile(join(into, 'a/b/\u00fc.bin'))).toEqual(content)
    expect((await stat(join(into, 'empty'))).size).toBe(0)
    expect((await readdir(into)).sort()).toEqual(['a', 'empty'])
  })

  test.each([
    ['a wrong checksum', { sum: '00000000' }, 'checksum is wrong'],
    ['a longer content than it has', { original: 3_000 }, 'not a valid'],
    ['a shorter content than it has', { original: 10 }, 'not a valid'],
    ['no content', { original: 0 }, 'not a valid'],
    ['more content than a piece may have', { original: 99_999_999 }, 'not a valid'],
    ['more stored bytes than a piece may have', { stored: 99_999_999 }, 'not a valid'],
    ['more stored bytes than the archive has', { stored: 9_999_999 }, 'cut off'],
  ])('refuses a piece that claims %s', async (_what, claims, says) => {
    let piece = 0
    // The first piece is that of the table of contents.
    const refused = unpack([{ name: 'a', content: randomBytes(2_500) }], {
      version,
      compressed,
      claims: () => (++piece === 2 ? claims : {}),
    })
    await expect(refused).rejects.toThrow(ArchiveRefused)
    await expect(refused).rejects.toThrow(says)
  })
})

test('keeps what a file gained while Duplicator read it, and refuses what it lost', async () => {
  await unpack([{ name: 'a', content: 'x'.repeat(900), claims: { sizeBytes: 100 } }])
  expect((await stat(join(into, 'a'))).size).toBe(900)
  await rm(join(into, 'a'))
  await expect(unpack([{ name: 'a', content: 'x', claims: { sizeBytes: 2 } }, { name: 'b' }])).rejects.toThrow(
    'not a valid',
  )
})

test('refuses pieces without content, with which a file would never end', async () => {
  const [head, ...rest] = makeDaf([]).toString('latin1').split('<G>')
  const bytes = [head, '<OS>0</OS><SS>0</SS><HA>00000000</HA></G>', ...rest].join('<G>')
  await expect(unpackBytes(Buffer.from(bytes, 'latin1'))).rejects.toThrow('not a valid')
})

test('refuses encrypted archives, also when only one file says so', async () => {
  const says = 'Create it again in Duplicator without encryption'
  await expect(unpack([{ name: 'a' }], { password: '$6$rounds=50000$<P>$hash' })).rejects.toThrow(says)
  await expect(unpack([], { password: 'a hash' }), 'its header').rejects.toThrow(says)
  const whole = makeDaf([{ name: 'a', content: 'x' }])
  whole[whole.lastIndexOf('<X>') + 3] = 3
  await expect(unpackBytes(whole)).rejects.toThrow(says)
})

test('stops an archive that expands a thousandfold at the limit', async () => {
  const archive = makeDaf([{ name: 'bomb', content: Buffer.alloc(1 << 25) }], { pieceBytes: 1 << 24 })
  expect(archive.length).toBeLessThan(200_000)
  await expect(unpackBytes(archive)).rejects.toThrow('larger than allowed')
  expect((await stat(join(into, 'bomb'))).size).toBeLessThanOrEqual(options.limits.maxBytes)
  const hidden = makeDaf([{ name: 'bomb', content: Buffer.alloc(1 << 25) }], {
    pieceBytes: 1 << 24,
    claims: () => ({ original: 1000 }),
  })
  await rm(join(into, 'bomb'))
  await expect(unpackBytes(hidden)).rejects.toThrow('not a valid')
})

test.each([
  '../x',
  'a/../../x',
  '/etc/x',
  '..',
  'C:/x',
  'a\\..\\x',
  'a\u0001b',
  `${'d/'.repeat(65)}x`,
  'n'.repeat(256),
])('never leaves the folder for the name %j', async (name) => {
  await expect(unpack([{ name, content: 'evil' }])).rejects.toThrow(ArchiveRefused)
  await expect(unpack([{ name: `${name}/` }])).rejects.toThrow(ArchiveRefused)
  expect([await readdir(into), await readdir(join(folder, 'in')), (await readdir(folder)).sort()]).toEqual([
    [],
    ['to'],
    ['a.daf', 'in'],
  ])
})

test('refuses a path that is longer than it says, or longer than any', async () => {
  const whole = makeDaf([{ name: 'abc', content: 'x' }]).toString('latin1')
  for (const length of ['0', '2', '4', '4101', '99999'])
    await expect(unpackBytes(Buffer.from(whole.replace('<RPL>3<', `<RPL>${length}<`), 'latin1'))).rejects.toThrow(
      ArchiveRefused,
    )
  expect(await readdir(into)).toEqual([])
})

test('refuses too many entries, duplicate names, and an aborted call', async () => {
  await expect(unpack(Array.from({ length: 101 }, (_, n) => ({ name: `f${n}` })))).rejects.toThrow('100 entries')
  await rm(into, { recursive: true })
  await mkdir(into)
  await expect(unpack([{ name: 'a' }, { name: 'a' }])).rejects.toThrow('there twice')
  const reason = new Error('enough')
  await expect(unpackBytes(makeDaf([{ name: 'b' }]), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

const site = (): MadeEntry[] => [
  { name: 'wp-content/' },
  { name: 'wp-content/a.txt', content: 'text '.repeat(500) },
  { name: 'empty' },
  { name: 'b.bin', content: Buffer.alloc(2_500, 'b') },
]

test('refuses or unpacks changed and cut archives, and never writes outside or leaves a file open', async () => {
  const open = () => readdir('/proc/self/fd').then((each) => each.length)
  const before = await open()
  const archives = (['1.0.0', '5.0.1'] as const).map((version) => makeDaf(site(), { version, pieceBytes: 1000 }))
  const change = fc.record({ at: fc.nat(), to: fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('<>/.0179'))) })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...archives),
      fc.array(change, { maxLength: 4 }),
      fc.option(fc.nat()),
      async (whole, changes, end) => {
        const bytes = Buffer.from(end === null ? whole : whole.subarray(0, end % whole.length))
        for (const { at, to } of changes) if (bytes.length > 0) bytes[at % bytes.length] = to
        await unpackBytes(bytes).catch((error) => expect(error).toBeInstanceOf(ArchiveRefused))
        expect(await readdir(join(folder, 'in'))).toEqual(['to'])
        await rm(into, { recursive: true })
        await mkdir(into)
      },
    ),
    { numRuns: 100 },
  )
  expect(await open()).toBe(before)
})

test('refuses an archive that is cut off inside an entry', async () => {
  const whole = makeDaf(site(), { pieceBytes: 1000 })
  const starts = [...whole.toString('latin1').matchAll(/<[DF]>/g)].map(({ index }) => index)
  for (const end of [0, 20, ...starts.flatMap((start) => [start - 1, start + 1, start + 60]), whole.length - 1]) {
    await expect(unpackBytes(whole.subarray(0, end))).rejects.toThrow(ArchiveRefused)
    await rm(into, { recursive: true })
    await mkdir(into)
  }
})
