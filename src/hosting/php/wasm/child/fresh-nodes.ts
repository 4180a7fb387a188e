import { lstatSync, type Stats } from 'node:fs'
import type { WasmFileSystem, WasmNode } from './loader.ts'

const typeBits = 0o170000

/**
 * Makes emscripten check each node once per request before it trusts it. Emscripten keeps every file and folder that it
 * has seen as a node forever, and answers from it whether the file exists and of which type it is. A file deleted from
 * outside (by a restore or SFTP) still existed for PHP, and could not be created again.
 *
 * For most files this costs nothing: PHP asks for their properties next, and gets what was just read.
 * @param fixedFolders folders of the machine that never change while the process lives, so each node in them is checked
 * once
 * @returns a function to call before each request
 */
export function keepNodesFresh(files: WasmFileSystem, fixedFolders: readonly string[]): () => void {
  const { NODEFS } = files.filesystems
  const { lookupNode } = files
  const { getattr } = NODEFS.node_ops
  const looked = new WeakMap<WasmNode, number>()
  const fixed = new WeakMap<WasmNode, Stats>()
  let request = 0
  /**
   * The properties that were read last. Valid only until the next node is read, because the file may have changed by
   * then.
   */
  let seen: { readonly node: WasmNode; readonly stats: Stats } | undefined

  files.lookupNode = (parent, name) => {
    seen = undefined
    const node = lookupNode(parent, name)
    if (node.node_ops !== NODEFS.node_ops || looked.get(node) === request || fixed.has(node)) return node
    const path = `${NODEFS.realPath(parent)}/${name}`
    const stats = NODEFS.tryFSOperation(() => lstatSync(path, { throwIfNoEntry: false }))
    if (!stats || (stats.mode & typeBits) !== (node.mode & typeBits)) {
      files.destroyNode(node)
      // Another file is there now, or none.
      return lookupNode(parent, name)
    }
    node.mode = stats.mode
    if (fixedFolders.some((folder) => path.startsWith(`${folder}/`))) {
      fixed.set(node, stats)
      return node
    }
    looked.set(node, request)
    seen = { node, stats }
    return node
  }
  NODEFS.node_ops.getattr = (node) => {
    const stats = fixed.get(node) ?? (seen?.node === node ? seen.stats : undefined)
    seen = undefined
    return stats ? NODEFS.getattr(() => stats, node) : getattr(node)
  }
  return () => {
    request++
  }
}
