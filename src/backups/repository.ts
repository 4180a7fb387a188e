import { inParallel } from '../platform/in-parallel.ts'
import {
  BackupDamaged,
  type BackupFacts,
  BackupMissing,
  type BackupRepository,
  type ListOptions,
  type StoredEntry,
} from './backup-store.ts'
import { loadIndex } from './chunk-index.ts'
import { entriesOf, listedParts } from './format/listing.ts'
import { factsOf, type Manifest } from './format/manifest.ts'
import { backupName, checkName, OBJECT_KINDS } from './format/object-names.ts'
import { ChunkLost, ChunkReader } from './reading/chunk-reader.ts'
import { damagedBackups } from './reading/damaged-backups.ts'
import { findManifest, listBackupObjects, type RepositoryParts, readManifest } from './reading/manifests.ts'
import { verifyBackup } from './reading/verify-backup.ts'
import { sweep } from './sweep.ts'
import { writeStream, writeTree } from './writing/write-backup.ts'

/** The conditions for a change. Each throws when the change is not allowed. */
export interface ChangeConditions {
  /** Also prepares the storage. */
  toWrite(): Promise<void>
  toRemove(): Promise<void>
}

/** The backups of one owner. */
export class Repository implements BackupRepository {
  readonly #open: () => Promise<RepositoryParts>
  readonly #change: ChangeConditions
  #reader: Promise<ChunkReader> | undefined

  /** @param open returns the basis of all work */
  constructor(open: () => Promise<RepositoryParts>, change: ChangeConditions) {
    this.#open = open
    this.#change = change
  }

  writeTree: BackupRepository['writeTree'] = async (entries, options) => {
    checkName(options.name)
    await this.#change.toWrite()
    return writeTree(await this.#open(), entries, options)
  }

  writeStream: BackupRepository['writeStream'] = async (content, options) => {
    checkName(options.name)
    await this.#change.toWrite()
    return writeStream(await this.#open(), content, options)
  }

  async find(name: string): Promise<BackupFacts | undefined> {
    const manifest = await findManifest(await this.#open(), name)
    return manifest && factsOf(manifest)
  }

  async list({ onDamaged }: ListOptions = {}): Promise<BackupFacts[]> {
    const parts = await this.#open()
    const found: BackupFacts[] = []
    await inParallel(8, await listBackupObjects(parts), async ({ name, kind }) => {
      const manifest = await readManifest(parts, name, kind).catch((error) => {
        if (!onDamaged || !(error instanceof BackupDamaged)) throw error
        onDamaged(name, error)
      })
      if (manifest) found.push(factsOf(manifest))
    })
    return found.sort((one, other) => one.createdAt - other.createdAt || (one.name < other.name ? -1 : 1))
  }

  /** Yields the readable entries of the listing. Unreadable parts are left out, and reported in an error at the end. */
  async *entries(name: string): AsyncGenerator<StoredEntry> {
    const { listing } = await this.#manifest(name, 'tree')
    const faults: string[] = []
    for (const chunk of listing) {
      const bytes = await this.#read(chunk).catch((error) => {
        if (!(error instanceof ChunkLost)) throw error
        faults.push(error.message)
        return Buffer.alloc(0)
      })
      yield* entriesOf(bytes)
    }
    if (faults.length > 0)
      throw new BackupDamaged(`Parts of the list of backup ${name} are lost: ${faults.join('; ')}.`)
  }

  async *readFile(file: Extract<StoredEntry, { kind: 'file' }>, { start = 0 } = {}): AsyncGenerator<Uint8Array> {
    const reader = await this.#openReader()
    yield* this.#contents(
      file.path,
      file.chunks.map((chunk) => ({ chunk, sizeBytes: reader.sizeOf(chunk) })),
      start,
    )
  }

  async *readStream(name: string, { start = 0 } = {}): AsyncGenerator<Uint8Array> {
    const { listing } = await this.#manifest(name, 'stream')
    let at = 0
    for (const chunk of listing) {
      const parts = [...listedParts(await this.#saying(name, () => this.#read(chunk)))]
      const sizeBytes = parts.reduce((sum, each) => sum + each.sizeBytes, 0)
      if (at + sizeBytes > start) yield* this.#contents(name, parts, Math.max(0, start - at))
      at += sizeBytes
    }
  }

  async verify(...[name, options]: Parameters<BackupRepository['verify']>): Promise<BackupFacts> {
    return verifyBackup(await this.#open(), name, options)
  }

  async damaged({ signal }: { signal?: AbortSignal } = {}): Promise<ReadonlyMap<string, string>> {
    return damagedBackups(await this.#open(), signal)
  }

  async remove(name: string): Promise<void> {
    await this.#change.toRemove()
    const { storage, keys } = await this.#open()
    checkName(name)
    await storage.remove(OBJECT_KINDS.map((kind) => backupName(keys.owner, name, kind)))
  }

  async sweep(options: { signal?: AbortSignal } = {}): Promise<{ freedBytes: number }> {
    await this.#change.toRemove()
    return sweep(await this.#open(), options.signal)
  }

  async newestAt(): Promise<number | undefined> {
    const times = (await listBackupObjects(await this.#open())).map(({ modifiedAt }) => modifiedAt)
    return times.length === 0 ? undefined : times.reduce((one, other) => Math.max(one, other))
  }

  async storedBytes(): Promise<number> {
    const { storage, keys } = await this.#open()
    return (await storage.list(`${keys.owner}/`)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  async #manifest(name: string, kind: 'tree' | 'stream'): Promise<Manifest> {
    const parts = await this.#open()
    const manifest = await readManifest(parts, checkName(name), kind)
    if (!manifest) throw new BackupMissing(`${parts.keys.owner} has no backup ${name} (${kind}).`)
    return manifest
  }

  async *#contents(
    subject: string,
    parts: readonly { chunk: string; sizeBytes: number | undefined }[],
    start: number,
  ): AsyncGenerator<Uint8Array> {
    let skip = start
    for (const { chunk, sizeBytes } of parts) {
      if (sizeBytes !== undefined && sizeBytes <= skip) {
        skip -= sizeBytes
        continue
      }
      const bytes = await this.#saying(subject, async () => (await this.#openReader()).readOn(chunk))
      if (bytes.length > skip) yield bytes.subarray(skip)
      skip = Math.max(0, skip - bytes.length)
    }
  }

  async #saying(subject: string, read: () => Promise<Buffer>): Promise<Buffer> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ChunkLost)) throw error
      throw new BackupDamaged(`${subject}: ${error.message}.`, { cause: error })
    }
  }

  async #read(chunk: string): Promise<Buffer> {
    return (await this.#openReader()).read(chunk)
  }

  /** Opens a reader for all reads through this object. It searches again for a chunk that is not in its known place. */
  #openReader(): Promise<ChunkReader> {
    this.#reader ??= this.#open().then(
      async (parts) => new ChunkReader(parts, await loadIndex(parts.storage, parts.keys)),
    )
    this.#reader.catch(() => {
      this.#reader = undefined
    })
    return this.#reader
  }
}
