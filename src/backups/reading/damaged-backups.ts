import { BackupDamaged } from '../backup-store.ts'
import { loadIndex } from '../chunk-index.ts'
import { entriesOf, listedParts } from '../format/listing.ts'
import type { Manifest } from '../format/manifest.ts'
import { ChunkLost, ChunkReader } from './chunk-reader.ts'
import { listBackupObjects, type RepositoryParts, readManifest } from './manifests.ts'

/**
 * Finds backups that have lost something, as far as readers have noticed: they mark each damaged pack. Reads nothing if
 * no pack is suspect.
 * @returns by name, a description of the first loss
 */
export async function damagedBackups(parts: RepositoryParts, signal?: AbortSignal): Promise<Map<string, string>> {
  const index = await loadIndex(parts.storage, parts.keys, signal)
  const damaged = new Map<string, string>()
  if (index.suspects.size === 0) return damaged
  const look = new Look(new ChunkReader(parts, index), signal)
  for (const { name, kind } of await listBackupObjects(parts)) {
    signal?.throwIfAborted()
    try {
      const manifest = await readManifest(parts, name, kind)
      const isSuspect = [...(manifest?.packs ?? []), ...(manifest?.leansOn ?? [])].some((id) => index.suspects.has(id))
      const fault = manifest && isSuspect ? await look.faultOf(manifest, (chunk) => !index.usable(chunk)) : undefined
      if (fault !== undefined) damaged.set(name, fault)
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
      damaged.set(name, error.message)
    }
  }
  return damaged
}

class Look {
  readonly #reader: ChunkReader
  readonly #signal: AbortSignal | undefined
  /** Whether chunks in suspect packs are lost. Most backups share them. */
  readonly #known = new Map<string, boolean>()

  constructor(reader: ChunkReader, signal: AbortSignal | undefined) {
    this.#reader = reader
    this.#signal = signal
  }

  async faultOf({ listing, kind }: Manifest, isSuspect: (chunk: string) => boolean): Promise<string | undefined> {
    for (const chunk of listing) {
      const bytes = await this.#reader.read(chunk, this.#signal).catch((error) => {
        if (!(error instanceof ChunkLost)) throw error
        return undefined
      })
      if (!bytes) return 'a part of its list'
      for (const [what, each] of chunksIn(bytes, kind)) if (isSuspect(each) && (await this.#isLost(each))) return what
    }
    return undefined
  }

  async #isLost(chunk: string): Promise<boolean> {
    const known = this.#known.get(chunk)
    if (known !== undefined) return known
    const isLost = await this.#reader.read(chunk, this.#signal).then(
      () => false,
      (error) => {
        if (error instanceof ChunkLost) return true
        throw error
      },
    )
    this.#known.set(chunk, isLost)
    return isLost
  }
}

function* chunksIn(listing: Buffer, kind: Manifest['kind']): Generator<[what: string, chunk: string]> {
  if (kind === 'stream') for (const { chunk } of listedParts(listing)) yield ['a part of the dump', chunk]
  else
    for (const entry of entriesOf(listing))
      if (entry.kind === 'file') for (const chunk of entry.chunks) yield [entry.path, chunk]
}
