import { lstatSync, mkdirSync, mkdtempSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { keepNodesFresh } from './fresh-nodes.ts'
import type { WasmFileSystem, WasmNode } from './loader.ts'

interface Node extends WasmNode {
  readonly path: string
}

const root = mkdtempSync(join(tmpdir(), 'stead-nodes-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Imitates the relevant part of emscripten's file system: it keeps each node forever. */
function emscripten() {
  const nodes = new Map<string, Node>()
  const node_ops = { getattr: ({ path }: Node) => lstatSync(path) }
  const files = {
    filesystems: {
      NODEFS: {
        node_ops,
        realPath: ({ path }: Node) => path,
        getattr: (look: () => Stats) => look(),
        tryFSOperation: (work: () => unknown) => work(),
      },
    },
    lookupNode(parent: Node, name: string) {
      const path = join(parent.path, name)
      const node = nodes.get(path) ?? { name, path, mode: lstatSync(path).mode, node_ops }
      nodes.set(path, node)
      return node
    },
    destroyNode: ({ path }: Node) => nodes.delete(path),
  }
  const top: Node = { name: '', path: root, mode: 0, node_ops }
  const sizeOf = (...names: string[]): number => {
    const node = names.reduce((parent, name) => files.lookupNode(parent, name), top)
    return node_ops.getattr(node).size
  }
  return { files: files as unknown as WasmFileSystem, sizeOf }
}

test('checks files of a fixed folder once, and all others once per request', () => {
  for (const folder of ['core', 'core-of-the-site']) mkdirSync(join(root, folder))
  const write = (text: string) => {
    for (const folder of ['core', 'core-of-the-site']) writeFileSync(join(root, folder, 'file'), text)
  }
  write('one')
  const { files, sizeOf } = emscripten()
  const begin = keepNodesFresh(files, [join(root, 'core')])
  begin()
  expect([sizeOf('core', 'file'), sizeOf('core-of-the-site', 'file')]).toEqual([3, 3])
  write('seven 7')
  begin()
  expect([sizeOf('core', 'file'), sizeOf('core-of-the-site', 'file')]).toEqual([3, 7])
  // Requested twice in one request. Nothing in the results may be from before.
  expect([sizeOf('core', 'file'), sizeOf('core-of-the-site', 'file')]).toEqual([3, 7])
  rmSync(join(root, 'core-of-the-site', 'file'))
  begin()
  expect(() => sizeOf('core-of-the-site', 'file')).toThrow('ENOENT')
})
