import type { ChunkIndex } from '../chunk-index.ts'
import { entriesOf } from '../format/listing.ts'
import { ChunkReader } from '../reading/chunk-reader.ts'
import { newestTree, type RepositoryParts } from '../reading/manifests.ts'

export interface KnownFile {
  readonly sizeBytes: number
  readonly chunks: readonly string[]
}

/** Files of an earlier backup. */
export interface KnownFiles {
  /** The content of a file, when it had the same stamp at the same path. */
  find(path: string, stamp: string): KnownFile | undefined
}

/** Files of the newest tree. What cannot be read of it is not known: those files are read anew. */
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
    find(path, stamp) {
      const known = files.get(path)
      return known?.stamp === stamp ? known : undefined
    },
  }
}
