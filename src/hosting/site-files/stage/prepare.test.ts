import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DiskFull } from '../../site-directories/disk-space.ts'
import type { FileScope, WantedEntry } from '../file-content.ts'
import { FilesRefused } from '../paths.ts'
import { SiteFiles } from '../site-files.ts'
import { newDirectory, readTree, sorted, type Thing, type Tree, walkHere, wanted, writeTree } from '../trees.fixture.ts'

const plain = { quotaOf: async () => undefined, keepFreeBytes: 0, granularityMs: 0, walk: walkHere }
const files = new SiteFiles(plain)
const ALL: FileScope = { paths: [''] }
const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0

let directory: Awaited<ReturnType<typeof newDirectory>>
beforeEach(async () => {
  directory = await newDirectory()
})
afterEach(() => execFileSync('rm', ['-rf', directory.siteDirectory]))

const folder: Thing = { kind: 'folder', mode: 0o755, mtimeMs: 1_600_000_000_001 }
const file = (text: string): Thing => ({ kind: 'file', mode: 0o644, mtimeMs: 1_600_000_000_002, text })
const treeOf = (things: Record<string, Thing>): Tree => new Map(Object.entries(things))
const there = () => sorted(readTree(directory.web))
const nothingLeft = () => expect(readdirSync(directory.siteDirectory).sort()).toEqual(['private', 'web'])

async function* list(entries: readonly WantedEntry[]): AsyncGenerator<WantedEntry> {
  yield* entries
}

async function change(entries: AsyncIterable<WantedEntry>, scope = ALL, by = files): Promise<void> {
  await by.prepare(directory, entries, { scope })
  await by.switch(directory)
  await by.cleanUp(directory)
}

test('a failure waits until no file is being written, and leaves nothing', async () => {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const entry = (path: string, content: () => AsyncGenerator<Uint8Array>): WantedEntry => {
    const facts = { mode: 0o644, mtimeMs: 1, sizeBytes: 1, stamp: path }
    return { kind: 'file', path, ...facts, open: async () => content() }
  }
  const entries = [
    { ...folder, path: 'new' } as WantedEntry,
    // biome-ignore lint/correctness/useYield: it fails before
    entry('new/a', async function* () {
      await begun.promise
      throw new Error('a cannot be read')
    }),
    entry('new/b', async function* () {
      begun.resolve()
      await gate.promise
      yield Buffer.from('b')
    }),
  ]
  let isOver = false
  const failing = files.prepare(directory, list(entries), { scope: ALL }).finally(() => {
    isOver = true
  })
  failing.catch(() => {})
  await begun.promise
  // Allows time for everything that could run in the meantime.
  for (let turns = 0; turns < 200; turns++) await stat(directory.siteDirectory)
  expect(isOver).toBe(false)
  gate.resolve()
  await expect(failing).rejects.toThrow('a cannot be read')
  nothingLeft()
})

