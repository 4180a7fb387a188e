import { mkdirSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SiteFiles } from '../site-files.ts'
import { newDirectory, readTree, sorted, type Thing, type Tree, walkHere, writeTree } from '../trees.fixture.ts'
import { withFault } from './cut-off.fixture.ts'
import { MADE_FILES, moveMadeFiles, readdressed } from './made-files.ts'

const files = new SiteFiles({ quotaOf: async () => undefined, keepFreeBytes: 0, granularityMs: 0, walk: walkHere })
const changes = [{ from: 'old.test', to: 'a-new-one.test' }]

let directory: Awaited<ReturnType<typeof newDirectory>>
beforeEach(async () => {
  directory = await newDirectory()
})
afterEach(() => directory.remove())

const file = (text: string): Thing => ({ kind: 'file', mode: 0o640, mtimeMs: 1_600_000_000_002, text })
const folder: Thing = { kind: 'folder', mode: 0o755, mtimeMs: 1_600_000_000_001 }

/** Returns a tree with these files and each folder above them. */
function treeOf(texts: Record<string, string>): Tree {
  const tree = new Map<string, Thing>()
  for (const path of Object.keys(texts).toSorted()) {
    const parts = path.split('/')
    for (let depth = 1; depth < parts.length; depth++) tree.set(parts.slice(0, depth).join('/'), folder)
    tree.set(path, file(texts[path] as string))
  }
  return tree
}

function begin(texts: Record<string, string>): void {
  rmSync(directory.siteDirectory, { recursive: true })
  mkdirSync(directory.web, { recursive: true })
  writeTree(directory.web, treeOf(texts))
}

const style = (host: string) => `a { background: url("https://${host}/wp-content/uploads/a.png") }`
const settings = (host: string) =>
  String.raw`{"ajax":"https:\/\/${host}\/x","s":"s:${host.length + 7}:\"http://${host}\";"}`
const made = (host: string) => ({
  'wp-content/cache/autoptimize/css/all.css': style(host),
  'wp-content/et-cache/12/et-core.CSS': style(host),
  'wp-content/uploads/elementor/css/post-1.css': style(host),
  'wp-content/uploads/elementor/settings.json': settings(host),
  'wp-content/uploads/sites/3/own.js': `var home = "https://${host}/"`,
  // Longer than one read.
  'wp-content/uploads/sites/3/long.js': `var home = "https://${host}/", all = [${[...Array(60_000).keys()]}]`,
})
const others = {
  'wp-content/themes/t/style.css': style('old.test'),
  'wp-content/uploads/2026/a.txt': 'https://old.test/',
  'wp-content/uploads/big.css': style('old.test') + ' '.repeat(4 << 20),
  'wp-content/uploads/none.css': 'a { color: red }',
}

test('changes the address in files generated from the database, and leaves everything else as it was', async () => {
  writeTree(directory.web, treeOf({ ...made('old.test'), ...others }))
  await moveMadeFiles(files, directory, changes)
  const expected = treeOf({ ...made('a-new-one.test'), ...others })
  expect(sorted(readTree(directory.web))).toEqual(sorted(expected))
  // Running it again changes nothing.
  const again = readdressed(files.walk(directory, { scope: MADE_FILES }), changes)
  expect((await files.compare(directory, again, { scope: MADE_FILES })).written.count).toBe(0)
})

test('prepares nothing when there are no such files, and changes all of them when there are many', async () => {
  writeTree(directory.web, treeOf(others))
  const prepare = vi.spyOn(files, 'prepare')
  await moveMadeFiles(files, directory, changes)
  expect(prepare).not.toHaveBeenCalled()
  prepare.mockRestore()
  const many = (host: string) =>
    Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`wp-content/cache/${1000 + n}.css`, style(host)]))
  begin({ ...others, ...many('old.test') })
  await moveMadeFiles(files, directory, changes)
  expect(sorted(readTree(directory.web))).toEqual(sorted(treeOf({ ...others, ...many('a-new-one.test') })))
})

test('an interruption at any point is completed by the same call', async () => {
  const all = { ...made('old.test'), ...others }
  for (let at = 1; ; at++) {
    begin(all)
    const isCut = await withFault({ at, kind: 'cut off' }, () => moveMadeFiles(files, directory, changes))
    await moveMadeFiles(files, directory, changes)
    expect(sorted(readTree(directory.web))).toEqual(sorted(treeOf({ ...made('a-new-one.test'), ...others })))
    if (isCut) continue
    expect(at).toBeGreaterThan(20)
    break
  }
})

test('recognises a staged file only with the same address', async () => {
  writeTree(directory.web, treeOf(made('old.test')))
  const stamps = async (to: string) => {
    const found = await Array.fromAsync(readdressed(files.walk(directory), [{ from: 'old.test', to }]))
    return found.flatMap((entry) => (entry.kind === 'file' ? [entry.stamp] : []))
  }
  const [one, same, other] = [await stamps('x.test'), await stamps('x.test'), await stamps('y.test')]
  expect(same).toEqual(one)
  expect(one.some((stamp) => other.includes(stamp))).toBe(false)
})

test('passes a file that is gone, or grows over the limit while it is read, as it is', async () => {
  const entry = {
    kind: 'file',
    path: 'wp-content/uploads/a.css',
    mode: 0o644,
    mtimeMs: 1,
    sizeBytes: 9,
    stamp: 's',
  } as const
  async function* growing() {
    for (let piece = 0; piece < 5; piece++) yield Buffer.from(style('old.test').padEnd(1 << 20))
  }
  async function* both() {
    yield { ...entry, open: async () => undefined }
    yield { ...entry, open: async () => growing() }
  }
  const found = await Array.fromAsync(readdressed(both(), changes))
  expect(found.map((each) => each.kind === 'file' && [each.sizeBytes, each.stamp])).toEqual([
    [9, 's'],
    [9, 's'],
  ])
})
