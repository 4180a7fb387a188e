import { lstatSync, type Stats } from 'node:fs'
import type { WasmFileSystem, WasmNode } from './loader.ts'

const typeBits = 0o170000

/**
 * Emscripten keeps each file and folder that it has seen as a node for good, and answers from it whether something is there and of what
 * kind: what was deleted from outside (a backup that is brought back, SFTP) went on to exist, and could not be made again. A node is
 * looked at once in a request from now on, before it is believed.
 *
 * For most files that costs nothing: PHP asks for their properties next, and is given what was seen.
 * @param fixedFolders of the machine: nothing in them changes as long as the process lives, so that each is looked at once in all
 * @returns what is called before each request
 */
export function keepNodesFresh(files: WasmFileSystem, fixedFolders: readonly string[]): () => void {
  const { NODEFS } = files.filesystems
  const { lookupNode } = files
  const { getattr } = NODEFS.node_ops
  const looked = new WeakMap<WasmNode, number>()
  const fixed = new WeakMap<WasmNode, Stats>()
  let request = 0
  /** What has just been looked at. Only until something else is: it may have changed by then. */
  let seen: { readonly node: WasmNode; readonly stats: Stats } | undefined

  files.lookupNode = (parent, name) => {
    seen = undefined
    const node = lookupNode(parent, name)
    if (node.node_ops !== NODEFS.node_ops || looked.get(node) === request || fixed.has(node)) return node
    const path = `${NODEFS.realPath(parent)}/${name}`
    const stats = NODEFS.tryFSOperation(() => lstatSync(path, { throwIfNoEntry: false }))
    if (!stats || (stats.mode & typeBits) !== (node.mode & typeBits)) {
      files.destroyNode(node)
      // there is another one, or none
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
