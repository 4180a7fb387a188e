import { inParallel } from '../platform/in-parallel.ts'
import { idText } from './format/chunk.ts'
import { type IndexedPack, openIndex } from './format/index-object.ts'
import type { RepositoryKeys } from './format/keys.ts'
import { lastPart, type Mark, markOf, packName } from './format/object-names.ts'
import { packedChunks, readPackTable } from './format/pack.ts'
import type { Storage } from './storage/storage.ts'

/** The place where a chunk can be read. */
export interface ChunkLocation {
  readonly pack: PackState
  readonly offset: number
  readonly sealedBytes: number
  readonly sizeBytes: number
}

/** A pack that the storage contains. */
export interface PackState {
  readonly id: string
  readonly sizeBytes: number
  readonly modifiedAt: number
  /**
   * Whether an index lists it. A pack without an index belongs to a writer that is running or has died, so it may never
   * have been read back.
   */
  readonly isIndexed: boolean
  /** Whether new backups must not reuse it. */
  isMarked: boolean
}

/** The known chunks and their places. An entry does not prove that the chunk exists. Only reading the chunk does. */
export class ChunkIndex {
  readonly packs = new Map<string, PackState>()
  readonly marks: Mark[] = []
  /** The names of the indexes that were read for it. */
  readonly sources: string[] = []
  /** The tables by pack. */
  readonly tables = new Map<string, Buffer>()
  /** Packs that may lack content: marked as damaged, truncated, or in an index but not in the storage. */
  readonly suspects = new Set<string>()
  /** Descriptions of the parts that could not be read. */
  readonly faults: string[] = []
  readonly #writtenBytes = new Map<string, number>()
  readonly #first = new Map<string, ChunkLocation>()
  readonly #others = new Map<string, ChunkLocation[]>()

  add({ pack: id, sizeBytes, table }: IndexedPack, state?: Partial<PackState>): void {
    const pack = this.packs.get(id) ?? { id, sizeBytes, modifiedAt: 0, isIndexed: true, isMarked: false, ...state }
    this.packs.set(id, pack)
    if (this.tables.has(id)) return
    this.tables.set(id, table)
    this.#writtenBytes.set(id, sizeBytes)
    for (const row of packedChunks(table)) {
      const chunk = idText(row.id)
      const location = { pack, offset: row.offset, sealedBytes: row.sealedBytes, sizeBytes: row.sizeBytes }
      const known = this.#first.get(chunk)
      if (!known) this.#first.set(chunk, location)
      else {
        const others = this.#others.get(chunk) ?? []
        this.#others.set(chunk, [...others, location])
      }
    }
  }

  /** Returns all places of a chunk, those without doubts first. The order is the same for every reader. */
  locations(chunk: string): readonly ChunkLocation[] {
    const first = this.#first.get(chunk)
    if (!first) return []
    const others = this.#others.get(chunk)
    if (!others) return [first]
    const rank = ({ pack }: ChunkLocation) => `${pack.isMarked ? 1 : 0}${pack.id}`
    return [first, ...others].sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
  }

  /** Returns the length of a pack when it was written. The storage may have another. */
  writtenBytes(pack: string): number {
    return this.#writtenBytes.get(pack) ?? 0
  }

  /** Returns a place that new backups may reuse. */
  usable(chunk: string): ChunkLocation | undefined {
    const [best] = this.locations(chunk)
    return best && !best.pack.isMarked ? best : undefined
  }

  /** Returns the names of the chunks of a pack, 32 bytes each. */
  idsOf(pack: string): Buffer {
    return Buffer.concat(Array.from(packedChunks(this.tables.get(pack) ?? Buffer.alloc(0)), ({ id }) => id))
  }

  /** Returns the names of all chunks that new backups may reuse, 32 bytes each. */
  usableIds(): Buffer {
    const usable = [...this.tables.keys()].filter((pack) => this.packs.get(pack)?.isMarked === false)
    return Buffer.concat(usable.map((pack) => this.idsOf(pack)))
  }
}

/** How often the load is retried if an index disappears in a merge in the meantime. */
const ATTEMPTS = 5

/**
 * Reads which chunks an owner has. Unreadable parts count as absent. For packs without an index, it reads the table in
 * the pack.
 */
export async function loadIndex(storage: Storage, keys: RepositoryKeys, signal?: AbortSignal): Promise<ChunkIndex> {
  for (let attempt = 1; ; attempt++) {
    const index = await tryLoad(storage, keys, attempt < ATTEMPTS, signal)
    if (index) return index
  }
}

async function tryLoad(
  storage: Storage,
  keys: RepositoryKeys,
  mayFail: boolean,
  signal: AbortSignal | undefined,
): Promise<ChunkIndex | undefined> {
  const { owner } = keys
  const index = new ChunkIndex()
  // Indexes come before packs: an index that is written in between describes packs that the second list contains.
  const indexes = await storage.list(`${owner}/indexes/`, signal)
  const tables = new Map<string, IndexedPack>()
  let isGone = false
  await inParallel(8, indexes, async ({ name }) => {
    const sealed = await storage.get(name, undefined, signal)
    if (!sealed) {
      isGone = true
      return
    }
    try {
      for (const each of openIndex(keys, lastPart(name), sealed)) tables.set(each.pack, each)
      index.sources.push(name)
    } catch (error) {
      // The tables in its packs are read instead. The next merge replaces it.
      index.sources.push(name)
      index.faults.push(`index ${lastPart(name)}: ${(error as Error).message}`)
    }
  })
  if (isGone && mayFail) return undefined
  const [packs, marks] = [await storage.list(`${owner}/packs/`, signal), await storage.list(`${owner}/marks/`, signal)]
  index.marks.push(...marks.flatMap(({ name }) => markOf(name) ?? []))
  const marked = new Set(index.marks.map(({ pack }) => pack))
  for (const { pack, reason } of index.marks) if (reason === 'damaged') index.suspects.add(pack)
  // The order must be the same for every reader.
  packs.sort((one, other) => (one.name < other.name ? -1 : 1))
  const states = packs.map(({ name, sizeBytes, modifiedAt }) => {
    const id = lastPart(name)
    return { id, sizeBytes, modifiedAt, isIndexed: tables.has(id), isMarked: marked.has(id) }
  })
  const listed = new Set(states.map(({ id }) => id))
  await inParallel(
    8,
    states.filter(({ id }) => !tables.has(id)),
    async ({ id, sizeBytes }) => {
      try {
        const read = (bytes: number) =>
          storage.get(packName(owner, id), { start: Math.max(0, sizeBytes - bytes) }, signal)
        tables.set(id, { pack: id, sizeBytes, table: await readPackTable(keys, id, read) })
      } catch (error) {
        if ((error as Error).name === 'StorageFailure' || signal?.aborted) throw error
        index.faults.push(`pack ${id}: ${(error as Error).message}`)
      }
    },
  )
  for (const id of tables.keys()) if (!listed.has(id)) index.suspects.add(id)
  for (const state of states) {
    const known = tables.get(state.id)
    // A pack of another length is not what was written. Its chunks can be found, but are not reused.
    if (known) {
      const isCutOff = state.sizeBytes !== known.sizeBytes
      if (isCutOff) index.suspects.add(state.id)
      index.add(known, { ...state, isMarked: state.isMarked || isCutOff })
    } else index.packs.set(state.id, { ...state, isMarked: true })
  }
  return index
}
