import { idText } from './format/chunk.ts'
import { type IndexedPack, openIndex } from './format/index-object.ts'
import type { RepositoryKeys } from './format/keys.ts'
import { lastPart, type Mark, markOf, packName } from './format/names.ts'
import { readTable, rowsOf } from './format/pack.ts'
import { inParallel } from './in-parallel.ts'
import type { Storage } from './storage/storage.ts'

/** Where a chunk can be read. */
export interface Location {
  readonly pack: PackState
  readonly offset: number
  readonly sealedBytes: number
  readonly sizeBytes: number
}

/** A pack that the storage has. */
export interface PackState {
  readonly id: string
  readonly sizeBytes: number
  readonly modifiedAt: number
  /** An index has it. One that has none is of a writer that is at work, or died: nobody may have read it back. */
  readonly isIndexed: boolean
  /** Nothing new may lean on it. */
  isMarked: boolean
}

/** Which chunks there are, and where. Existence here is no proof: only reading is. */
export class ChunkIndex {
  readonly packs = new Map<string, PackState>()
  readonly marks: Mark[] = []
  /** Names of the indexes that were read for it. */
  readonly sources: string[] = []
  /** Tables by pack. */
  readonly tables = new Map<string, Buffer>()
  /** Packs that may not have what they should: marked as damaged, cut off, or in an index and not in the storage. */
  readonly suspects = new Set<string>()
  /** What could not be read of it, in words. */
  readonly faults: string[] = []
  readonly #writtenBytes = new Map<string, number>()
  readonly #first = new Map<string, Location>()
  readonly #others = new Map<string, Location[]>()

  add({ pack: id, sizeBytes, table }: IndexedPack, state?: Partial<PackState>): void {
    const pack = this.packs.get(id) ?? { id, sizeBytes, modifiedAt: 0, isIndexed: true, isMarked: false, ...state }
    this.packs.set(id, pack)
    if (this.tables.has(id)) return
    this.tables.set(id, table)
    this.#writtenBytes.set(id, sizeBytes)
    for (const row of rowsOf(table)) {
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

  /** All places of a chunk, those first that are beyond doubt; the order is the same for everybody who looks. */
  locations(chunk: string): readonly Location[] {
    const first = this.#first.get(chunk)
    if (!first) return []
    const others = this.#others.get(chunk)
    if (!others) return [first]
    const rank = ({ pack }: Location) => `${pack.isMarked ? 1 : 0}${pack.id}`
    return [first, ...others].sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
  }

  /** Length of a pack as it was written, which is not always what the storage has of it. */
  writtenBytes(pack: string): number {
    return this.#writtenBytes.get(pack) ?? 0
  }

  /** A place that new backups may lean on. */
  usable(chunk: string): Location | undefined {
    const [best] = this.locations(chunk)
    return best && !best.pack.isMarked ? best : undefined
  }

  /** Names of the chunks of a pack, 32 bytes each. */
  idsOf(pack: string): Buffer {
    return Buffer.concat(Array.from(rowsOf(this.tables.get(pack) ?? Buffer.alloc(0)), ({ id }) => id))
  }

  /** Names of all chunks that new backups may lean on, 32 bytes each. */
  usableIds(): Buffer {
    const usable = [...this.tables.keys()].filter((pack) => this.packs.get(pack)?.isMarked === false)
    return Buffer.concat(usable.map((pack) => this.idsOf(pack)))
  }
}

/** How often an index that was merged meanwhile is looked for anew. */
const ATTEMPTS = 5

/** Reads which chunks an owner has. What cannot be read of it is not there; packs without an index are asked themselves. */
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
  // indexes before packs: one that is written in between is of packs that are on the list then
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
      // its packs are asked themselves; the next merge takes its place
      index.sources.push(name)
      index.faults.push(`index ${lastPart(name)}: ${(error as Error).message}`)
    }
  })
  if (isGone && mayFail) return undefined
  const [packs, marks] = [await storage.list(`${owner}/packs/`, signal), await storage.list(`${owner}/marks/`, signal)]
  index.marks.push(...marks.flatMap(({ name }) => markOf(name) ?? []))
  const marked = new Set(index.marks.map(({ pack }) => pack))
  for (const { pack, reason } of index.marks) if (reason === 'damaged') index.suspects.add(pack)
  // the same order for everybody
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
        tables.set(id, { pack: id, sizeBytes, table: await readTable(keys, id, read) })
      } catch (error) {
        if ((error as Error).name === 'StorageFailure' || signal?.aborted) throw error
        index.faults.push(`pack ${id}: ${(error as Error).message}`)
      }
    },
  )
  for (const id of tables.keys()) if (!listed.has(id)) index.suspects.add(id)
  for (const state of states) {
    const known = tables.get(state.id)
    // one of another length is not what was written: its chunks are looked for, and not leant on
    if (known) {
      const isCutOff = state.sizeBytes !== known.sizeBytes
      if (isCutOff) index.suspects.add(state.id)
      index.add(known, { ...state, isMarked: state.isMarked || isCutOff })
    } else index.packs.set(state.id, { ...state, isMarked: true })
  }
  return index
}