describe('unchanged files', () => {
  test('are not touched: of a hundred files of which one changed, one is new', async () => {
    const things = Object.fromEntries(Array.from({ length: 100 }, (_each, at) => [`f${at}`, file(`text ${at}`)]))
    writeTree(directory.web, treeOf(things))
    const numbers = () =>
      readdirSync(directory.web).map((name) => `${name} ${lstatSync(join(directory.web, name)).ino}`)
    const before = numbers()
    const told = await files.prepare(directory, wanted(treeOf({ ...things, f7: file('other') })), { scope: ALL })
    expect(readdirSync(join(directory.siteDirectory, 'exchange/new'))).toHaveLength(1)
    expect(told).toMatchObject({ written: { count: 1, bytes: 5, first: ['f7'] }, removed: { count: 0 } })
    await files.switch(directory)
    await files.cleanUp(directory)
    expect(numbers().filter((each) => !before.includes(each))).toHaveLength(1)
  })

  test('are compared with names of changed ones, however many new ones come first', async () => {
    writeTree(directory.web, treeOf({ z: file('text') }))
    const added = Object.fromEntries(Array.from({ length: 1001 }, (_each, at) => [`a${at}`, file('')]))
    const told = await files.compare(directory, wanted(treeOf({ ...added, z: file('other') })), { scope: ALL })
    expect(told).toMatchObject({
      written: { count: 1002 },
      added: { count: 1001, bytes: 0 },
      changed: { count: 1, bytes: 5, first: ['z'] },
    })
  })

  test('are recognised by their stamp, and not even read', async () => {
    writeTree(directory.web, treeOf({ f: file('same') }))
    const [entry] = await Array.fromAsync(files.walk(directory))
    const stamp = entry?.kind === 'file' ? entry.stamp : ''
    const open = () => Promise.reject(new Error('it was read'))
    const asked: WantedEntry[] = [{ ...(entry as Extract<WantedEntry, { kind: 'file' }>), stamp, open }]
    expect((await files.compare(directory, list(asked), { scope: ALL })).written.count).toBe(0)
    await writeFile(join(directory.web, 'f'), 'Same')
    await expect(files.compare(directory, list(asked), { scope: ALL })).rejects.toThrow('it was read')
  })

  test('are not assumed from size and time only, because an attacker can set the time', async () => {
    writeTree(directory.web, treeOf({ f: file('evil') }))
    await change(wanted(treeOf({ f: file('good') })))
    expect(readFileSync(join(directory.web, 'f'), 'utf8')).toBe('good')
  })
})

describe('prepared again, as when the site is paused', () => {
  const next = treeOf({ a: file('new a'), d: folder, 'd/b': file('new b'), same: file('same') })
  const reading = new Map<string, number>()
  async function* counted(tree: Tree): AsyncGenerator<WantedEntry> {
    for await (const entry of wanted(tree))
      if (entry.kind !== 'file') yield entry
      else
        yield {
          ...entry,
          open() {
            reading.set(entry.path, (reading.get(entry.path) ?? 0) + 1)
            return entry.open()
          },
        }
  }
  const prepare = (tree = next) => files.prepare(directory, counted(tree), { scope: ALL })
  beforeEach(() => {
    reading.clear()
    writeTree(directory.web, treeOf({ a: file('old a'), same: file('same') }))
  })

  test('reads nothing a second time, and reports the same', async () => {
    const told = await prepare()
    expect([...reading.keys()]).toEqual(['a', 'd/b', 'same'])
    reading.clear()
    expect(await prepare()).toEqual(told)
    expect(await prepare()).toEqual(told)
    expect([...reading.keys()]).toEqual([])
    expect(readdirSync(join(directory.siteDirectory, 'exchange')).sort()).toEqual(['known', 'new', 'old', 'plan'])
    await files.switch(directory)
    expect(there()).toEqual(sorted(next))
  })

  test('notices the site’s changes in the meantime, and what is wanted now', async () => {
    await prepare()
    reading.clear()
    await writeFile(join(directory.web, 'same'), 'SAME')
    await writeFile(join(directory.web, 'more'), 'made meanwhile')
    await mkdir(join(directory.web, 'd'))
    await writeFile(join(directory.web, 'd/c'), 'made meanwhile')
    const other = treeOf({ ...Object.fromEntries(next), a: file('other a') })
    await prepare(other)
    expect([...reading.keys()]).toEqual(['a', 'same'])
    await files.switch(directory)
    expect(there()).toEqual(sorted(other))
    await files.switchBack(directory)
    expect(readFileSync(join(directory.web, 'd/c'), 'utf8')).toBe('made meanwhile')
  })

  test('does not trust staged files that the site could touch', async () => {
    await prepare()
    await files.switch(directory)
    await writeFile(join(directory.web, 'd/b'), 'evil!')
    await files.switchBack(directory)
    await prepare()
    await files.switch(directory)
    expect(there()).toEqual(sorted(next))
  })
})

