/**
 * Counts what PHP writes against its site's quota, and refuses more as a full disk would. PHP, and SQLite in it, can
 * handle that. The counting is below every way that PHP has to the disk, so that a single request cannot get past it.
 *
 * The count is the space that a file takes on the disk: its blocks, or its length if that is more, because a hole in a
 * file may be filled later. The host reports the used space at the start, and again after it has measured while PHP was
 * idle.
 */
import { fstatSync, lstatSync, type Stats, statfsSync } from 'node:fs'
import type { DiskRoom } from '../frames.ts'
import type { NodeFileSystem, WasmFileSystem, WasmNode } from './loader.ts'

const noSpace = 51 // ENOSPC in emscripten's numbering: the one that SQLite takes for a full disk
const blockBytes = 4096
/** The free space of the disk itself is read again after this many bytes, or this much time. */
const askAfterBytes = 1 << 20
const askAfterMs = 100
const fewInodes = 1000

export interface DiskMeter {
  /** Sets what the host has measured. */
  set(room: DiskRoom): void
  /** Returns why something was refused since the last call. */
  refusal(): 'quota' | 'disk' | undefined
}

const roundUp = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes
const onDisk = ({ blocks }: Stats): number => blocks * 512

/** @param root a folder on the disk whose free space counts */
export function meterDisk(files: WasmFileSystem, root: string, start: DiskRoom): DiskMeter {
  const { NODEFS } = files.filesystems
  const meter = new Meter(files, root, start)
  const open = countOpenFiles(NODEFS, meter)
  meterWrites(NODEFS, meter)
  meterLengths(files, NODEFS, meter)
  meterEntries(files, NODEFS, meter, open)
  return meter
}

class Meter implements DiskMeter {
  readonly #files: WasmFileSystem
  readonly #root: string
  #room: DiskRoom
  #refusal: 'quota' | 'disk' | undefined
  #sinceAsked = Number.POSITIVE_INFINITY
  #askedAt = 0
  #freeBytes = 0
  #freeFiles = 0

  constructor(files: WasmFileSystem, root: string, room: DiskRoom) {
    this.#files = files
    this.#root = root
    this.#room = room
  }

  set(room: DiskRoom): void {
    this.#room = room
  }

  refusal(): 'quota' | 'disk' | undefined {
    const refusal = this.#refusal
    this.#refusal = undefined
    return refusal
  }

  /** @throws ENOSPC when there is not enough room for this much more */
  require(path: string, bytes: number, entries = 0): void {
    const { usedBytes, usedFiles, quotaBytes, quotaFiles, databaseBytes } = this.#room
    // An owner who signs in to free space needs the database.
    const extra = path.startsWith('/private/database/') ? databaseBytes : 0
    const isOver = bytes > 0 && usedBytes + bytes > quotaBytes + extra
    if (isOver || (entries > 0 && usedFiles + entries > quotaFiles)) this.#refuse('quota')
    if (this.#diskIsFull(bytes, entries)) this.#refuse('disk')
  }

  add(bytes: number, entries = 0): void {
    const { usedBytes, usedFiles } = this.#room
    this.#sinceAsked += Math.max(0, bytes)
    this.#room = {
      ...this.#room,
      usedBytes: Math.max(0, usedBytes + bytes),
      usedFiles: Math.max(0, usedFiles + entries),
    }
  }

  #diskIsFull(bytes: number, entries: number): boolean {
    const now = performance.now()
    if (this.#sinceAsked + bytes > askAfterBytes || now - this.#askedAt > askAfterMs) {
      const { bavail, bsize, ffree, files } = statfsSync(this.#root)
      this.#freeBytes = bavail * bsize
      // Some file systems have no count of files.
      this.#freeFiles = files > 0 ? ffree : Number.POSITIVE_INFINITY
      this.#askedAt = now
      this.#sinceAsked = 0
    }
    const left = this.#freeBytes - this.#sinceAsked - bytes
    return left < this.#room.keepFreeBytes || (entries > 0 && this.#freeFiles < fewInodes)
  }

  #refuse(why: 'quota' | 'disk'): never {
    this.#refusal = why
    throw new this.#files.ErrnoError(noSpace)
  }
}

/** Sizes by inode: an unlinked file takes its space until nothing has it open. */
type OpenFiles = Map<number, number>

