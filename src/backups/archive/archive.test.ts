import { execFileSync, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BackupDamaged, BackupMissing } from '../backup-store.ts'
import { archiveBytes, measureArchive } from './archive.ts'
import { ArchiveLengths, PIECE } from './archive-lengths.ts'
import { Bzip2Threads } from './bzip2-threads.ts'
import { type TreeSource, tarBytes } from './tar.ts'
import { folder, link, MemoryTree } from './trees.fixture.ts'

const hasTools = spawnSync('bzip2', ['--help']).status === 0 && spawnSync('tar', ['--version']).stdout?.includes('GNU')

let threads: Bzip2Threads
let scratch: string
beforeAll(async () => {
  threads = new Bzip2Threads(1)
  scratch = await mkdtemp(join(tmpdir(), 'stead-archive-'))
})
afterAll(async () => {
  await threads.close()
  await rm(scratch, { recursive: true, force: true })
})

async function all(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}

const { signal } = new AbortController()
const archive = (sources: readonly TreeSource[], start = 0, lengths = new ArchiveLengths()) =>
  archiveBytes(sources, start, { lengths, threads, signal })

/** Noise would take a second per block. */
const lines = (bytes: number): Buffer =>
  Buffer.from(
    Array.from({ length: bytes / 16 + 1 }, (_, line) => `${line ** 2}`.padStart(15, ' ')).join('\n'),
  ).subarray(0, bytes)

const long = (length: number, end = '') => `${'n'.repeat(length - end.length)}${end}`

/** Returns a tree of several blocks, with most of the oddities that a tree can have. */
function oddTree(): MemoryTree {
  const deep = Array.from({ length: 12 }, (_, level) => `${level}-${'d'.repeat(60)}`)
  return new MemoryTree()
    .add(folder('wp-content', 0o2777), folder('wp-content/uploads'))
    .file('wp-content/uploads/photo.jpg', lines(2 * PIECE + 12_345))
    .file('wp-content/uploads/empty', '')
    .file('wp-content/uploads/a block', Buffer.alloc(512, 7))
    .file(`wp-content/${long(100, '.txt')}`, 'longer than the field')
    .file(`wp-content/${long(240, '.txt')}`, 'long')
    .add(...deep.map((_, level) => folder(deep.slice(0, level + 1).join('/'))))
    .file(`${deep.join('/')}/deepest`, 'deep')
    .file('Grüße/日本 🎉', 'foreign')
    .file('two\nlines', 'of a name')
    .file('a\\b"c\'d $(e) *', 'for a shell')
    .file('-rf', 'an option')
    .file('run.sh', 'all may', { mode: 0o6777 })
    .file('wp-config.php', 'secret', { mode: 0o400 })
    .file('old', 'before there was time', { mtimeMs: -5e12 })
    .file('new', 'after it', { mtimeMs: 9e15 })
    .add(link('shop', 'wp-content/shop'), link('far', `../${long(200)}`), link('absolute', '/etc/passwd'))
    .file('index.php', '<?php')
}

describe.skipIf(!hasTools)('an archive, unpacked with GNU tar', () => {
  it('restores each file, folder and link', async () => {
    const tree = oddTree()
    const directory = await mkdtemp(join(scratch, 'out-'))
    execFileSync('tar', ['-xjf', '-', '-C', directory], { input: await all(archive([tree.source])), stdio: 'pipe' })
    const found: string[] = []
    for await (const entry of tree.entries('tree')) {
      const at = join(directory, entry.path)
      const stats = await lstat(at)
      found.push(entry.path)
      if (entry.kind === 'link') expect(await readlink(at)).toBe(entry.target)
      if (entry.kind === 'folder') expect(stats.isDirectory()).toBe(true)
      if (entry.kind !== 'file') continue
      expect((await readFile(at)).equals(await all(tree.readFile({ ...entry })))).toBe(true)
      expect(stats.mode & 0o777, entry.path).toBe({ 'run.sh': 0o755, 'wp-config.php': 0o600 }[entry.path] ?? 0o644)
    }
    expect((await readdir(directory, { recursive: true })).sort()).toEqual([...found, 'Grüße'].sort())
    expect((await lstat(join(directory, 'index.php'))).mtimeMs).toBe(1.7e12)
    expect((await lstat(join(directory, 'old'))).mtimeMs).toBe(0)
  })

  it('lists numeric owners, no bits that change the user of a program, and no warning', async () => {
    const { stdout, stderr } = spawnSync('tar', ['-tvjf', '-'], {
      input: await all(archive([oddTree().source])),
      env: { LC_ALL: 'C' },
    })
    const lines = stdout.toString().trim().split('\n')
    expect(stderr.toString()).toBe('')
    for (const line of lines) expect(line).toMatch(/^[-dl](rwxrwxrwx|rw[x-]r-[x-]r-[x-]|rw-------) 0\/0 /)
  })

  it('stores the size of a file larger than 8 GB', async () => {
    const zeros = 9 * 2 ** 30
    const bytes = tarBytes([new MemoryTree().file('dump.sql', { zeros }).source])
    const { value } = await bytes.next()
    await bytes.return(undefined)
    expect(spawnSync('tar', ['-tvf', '-'], { input: value }).stdout.toString()).toContain(` ${zeros} `)
  })

  it('contains several trees, of which the last wins', async () => {
    const core = new MemoryTree().add(folder('wp-admin')).file('wp-admin/admin.php', 'core').file('readme', 'core')
    const site = new MemoryTree().file('readme', 'site')
    const directory = await mkdtemp(join(scratch, 'out-'))
    const input = await all(archive([core.source, site.source]))
    execFileSync('tar', ['-xjf', '-', '-C', directory], { input })
    expect(await readFile(join(directory, 'wp-admin/admin.php'), 'utf8')).toBe('core')
    expect(await readFile(join(directory, 'readme'), 'utf8')).toBe('site')
  })
})