describe('the target of a change', () => {
  test('keeps entries that the walk leaves out, unless something else is wanted there', async () => {
    execFileSync('mkfifo', [join(directory.web, 'fifo'), join(directory.web, 'taken')])
    await symlink('/etc', join(directory.web, 'out'))
    await mkdir(join(directory.web, 'wp-admin'))
    await change(wanted(treeOf({ taken: file('x') })))
    expect(readdirSync(directory.web).sort()).toEqual(['fifo', 'out', 'taken', 'wp-admin'])
    expect(readFileSync(join(directory.web, 'taken'), 'utf8')).toBe('x')
  })

  test('creates a missing folder above the selected paths, and refuses a file there', async () => {
    const scope = { paths: ['wp-content/uploads/2024/1.jpg', 'wp-content/uploads/2024/2.jpg'] }
    const next = treeOf({ 'wp-content/uploads/2024/1.jpg': file('1'), 'wp-content/uploads/2024/2.jpg': file('2') })
    await change(wanted(next), scope)
    expect([...readTree(directory.web).keys()]).toEqual(expect.arrayContaining([...next.keys()]))
    await rm(join(directory.web, 'wp-content/uploads'), { recursive: true })
    await writeFile(join(directory.web, 'wp-content/uploads'), 'a file')
    await expect(change(wanted(next), scope)).rejects.toThrow('in the way')
    nothingLeft()
  })

  test('keeps the times of folders outside the change', async () => {
    const outside = { 'wp-content': folder, 'wp-content/plugins': folder }
    writeTree(directory.web, treeOf({ ...outside, 'wp-content/themes': folder }))
    await change(wanted(treeOf({ 'wp-content/themes': file('now a file') })), { paths: ['wp-content/themes'] })
    expect(there()).toEqual(sorted(treeOf({ ...outside, 'wp-content/themes': file('now a file') })))
  })

  test.skipIf(!isLinuxRoot)(
    'gives new files to the site’s user without special permissions, and keeps the staging folder for root',
    async () => {
      const uid = 54_321
      const entries = await Array.fromAsync(
        wanted(treeOf({ d: folder, 'd/f': file('x'), e: { kind: 'link', mtimeMs: 1e12, target: 'd' } })),
      )
      const asked = entries.map((entry) => (entry.kind === 'link' ? entry : { ...entry, mode: 0o6777 }))
      await files.prepare({ ...directory, uid }, list(asked), { scope: ALL })
      const beside = lstatSync(join(directory.siteDirectory, 'exchange'))
      expect([beside.uid, beside.mode & 0o777]).toEqual([0, 0o700])
      await files.switch(directory)
      for (const path of ['d', 'd/f', 'e'])
        expect(lstatSync(join(directory.web, path)), path).toMatchObject({ uid, gid: uid })
      for (const path of ['d', 'd/f']) expect(lstatSync(join(directory.web, path)).mode & 0o7777).toBe(0o777)
    },
  )

  test.skipIf(process.platform !== 'linux')(
    'does not follow a folder that became a link to another place, in either direction',
    async () => {
      writeTree(directory.web, treeOf({ d: folder, 'd/old': file('old') }))
      await mkdir(join(directory.siteDirectory, 'elsewhere'))
      await files.prepare(directory, wanted(treeOf({ d: folder, 'd/new': file('new') })), { scope: ALL })
      await rename(join(directory.web, 'd'), join(directory.web, 'moved'))
      await symlink(join(directory.siteDirectory, 'elsewhere'), join(directory.web, 'd'))
      await expect(files.switch(directory)).rejects.toThrow('is gone')
      expect(readdirSync(join(directory.siteDirectory, 'elsewhere'))).toEqual([])
      await rm(join(directory.web, 'd'))
      await rename(join(directory.web, 'moved'), join(directory.web, 'd'))
      await files.switch(directory)
      expect(readdirSync(join(directory.web, 'd'))).toEqual(['new'])
      await files.switchBack(directory)
      expect(readdirSync(join(directory.web, 'd'))).toEqual(['old'])
    },
  )

  test('keeps an entry that appears between preparing and switching, and brings it back', async () => {
    await files.prepare(directory, wanted(treeOf({ f: file('wanted') })), { scope: ALL })
    await writeFile(join(directory.web, 'f'), 'of a visitor')
    await files.switch(directory)
    expect(readFileSync(join(directory.web, 'f'), 'utf8')).toBe('wanted')
    await files.switchBack(directory)
    expect(readFileSync(join(directory.web, 'f'), 'utf8')).toBe('of a visitor')
  })
})