function countOpenFiles(nodeFiles: NodeFileSystem, meter: Meter): OpenFiles {
  const open: OpenFiles = new Map()
  const { stream_ops: ops } = nodeFiles
  const [openStream, closeStream] = [ops.open, ops.close]
  ops.open = (stream) => {
    openStream(stream)
    const { ino } = nodeFiles.tryFSOperation(() => fstatSync(stream.nfd))
    open.set(ino, (open.get(ino) ?? 0) + 1)
  }
  ops.close = (stream) => {
    const isLast = stream.shared.refcount === 1
    const stats = isLast ? nodeFiles.tryFSOperation(() => fstatSync(stream.nfd)) : undefined
    closeStream(stream)
    if (!stats) return
    const others = (open.get(stats.ino) ?? 1) - 1
    if (others > 0) open.set(stats.ino, others)
    else open.delete(stats.ino)
    if (others === 0 && stats.nlink === 0) meter.add(-onDisk(stats), -1)
  }
  return open
}

function meterWrites(nodeFiles: NodeFileSystem, meter: Meter): void {
  const { stream_ops: ops } = nodeFiles
  const write = ops.write
  ops.write = (stream, buffer, offset, length, position, ...rest) => {
    const before = nodeFiles.tryFSOperation(() => fstatSync(stream.nfd))
    const end = position + length
    const hasHoles = onDisk(before) < before.size
    if (length === 0 || (end <= before.size && !hasHoles))
      return write(stream, buffer, offset, length, position, ...rest)
    const longer = Math.max(0, roundUp(end) - roundUp(before.size))
    meter.require(stream.path, Math.max(longer, hasHoles ? roundUp(length) : 0))
    try {
      return write(stream, buffer, offset, length, position, ...rest)
    } finally {
      const after = nodeFiles.tryFSOperation(() => fstatSync(stream.nfd))
      meter.add(Math.max(onDisk(after) - onDisk(before), roundUp(after.size) - roundUp(before.size)))
    }
  }
}

/** Covers `truncate` and `ftruncate`, which can also make a file longer. */
function meterLengths(files: WasmFileSystem, nodeFiles: NodeFileSystem, meter: Meter): void {
  const metered = (path: string, size: number | undefined, look: () => Stats, change: () => void): void => {
    if (size === undefined) {
      change()
      return
    }
    const before = nodeFiles.tryFSOperation(look)
    const longer = roundUp(size) - roundUp(before.size)
    if (longer > 0) meter.require(path, longer)
    change()
    const after = nodeFiles.tryFSOperation(look)
    const grown = onDisk(after) - onDisk(before)
    // Filling a hole frees nothing.
    meter.add(Math.max(grown, longer))
  }
  const { node_ops: ofNodes, stream_ops: ofStreams } = nodeFiles
  const [setNode, setStream] = [ofNodes.setattr, ofStreams.setattr]
  ofNodes.setattr = (node, attributes) =>
    metered(
      files.getPath(node),
      attributes.size,
      () => lstatSync(nodeFiles.realPath(node)),
      () => setNode(node, attributes),
    )
  ofStreams.setattr = (stream, attributes) =>
    metered(
      stream.path,
      attributes.size,
      () => fstatSync(stream.nfd),
      () => setStream(stream, attributes),
    )
}

/** Covers creating and deleting files and folders. */
function meterEntries(files: WasmFileSystem, nodeFiles: NodeFileSystem, meter: Meter, open: OpenFiles): void {
  const { node_ops: ops } = nodeFiles
  const { mknod, unlink, rmdir, rename } = ops
  const at = (parent: WasmNode, name: string): string => `${nodeFiles.realPath(parent)}/${name}`
  const statsOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })
  const gone = (stats: Stats | undefined): void => {
    if (!stats) return
    const isLast = stats.isDirectory() || stats.nlink === 1
    if (isLast && !open.has(stats.ino)) meter.add(-onDisk(stats), -1)
  }
  const look = (path: string): Stats | undefined => {
    try {
      return statsOf(path)
    } catch {
      return undefined // the operation itself will report the reason
    }
  }
  ops.mknod = (parent, name, mode, device) => {
    const bytes = files.isDir(mode) ? blockBytes : 0
    meter.require(`${files.getPath(parent)}/${name}`, bytes, 1)
    const node = mknod(parent, name, mode, device)
    meter.add(bytes, 1)
    return node
  }
  ops.unlink = (parent, name) => {
    const stats = look(at(parent, name))
    unlink(parent, name)
    gone(stats)
  }
  ops.rmdir = (parent, name) => {
    const stats = look(at(parent, name))
    rmdir(parent, name)
    gone(stats)
  }
  ops.rename = (node, folder, name) => {
    const replaced = look(at(folder, name))
    const moved = look(nodeFiles.realPath(node))
    rename(node, folder, name)
    if (replaced && replaced.ino !== moved?.ino) gone(replaced)
  }
}
