import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type MadeEntry, makeTar, makeZip } from '../../../test/support/archives.ts'
import { unpackTar, unpackTarGz } from './unpack-tar.ts'
import { ArchiveRefused, type UnpackOptions, unpackZip } from './unpack-zip.ts'

const run = promisify(execFile)
const options: UnpackOptions = { limits: { maxEntries: 100, maxBytes: 1 << 20 } }
let folder = ''
let into = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-archives-'))
  into = join(folder, 'in', 'to')
  await mkdir(into, { recursive: true })
})
afterEach(() => rm(folder, { recursive: true }))

const kinds = {
  zip: async (entries: readonly MadeEntry[], more: Partial<UnpackOptions> = {}) => {
    await writeFile(join(folder, 'a.zip'), makeZip(entries))
    return unpackZip(join(folder, 'a.zip'), into, { ...options, ...more })
  },
  'tar.gz': async (entries: readonly MadeEntry[], more: Partial<UnpackOptions> = {}) => {
    await writeFile(join(folder, 'a.tar.gz'), gzipSync(makeTar(entries)))
    return unpackTarGz(join(folder, 'a.tar.gz'), into, { ...options, ...more })
  },
}

describe.each(Object.entries(kinds))('%s', (_kind, unpack) => {
  test('unpacks files and folders unchanged', async () => {
    const content = randomBytes(200_000)
    const result = await unpack([{ name: 'a/', mode: 0o040755 }, { name: 'a/b/c.bin', content }, { name: 'empty' }])
    expect(result).toEqual({ files: 2, sizeBytes: content.length })
    expect(await readFile(join(into, 'a/b/c.bin'))).toEqual(content)
    expect((await stat(join(into, 'empty'))).size).toBe(0)
  })

  test('drops set-user-id and execute bits', async () => {
    await unpack([{ name: 'x', content: '#!', mode: 0o104777 }])
    expect((await stat(join(into, 'x'))).mode & 0o7777 & ~0o644).toBe(0)
  })

  test('drops leading folders on request', async () => {
    await unpack(
      [
        { name: 'wordpress/', mode: 0o040755 },
        { name: 'wordpress/index.php', content: 'x' },
      ],
      { stripFolders: 1 },
    )
    expect(await readdir(into)).toEqual(['index.php'])
  })

  test.each(['../x', 'a/../../x', '/etc/x', 'a/b/../../../x', '..', 'C:/x', '..\\x', 'a\\..\\..\\x', 'a\u0001b'])(
    'never leaves the folder for the name %j',
    async (name) => {
      await unpack([{ name, content: 'evil' }]).catch((error) => expect(error).toBeInstanceOf(ArchiveRefused))
      expect(await readdir(join(folder, 'in'))).toEqual(['to'])
      expect((await readdir(folder)).filter((entry) => entry !== 'in' && !entry.startsWith('a.'))).toEqual([])
    },
  )

  test('refuses a link, even as part of a later path', async () => {
    const entries = [
      { name: 'way', linkTo: '../..' },
      { name: 'way/x', content: 'evil' },
    ]
    await expect(unpack(entries)).rejects.toThrow('neither a file nor a folder')
    expect(await readdir(into)).toEqual([])
  })

  test('refuses a duplicate name, and a file used as a folder', async () => {
    await expect(
      unpack([
        { name: 'a', content: '1' },
        { name: 'a', content: '2' },
      ]),
    ).rejects.toThrow(ArchiveRefused)
    await rm(join(into, 'a'))
    await expect(
      unpack([
        { name: 'a', content: '1' },
        { name: 'a/b', content: '2' },
      ]),
    ).rejects.toThrow(ArchiveRefused)
  })

  test('refuses too many entries, and too many bytes', async () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ name: `f${index}` }))
    await expect(unpack(many)).rejects.toThrow('more than the 100 entries')
    await expect(unpack([{ name: 'big', content: Buffer.alloc(2 << 20) }])).rejects.toThrow('larger than allowed')
  })

  test('lets the caller abort', async () => {
    const reason = new Error('enough')
    await expect(unpack([{ name: 'a' }], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('writes nothing outside, for any names', async () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b', '/', '\\', 'c:', '\u0000', '~')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(part, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        async (names) => {
          await unpack(names.map((parts) => ({ name: parts.join('/'), content: 'x' }))).catch((error) =>
            expect(error).toBeInstanceOf(ArchiveRefused),
          )
          expect(await readdir(join(folder, 'in'))).toEqual(['to'])
          await rm(into, { recursive: true })
          await mkdir(into)
        },
      ),
      { numRuns: 60 },
    )
  })
})