describe('refuses entries that cannot be wanted, and changes nothing', () => {
  const of = (path: string, more: object = {}): WantedEntry =>
    ({
      kind: 'file',
      path,
      mode: 0o644,
      mtimeMs: 1,
      sizeBytes: 1,
      stamp: '',
      open: async () => list([]) as never,
      ...more,
    }) as WantedEntry
  const dir = (path: string): WantedEntry => ({ kind: 'folder', path, mode: 0o755, mtimeMs: 1 })
  const to = (path: string, target: string): WantedEntry => ({ kind: 'link', path, target, mtimeMs: 1 })

  const cases: Record<string, [WantedEntry[], FileScope?]> = {
    'a way up': [[of('../x')]],
    'a way up further down': [[dir('a'), of('a/../../x')]],
    'an absolute path': [[of('/etc/passwd')]],
    'no path': [[of('')]],
    'an empty part': [[dir('a'), of('a//x')]],
    'a dot': [[of('./x')]],
    'a NUL': [[of('a\0b')]],
    'no text': [[of('a\ud800')]],
    'a long name': [[of('ü'.repeat(128))]],
    'a long path': [[of(Array(30).fill('d'.repeat(200)).join('/'))]],
    'a deep path': [[of(Array(300).fill('d').join('/'))]],
    'the core': [[dir('wp-admin'), of('wp-admin/index.php')]],
    'something of the core': [[of('wp-includes/version.php')]],
    'a path through a link': [[to('a', 'b'), of('a/x')]],
    'a path through a file': [[of('a'), of('a/x')]],
    'a path through a link that is there': [[of('link/x')]],
    'no folder': [[of('a/x')]],
    'the same twice': [[of('a'), of('a')]],
    'the same twice, as another kind': [[of('a'), dir('a')]],
    'the wrong order': [[of('b'), of('a')]],
    'a folder later than what is in it': [[of('a/x'), dir('a')]],
    'a link out': [[to('a', '/etc')]],
    'a link up': [[dir('a'), to('a/b', '../../x')]],
    'no time': [[of('a', { mtimeMs: Number.NaN })]],
    'no size': [[of('a', { sizeBytes: -1 })]],
    'what is outside': [[of('b')], { paths: ['a'] }],
    'what is excepted': [[dir('a'), of('a/b')], { paths: [''], except: ['a/b'] }],
    'a file in place of what must stay': [[of('kept')], { paths: [''], except: ['kept/inner'] }],
  }

  test.each(Object.entries(cases))('%s', async (_what, [entries, scope = ALL]) => {
    const tree = treeOf({ kept: folder, 'kept/inner': folder, 'kept/inner/f': file('x') })
    writeTree(directory.web, tree)
    await symlink('kept', join(directory.web, 'link'))
    const before = there()
    await expect(files.prepare(directory, list(entries), { scope })).rejects.toThrow(FilesRefused)
    await expect(files.compare(directory, list(entries), { scope })).rejects.toThrow(FilesRefused)
    expect(there()).toEqual(before)
    nothingLeft()
  })

  test('changes nothing outside the web root, for any request', async () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b', 'link', 'wp-admin', '\0', '/')
    const anyPath = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    const anyEntry = fc
      .tuple(anyPath, fc.constantFrom('file', 'folder', 'link'), anyPath)
      .map(([path, kind, target]) => (kind === 'file' ? of(path) : kind === 'folder' ? dir(path) : to(path, target)))
    await writeFile(join(directory.siteDirectory, 'private/secret'), 'secret')
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 4 }), async (entries) => {
        await change(list(entries)).catch((error) => expect(error).toBeInstanceOf(FilesRefused))
        expect(readdirSync(directory.siteDirectory).sort()).toEqual(['private', 'web'])
        expect(readdirSync(join(directory.siteDirectory, 'private'))).toEqual(['secret'])
        expect(existsSync(join(directory.web, 'wp-admin'))).toBe(false)
      }),
      { numRuns: 200 },
    )
  })
})

