/**
 * Counts what PHP writes against the room that its site has, and refuses more as a full disk would: PHP, and SQLite in it, know
 * what to do then. It sits below every way to the disk that PHP has, so that a single request cannot get past it.
 *
 * What counts is what the disk gives up for a file: its blocks, and its length where that is more (a file with a hole is filled
 * later). The host tells how much there was at the start, and again when it has measured while PHP did nothing.
 */
import { fstatSync, lstatSync, type Stats, statfsSync } from 'node:fs'
import type { DiskRoom } from '../frames.ts'
import type { NodeFileSystem, WasmFileSystem, WasmNode } from './loader.ts'

const noSpace = 51 // ENOSPC in emscripten's numbering: the one that SQLite takes for a full disk
const blockBytes = 4096
/** The disk itself is asked again after so much, or so long. */
const askAfterBytes = 1 << 20
const askAfterMs = 100
const fewInodes = 1000

export interface DiskMeter {
  /** What the host has found out. */
  set(room: DiskRoom): void
  /** Why something was refused since the last call. */
  refusal(): 'quota' | 'disk' | undefined
}

const roundUp = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes
const onDisk = ({ blocks }: Stats): number => blocks * 512

/** @param root a folder on the disk whose free room counts */
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

  /** @throws ENOSPC when there is no room for so much more */
  require(path: string, bytes: number, entries = 0): void {
    const { usedBytes, usedFiles, quotaBytes, quotaFiles, databaseBytes } = this.#room
    // whoever signs in to make room needs the database
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
      // some file systems have no number of files
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

/** By inode: a file that was unlinked keeps its room until nothing has it open. */
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

/** `truncate` and `ftruncate`, which also make a file longer. */
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
    // what was a hole gives nothing back
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

/** Files and folders that come and go. */
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
      return undefined // the operation itself will say why
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