/** Creates a zip whose directory lists one entry many times. */
function sameBytes(times: number, content: Buffer): Buffer {
  const one = makeZip([{ name: '0000', content }])
  const end = one.length - 22
  const at = one.readUInt32LE(end + 16)
  const entries = Array.from({ length: times }, (_, n) => {
    const entry = Buffer.from(one.subarray(at, end))
    entry.write(String(n).padStart(4, '0'), 46)
    return entry
  })
  const tail = Buffer.from(one.subarray(end))
  tail.writeUInt16LE(times, 8)
  tail.writeUInt16LE(times, 10)
  tail.writeUInt32LE(times * (end - at), 12)
  return Buffer.concat([one.subarray(0, at), ...entries, tail])
}

describe('damage', () => {
  test.each([{ crc32: 1 }, { sizeBytes: 1 }, { sizeBytes: 99 }])(
    'refuses a zip entry that claims %j',
    async (claims) => {
      await expect(kinds.zip([{ name: 'a', content: 'hello', claims }])).rejects.toThrow(ArchiveRefused)
    },
  )

  test('refuses a zip that is cut off, and files that are not a zip', async () => {
    const whole = makeZip([{ name: 'a', content: randomBytes(10_000) }])
    for (const bytes of [whole.subarray(0, 5_000), Buffer.from('nonsense'), Buffer.alloc(0)]) {
      await writeFile(join(folder, 'a.zip'), bytes)
      await expect(unpackZip(join(folder, 'a.zip'), into, options)).rejects.toThrow(ArchiveRefused)
    }
  })

  test('refuses a tar.gz that is cut off or changed anywhere', async () => {
    const whole = gzipSync(makeTar([{ name: 'a', content: randomBytes(10_000) }]))
    for (const end of [0, 5, 3_000, whole.length - 1]) {
      await writeFile(join(folder, 'a.tar.gz'), whole.subarray(0, end))
      await expect(unpackTarGz(join(folder, 'a.tar.gz'), into, options)).rejects.toThrow(ArchiveRefused)
      await rm(join(into, 'a'), { force: true })
    }
    whole[5_000]! ^= 1
    await writeFile(join(folder, 'a.tar.gz'), whole)
    await expect(unpackTarGz(join(folder, 'a.tar.gz'), into, options)).rejects.toThrow(ArchiveRefused)
  })

  test('refuses random bytes as a tar', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3_000 }), async (bytes) => {
        await expect(unpackTar(Readable.from([Buffer.from(bytes)]), into, options)).rejects.toThrow(ArchiveRefused)
      }),
      { numRuns: 50 },
    )
  })

  test.each(['1', '2', '3', '4', '6', 'S'])('refuses a tar entry of type %s', async (flag) => {
    const source = Readable.from([makeTar([{ name: 'a', flag } as MadeEntry])])
    await expect(unpackTar(source, into, options)).rejects.toThrow(ArchiveRefused)
  })

  test('refuses a tar that is compressed once more, in pieces of any size', async () => {
    const nested = gzipSync(makeTar([{ name: 'a', content: 'x' }]))
    for (const pieces of [[nested], [nested.subarray(0, 1), Buffer.alloc(0), nested.subarray(1)]])
      await expect(unpackTar(Readable.from(pieces), into, options)).rejects.toThrow('not a valid tar archive')
    expect(await readdir(into)).toEqual([])
  })

  test('refuses a tar without its end, and one with much data after it', async () => {
    const whole = makeTar([{ name: 'a', content: 'x' }])
    await expect(unpackTar(Readable.from([whole.subarray(0, -1024)]), into, options)).rejects.toThrow('cut off')
    await rm(join(into, 'a'))
    const padding = Array.from({ length: 40 }, () => Buffer.alloc(65_536, 'x'))
    await expect(unpackTar(Readable.from([whole, ...padding]), into, options)).rejects.toThrow('data after the end')
  })

  test.each(['x', 'g', 'L', 'K'])('refuses a header of type %s that is too long', async (flag) => {
    const header = { name: 'header', content: Buffer.alloc(65_537, 'x'), flag } as MadeEntry
    await expect(unpackTar(Readable.from([makeTar([header, { name: 'a' }])]), into, options)).rejects.toThrow(
      ArchiveRefused,
    )
    expect(await readdir(into)).toEqual([])
  })

  const pax = (facts: Readonly<Record<string, string>>, flag = 'x') => {
    const lines = Object.entries(facts).map(([key, value]) => {
      const rest = ` ${key}=${value}\n`
      const length = [1, 2, 3, 4]
        .map((digits) => Buffer.byteLength(rest) + digits)
        .find((n, at) => `${n}`.length === at + 1)
      return `${length}${rest}`
    })
    return { name: 'PaxHeader', content: lines.join(''), flag } as MadeEntry
  }

  test.each([
    ['a name that leaves its folder', pax({ path: '../../x' })],
    ['an absolute name', pax({ path: '/tmp/x' })],
    ['a name that is too long', pax({ path: 'n'.repeat(300) })],
    ['a path that is too deep', pax({ path: 'd/'.repeat(70) })],
    ['a size that no disk has', pax({ size: '9007199254740993' })],
  ])('refuses a tar whose header before an entry gives it %s', async (_what, header) => {
    const source = Readable.from([makeTar([header, { name: 'a', content: 'evil' }])])
    await expect(unpackTar(source, into, options)).rejects.toThrow(ArchiveRefused)
    expect(await readdir(join(folder, 'in'))).toEqual(['to'])
    expect(await readdir(folder)).toEqual(['in'])
  })

  test.each([
    ['a name for all that follow', pax({ path: '../../x' }, 'g')],
    ['a name with a byte that ends it elsewhere', pax({ path: 'a\0/../../x' })],
    ['a size below nothing', pax({ size: '-1' })],
  ])('ignores %s in a header before a tar entry, and uses the entry’s own values', async (_what, header) => {
    const source = Readable.from([makeTar([header, { name: 'a', content: 'evil' }])])
    expect(await unpackTar(source, into, options)).toEqual({ files: 1, sizeBytes: 4 })
    expect([await readdir(into), await readdir(join(folder, 'in')), await readdir(folder)]).toEqual([
      ['a'],
      ['to'],
      ['in'],
    ])
  })

  test('writes no more than the content of a tar with sparse pax files', async () => {
    const holes = {
      'GNU.sparse.major': '1',
      'GNU.sparse.minor': '0',
      'GNU.sparse.name': '../x',
      'GNU.sparse.realsize': '9999999999',
    }
    const { sizeBytes } = await unpackTar(
      Readable.from([makeTar([pax(holes), { name: 'a', content: 'x' }])]),
      into,
      options,
    )
    expect([sizeBytes, await readdir(into), await readdir(join(folder, 'in'))]).toEqual([1, ['a'], ['to']])
  })

  test('stops a zip of 130 kB that expands a thousandfold at the limit', async () => {
    const bomb = { name: 'bomb', content: Buffer.alloc(1 << 27) }
    const archive = makeZip([bomb])
    expect(archive.length).toBeLessThan(200_000)
    await writeFile(join(folder, 'a.zip'), archive)
    await expect(unpackZip(join(folder, 'a.zip'), into, options)).rejects.toThrow('larger than allowed')
    expect((await stat(join(into, 'bomb'))).size).toBeLessThanOrEqual(options.limits.maxBytes)
  })

  test('counts each entry of a zip whose entries share the same bytes', async () => {
    await writeFile(join(folder, 'a.zip'), sameBytes(90, Buffer.alloc(100_000)))
    await expect(unpackZip(join(folder, 'a.zip'), into, options)).rejects.toThrow(ArchiveRefused)
    const sizes = await Promise.all((await readdir(into)).map(async (name) => (await stat(join(into, name))).size))
    expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(options.limits.maxBytes)
  })

  test('refuses a zip that claims more entries than it has', async () => {
    const whole = makeZip([{ name: 'a', content: 'x' }])
    whole.writeUInt16LE(0xfffe, whole.length - 12)
    await writeFile(join(folder, 'a.zip'), whole)
    await expect(unpackZip(join(folder, 'a.zip'), into, options)).rejects.toThrow(ArchiveRefused)
  })

  test.each([
    ['a device', 0o020666],
    ['a FIFO', 0o010666],
    ['a socket', 0o140666],
    ['a block device', 0o060666],
  ])('refuses a zip entry that is %s', async (_what, mode) => {
    await expect(kinds.zip([{ name: 'a', mode }])).rejects.toThrow('neither a file nor a folder')
    expect(await readdir(into)).toEqual([])
  })

  test('ignores the mode bits of a folder in a zip', async () => {
    await kinds.zip([{ name: 'd/', mode: 0o047777 }])
    expect((await stat(join(into, 'd'))).mode & 0o7022).toBe(0)
  })

  test('accepts names of 255 bytes, and refuses longer ones and deeper paths before writing anything', async () => {
    await kinds.zip([{ name: 'n'.repeat(255), content: 'x' }])
    await rm(join(into, 'n'.repeat(255)))
    for (const name of ['n'.repeat(256), '\u00fc'.repeat(128), 'd/'.repeat(65)])
      await expect(kinds.zip([{ name, content: 'x' }])).rejects.toThrow('a path that is too long')
    expect(await readdir(into)).toEqual([])
  })

  test('stops reading an archive once it is refused, and leaves no file open', async () => {
    const open = () => readdir('/proc/self/fd').then((each) => each.length)
    const before = await open()
    let pieces = 0
    const endless = (async function* () {
      yield makeTar([{ name: 'a', content: 'x' }, { name: '/etc/x' }]).subarray(0, -1024)
      for (; pieces < 1000; pieces++) yield makeTar([{ name: `f${pieces}`, content: randomBytes(60_000) }])
    })()
    await expect(unpackTar(Readable.from(endless, { highWaterMark: 1 }), into, options)).rejects.toThrow(
      'absolute path',
    )
    expect(pieces).toBeLessThan(10)
    for (const end of [700, 2_000, 60_000]) {
      await rm(join(into, 'a'), { force: true })
      const cut = makeTar([{ name: 'a', content: randomBytes(100_000) }]).subarray(0, end)
      await expect(unpackTar(Readable.from([cut]), into, options)).rejects.toThrow(ArchiveRefused)
    }
    expect(await open()).toBe(before)
  })

  test('does not read empty entries ahead of processing them', async () => {
    const [piecesOf, entriesOf] = [2_000, 120]
    let pieces = 0
    const source = (async function* () {
      for (; pieces < piecesOf; pieces++)
        yield makeTar(Array.from({ length: entriesOf }, (_, n) => ({ name: `${pieces}-${n}` }))).subarray(0, -1024)
    })()
    const limits = { maxEntries: 300, maxBytes: 1 }
    await expect(unpackTar(Readable.from(source, { highWaterMark: 1 }), into, { limits })).rejects.toThrow(
      '300 entries',
    )
    expect(pieces).toBeLessThan(10)
  })

  test('counts files that arrive in one piece together', async () => {
    const entries = Array.from({ length: 20 }, (_, n) => ({ name: `f${n}`, content: Buffer.alloc(1000) }))
    const limits = { maxEntries: 100, maxBytes: 10_500 }
    await expect(unpackTar(Readable.from([makeTar(entries)]), into, { limits })).rejects.toThrow('larger than allowed')
    expect((await readdir(into)).length).toBeLessThan(12)
  })

  test('reports a missing archive as a system error', async () => {
    await expect(unpackZip(join(folder, 'none'), into, options)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(unpackTarGz(join(folder, 'none'), into, options)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

test.each(['gnu', 'pax', 'ustar'])('unpacks what the tar program packs in its %s format', async (format) => {
  const long = `${'long-'.repeat(10)}/${'long-'.repeat(10)}/${'name-'.repeat(18)}ü.txt`
  const source = join(folder, 'source')
  await mkdir(join(source, 'x', long, '..'), { recursive: true })
  await writeFile(join(source, 'x', long), 'deep')
  await writeFile(join(source, 'x', 'plain'), randomBytes(70_000))
  await run('tar', [`--format=${format}`, '-czf', join(folder, 'a.tgz'), '-C', source, 'x'])
  await unpackTarGz(join(folder, 'a.tgz'), into, options)
  await run('diff', ['-r', source, into])
})
