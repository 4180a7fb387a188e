/** Trees of files for tests: described, written to a disk, and read back by other means than those under test. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { SitePlace } from '../site-database/database-content.ts'
import type { WantedEntry } from './file-content.ts'
import { comparePaths } from './paths.ts'
import { TreeWalk, type WalkedEntry } from './tree-walk.ts'
import type { WalkTreeOptions } from './walk.ts'

export type Thing =
  | { readonly kind: 'folder'; readonly mode: number; readonly mtimeMs: number }
  | { readonly kind: 'file'; readonly mode: number; readonly mtimeMs: number; readonly text: string }
  | { readonly kind: 'link'; readonly mtimeMs: number; readonly target: string }

/** Entries by path, each after its folder. */
export type Tree = ReadonlyMap<string, Thing>

const names = [
  'a',
  'a.txt',
  'A',
  'b',
  'wp-content',
  'themes',
  'ü',
  '😀',
  '\uffee',
  'line\nbreak',
  "quo'te\\",
  '-rf',
  '...',
]
const time = fc.integer({ min: 1_500_000_000_000, max: 1_700_000_000_999 })

type Node = { thing: Thing; children: Map<string, Node> }

const folderNode = (depth: number): fc.Arbitrary<Node> =>
  fc
    .record({
      mtimeMs: time,
      mode: fc.constantFrom(0o755, 0o700, 0o775),
      children: fc.dictionary(fc.constantFrom(...names), depth > 0 ? anyNode(depth - 1) : leafNode, { maxKeys: 4 }),
    })
    .map(({ mtimeMs, mode, children }) => ({
      thing: { kind: 'folder', mode, mtimeMs } as const,
      children: new Map(Object.entries(children)),
    }))

const leaf = (thing: Thing): Node => ({ thing, children: new Map() })

const leafNode: fc.Arbitrary<Node> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        mtimeMs: time,
        mode: fc.constantFrom(0o644, 0o600, 0o444, 0o755),
        text: fc.constantFrom('', 'x', 'y', 'longer text', 'LONGER TEXT'),
      })
      .map((file) => leaf({ kind: 'file', ...file })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ mtimeMs: time, target: fc.constantFrom('a', 'nowhere', './b/a', 'a/a.txt') })
      .map((link) => leaf({ kind: 'link', ...link })),
  },
)

const anyNode = (depth: number): fc.Arbitrary<Node> =>
  fc.oneof({ weight: 2, arbitrary: leafNode }, { weight: 1, arbitrary: folderNode(depth) })

/** Small trees that often collide: few names, few contents. */
export const anyTree: fc.Arbitrary<Tree> = folderNode(3).map((root) => {
  const tree = new Map<string, Thing>()
  const add = (path: string, node: Node) => {
    tree.set(path, node.thing)
    for (const [name, child] of node.children) add(`${path}/${name}`, child)
  }
  for (const [name, child] of root.children) add(name, child)
  return tree
})

export function writeTree(root: string, tree: Tree): void {
  for (const [path, thing] of tree) {
    const place = join(root, path)
    if (thing.kind === 'folder') mkdirSync(place)
    else if (thing.kind === 'link') {
      symlinkSync(thing.target, place)
      lutimesSync(place, 1, (thing.mtimeMs + 0.5) / 1000)
    } else {
      writeFileSync(place, thing.text)
      chmodSync(place, thing.mode)
      utimesSync(place, 1, (thing.mtimeMs + 0.5) / 1000)
    }
  }
  for (const [path, thing] of [...tree].reverse()) {
    if (thing.kind !== 'folder') continue
    chmodSync(join(root, path), thing.mode)
    utimesSync(join(root, path), 1, (thing.mtimeMs + 0.5) / 1000)
  }
}

export function readTree(root: string): Map<string, Thing> {
  const tree = new Map<string, Thing>()
  const read = (path: string) => {
    for (const name of readdirSync(join(root, path))) {
      const below = path === '' ? name : `${path}/${name}`
      const place = join(root, below)
      const stats = lstatSync(place)
      const mtimeMs = Math.floor(stats.mtimeMs)
      const mode = stats.mode & 0o7777
      if (stats.isDirectory()) {
        tree.set(below, { kind: 'folder', mode, mtimeMs })
        read(below)
      } else if (stats.isSymbolicLink()) tree.set(below, { kind: 'link', mtimeMs, target: readlinkSync(place) })
      else tree.set(below, { kind: 'file', mode, mtimeMs, text: readFileSync(place, 'utf8') })
    }
  }
  read('')
  return tree
}

export const sorted = (tree: Tree): [string, Thing][] => [...tree].sort(([a], [b]) => comparePaths(a, b))

/** Yields a tree as it comes from a backup. */
export async function* wanted(tree: Tree): AsyncGenerator<WantedEntry> {
  for (const [path, thing] of sorted(tree)) {
    if (thing.kind !== 'file') yield { path, ...thing }
    else {
      const { kind, mode, mtimeMs, text } = thing
      const bytes = Buffer.from(text)
      const open = async () =>
        (async function* () {
          yield bytes
        })()
      yield { path, kind, mode, mtimeMs, sizeBytes: bytes.length, stamp: `${path} ${mtimeMs} ${text}`, open }
    }
  }
}

/** Walks without a thread, whose start takes longer than the rest of a small test. */
export async function* walkHere(root: string, options: WalkTreeOptions): AsyncGenerator<WalkedEntry, void, undefined> {
  const walk = new TreeWalk(root, options)
  for (let entry = walk.next(); entry; entry = walk.next()) yield entry
  if (options.onLeftOut) walk.leftOut.forEach(options.onLeftOut)
}

/**
 * In memory where such a folder exists: a change is flushed to the disk several times, and these tests make thousands.
 */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Creates a site directory with an empty web root, below its own folder. */
export async function newDirectory(): Promise<SitePlace & { readonly web: string; remove(): Promise<void> }> {
  const siteDirectory = await mkdtemp(join(FOLDER, 'stead-files-'))
  const web = join(siteDirectory, 'web')
  for (const path of [web, join(siteDirectory, 'private')]) mkdirSync(path)
  return { siteId: 1, siteDirectory, uid: null, web, remove: () => rm(siteDirectory, { recursive: true, force: true }) }
}