describe('room', () => {
  const MB = 1 << 20
  const big = (path: string, bytes: number, announced = bytes): WantedEntry => ({
    ...{ kind: 'file', path, mode: 0o644, mtimeMs: 1, stamp: '', sizeBytes: announced },
    open: async () =>
      (async function* () {
        for (let left = bytes; left > 0; left -= MB) yield new Uint8Array(Math.min(left, MB))
      })(),
  })
  const withQuota = (bytes: number, entries = 1000) =>
    new SiteFiles({ ...plain, quotaOf: async () => ({ bytes, files: entries }) })

  test('keeps the reserve of the host free', async () => {
    const full = new SiteFiles({ ...plain, keepFreeBytes: Number.MAX_SAFE_INTEGER })
    await expect(full.prepare(directory, list([big('f', 10)]), { scope: ALL })).rejects.toThrow(
      /disk of the host is full/,
    )
    nothingLeft()
  })

  test('gives a site no more than its quota, even if content is longer than announced', async () => {
    for (const entries of [[big('a', 20 * MB)], [big('a', 20 * MB, 1)], [big('a', 6 * MB), big('b', 6 * MB)]]) {
      const error = await withQuota(10 * MB)
        .prepare(directory, list(entries), { scope: ALL })
        .catch((thrown) => thrown)
      expect(error).toBeInstanceOf(DiskFull)
      expect(error.message).toMatch(/may have 10 MB/)
      nothingLeft()
    }
    const many = Array.from({ length: 50 }, (_each, at) => big(`f${String(at).padStart(3, '0')}`, 1))
    await expect(withQuota(10 * MB, 20).prepare(directory, list(many), { scope: ALL })).rejects.toThrow(
      /files and folders/,
    )
  })

  test('counts removed files as room, so that a site that is more than half full can be restored', async () => {
    const limited = withQuota(10 * MB)
    await change(list([big('f', 7 * MB)]), ALL, limited)
    await change(list([big('g', 7 * MB)]), ALL, limited)
    await expect(change(list([big('h', 7 * MB)]), { paths: ['h'] }, limited)).rejects.toThrow(DiskFull)
    expect([...readTree(directory.web).keys()]).toEqual(['g'])
  })
})

test('rejects the second of two simultaneous changes of one site', async () => {
  const first = files.prepare(directory, wanted(treeOf({ f: file('x') })), { scope: ALL })
  await expect(files.switch(directory)).rejects.toThrow('being changed already')
  await first
  await files.switch(directory)
  expect([...readTree(directory.web).keys()]).toEqual(['f'])
})

test('can be aborted, and reports its progress', async () => {
  const control = new AbortController()
  const done: number[] = []
  const tree = treeOf({ a: file('four'), b: file('more'), c: file('text') })
  const preparing = files.prepare(directory, wanted(tree), {
    ...{ scope: ALL, signal: control.signal },
    onProgress(bytes) {
      done.push(bytes)
      if (bytes === 8) control.abort(new Error('given up'))
    },
  })
  await expect(preparing).rejects.toThrow('given up')
  expect(done).toEqual([4, 8])
  nothingLeft()
})

test('drops a file that vanishes at its source while it is read', async () => {
  writeTree(directory.web, treeOf({ f: file('old'), g: file('old') }))
  const entries = (await Array.fromAsync(wanted(treeOf({ f: file('new!'), g: file('old'), h: file('x') })))).map(
    (entry) => (entry.kind === 'file' && entry.path !== 'g' ? { ...entry, open: async () => undefined } : entry),
  )
  await change(list(entries))
  expect([...readTree(directory.web).keys()]).toEqual(['g'])
})

test('keeps a file that only its owner can read unreadable to others', async () => {
  writeTree(directory.web, treeOf({ f: file('x') }))
  await chmod(join(directory.web, 'f'), 0o400)
  const [entry] = await Array.fromAsync(files.walk(directory))
  expect(entry).toMatchObject({ path: 'f', mode: 0o400 })
})
