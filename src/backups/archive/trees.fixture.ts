import {
  BackupDamaged,
  BackupMissing,
  type BackupRepository,
  type StoredEntry,
  type StoredFile,
} from '../backup-store.ts'

/** The content of a file, or the number of its zeros. */
export type Content = string | Buffer | { readonly zeros: number }

export const folder = (path: string, mode = 0o755): StoredEntry => ({ kind: 'folder', path, mode, mtimeMs: 1e12 })
export const link = (path: string, target: string): StoredEntry => ({ kind: 'link', path, mtimeMs: 1e12, target })

/** A tree in memory. A file in `lost` cannot be read beyond its first half. */
export class MemoryTree {
  readonly name = 'tree'
  readonly #entries: StoredEntry[] = []
  readonly #contents = new Map<string, Content>()
  readonly lost = new Set<string>()
  /** The number of content bytes that were read. */
  read = 0

  add(...entries: StoredEntry[]): this {
    this.#entries.push(...entries)
    return this
  }

  file(path: string, content: Content, { mode = 0o644, mtimeMs = 1.7e12 } = {}): this {
    const sizeBytes = typeof content === 'object' && 'zeros' in content ? content.zeros : Buffer.byteLength(content)
    this.#contents.set(path, content)
    return this.add({ kind: 'file', path, mode, mtimeMs, sizeBytes, stamp: '', chunks: [] })
  }

  /** Returns the tree in the form that archives read. */
  get source() {
    return { repository: this as unknown as BackupRepository, name: this.name }
  }

  async *entries(name: string): AsyncGenerator<StoredEntry> {
    if (name !== this.name) throw new BackupMissing(name)
    yield* this.#entries
  }

  async *readFile(file: StoredFile, { start = 0 } = {}): AsyncGenerator<Uint8Array> {
    const end = this.lost.has(file.path) ? Math.floor(file.sizeBytes / 2) : file.sizeBytes
    for (let at = start; at < end; at += 100_000) {
      const piece = this.#piece(file.path, at, Math.min(end, at + 100_000))
      this.read += piece.length
      yield piece
    }
    if (end < file.sizeBytes) throw new BackupDamaged(`${file.path}: the chunk c0ffee is lost`)
  }

  #piece(path: string, from: number, to: number): Uint8Array {
    const content = this.#contents.get(path)!
    if (typeof content === 'object' && 'zeros' in content) return new Uint8Array(to - from)
    return Buffer.from(content as string).subarray(from, to)
  }
}
