import type { ChunkIndex } from '../chunk-index.ts'
import { entriesOf } from '../format/listing.ts'
import { ChunkReader } from '../reading/chunk-reader.ts'
import { newestTree, type RepositoryParts } from '../reading/manifests.ts'
import type { PackCheck } from '../reading/sound-packs.ts'

export interface KnownFile {
  readonly sizeBytes: number
  readonly chunks: readonly string[]
}

/** The files of an earlier backup. */
export interface KnownFiles {
  /** Returns the content of a file that had the same stamp at the same path. */
  find(path: string, stamp: string): KnownFile | undefined
  /** The packs of that backup, with the times when they were last read back. */
  readonly checks: ReadonlyMap<string, PackCheck>
}

/** Returns the files of the newest tree. Files in unreadable parts are unknown, and read again. */
export async function knownFiles(
  parts: RepositoryParts,
  index: ChunkIndex,
  signal: AbortSignal | undefined,
): Promise<KnownFiles> {
  const files = new Map<string, KnownFile & { stamp: string }>()
  const newest = await newestTree(parts)
  const reader = new ChunkReader(parts, index)
  for (const chunk of newest?.listing ?? []) {
    const listing = await reader.read(chunk, signal).catch((error: Error) => {
      if (error.name === 'StorageFailure' || signal?.aborted) throw error
      return Buffer.alloc(0)
    })
    for (const entry of entriesOf(listing))
      if (entry.kind === 'file') {
        const { path, stamp, sizeBytes, chunks } = entry
        files.set(path, { stamp, sizeBytes, chunks })
      }
  }
  return {
    checks: new Map((newest?.checks ?? []).map(([pack, at, modifiedAt]) => [pack, { at, modifiedAt }])),
    find(path, stamp) {
      const known = files.get(path)
      return known?.stamp === stamp ? known : undefined
    },
  }
}