describe('a part of an archive', () => {
  it('has the same bytes as in the whole, wherever it begins and however many blocks are known', async () => {
    const tree = oddTree()
    const lengths = new ArchiveLengths()
    const whole = await all(archive([tree.source], 0, lengths))
    expect(lengths.totalBytes).toBe(whole.length)
    const block = lengths.blockAt(whole.length).place.bits / 8
    const starts = [0, 3, 4, 5, Math.floor(block), Math.ceil(block), whole.length - 11, whole.length - 1, whole.length]
    for (const start of starts)
      expect((await all(archive([tree.source], start, lengths))).equals(whole.subarray(start)), `${start}`).toBe(true)
    for (const start of [1, 1000, Math.ceil(block)])
      expect((await all(archive([tree.source], start))).equals(whole.subarray(start)), `${start}`).toBe(true)
  })

  it('has the same bytes of the tar, wherever it begins', async () => {
    const tree = oddTree()
    const whole = await all(tarBytes([tree.source, tree.source]))
    for (const start of [1, 511, 512, 513, 100_000, 1_450_000, whole.length - 1024, whole.length - 1])
      expect((await all(tarBytes([tree.source, tree.source], start))).equals(whole.subarray(start))).toBe(true)
  })

  it('does not read the content before it', async () => {
    const tree = new MemoryTree().file('one', lines(4 * PIECE)).file('other', lines(PIECE))
    const lengths = new ArchiveLengths()
    const whole = await all(archive([tree.source], 0, lengths))
    tree.read = 0
    await all(archive([tree.source], whole.length - 1000, lengths))
    expect(tree.read).toBeLessThan(2 * PIECE)
  })

  it('begins where an earlier reader stopped, with the blocks learned so far', async () => {
    const tree = new MemoryTree().file('one', lines(4 * PIECE))
    const first = new ArchiveLengths()
    let taken = 0
    for await (const piece of archive([tree.source], 0, first)) {
      taken += piece.length
      if (first.count > 2) break
    }
    expect(first.totalBytes).toBeUndefined()
    const { bytes, isWhole } = first.encode()
    const kept = ArchiveLengths.decode(bytes, isWhole)
    expect(kept.knownBytes).toBe(first.knownBytes)
    expect(kept.knownBytes).toBeGreaterThanOrEqual(taken)
    await measureArchive([tree.source], taken, { lengths: kept, threads, signal })
    expect(kept.totalBytes).toBeUndefined()
    await measureArchive([tree.source], Number.POSITIVE_INFINITY, { lengths: kept, threads, signal })
    const whole = await all(archive([tree.source]))
    expect(kept.totalBytes).toBe(whole.length)
    expect((await all(archive([tree.source], taken, kept))).equals(whole.subarray(taken))).toBe(true)
  })
})

describe('an archive that cannot be built', () => {
  it('breaks off at a lost chunk, and names it', async () => {
    const tree = new MemoryTree().file('photo.jpg', lines(4 * PIECE)).file('index.php', '')
    tree.lost.add('photo.jpg')
    const lengths = new ArchiveLengths()
    await expect(all(archive([tree.source], 0, lengths))).rejects.toThrow('photo.jpg: the chunk c0ffee is lost')
    expect(lengths.totalBytes).toBeUndefined()
  })

  it.each([-1, 1])('breaks off if a file does not have the length in its header (%i)', async (more) => {
    const tree = new MemoryTree().file('photo.jpg', Buffer.alloc(1000))
    tree.readFile = async function* ({ sizeBytes }) {
      yield new Uint8Array(sizeBytes + more)
    }
    await expect(all(archive([tree.source]))).rejects.toThrow(BackupDamaged)
  })

  it('fails if the backup is missing', async () => {
    await expect(all(archive([{ ...new MemoryTree().source, name: 'gone' }]))).rejects.toThrow(BackupMissing)
  })

  it('stops reading when its reader gives up', async () => {
    const tree = new MemoryTree().file('zeros', { zeros: 1000 * PIECE })
    const given = new AbortController()
    const bytes = archiveBytes([tree.source], 0, { lengths: new ArchiveLengths(), threads, signal: given.signal })
    await bytes.next()
    given.abort(new Error('gone'))
    await expect(all(bytes)).rejects.toThrow('gone')
    expect(tree.read).toBeLessThan(10 * PIECE)
  })
})

it('always has the same bytes, so that a client can resume a download', async () => {
  const tree = new MemoryTree()
    .add(folder('wp-content'), link('shop', 'wp-content/shop'))
    .file(`${long(150)}/ä.php`, '<?php')
    .file('index.php', '<?php')
  expect(hash('sha256', await all(archive([tree.source])))).toBe(
    'f99d8879d0fa9c8d5bfb90a687f205e5a42113fed2a7a6dd14fede0433063d54',
  )
})
