import type { VerifyOptions } from '../backup-store.ts'
import { idBytes } from '../format/chunk.ts'
import { packName } from '../format/names.ts'
import type { ToCheck } from './chunk-opener.ts'
import type { RepositoryParts } from './manifests.ts'

/** Read and sent to the thread at once. */
const STRETCH_BYTES = 4 << 20

export type SoundOptions = Pick<VerifyOptions, 'signal' | 'yieldWhileBusy'>

/** A chunk, and where it should be. */
export interface Place {
  readonly chunk: string
  readonly pack: string
  readonly offset: number
  readonly sealedBytes: number
  readonly sizeBytes: number
}

/** Chunks that lie one after the other in a pack. */
type Stretch = readonly Place[]

/**
 * Looks which of many chunks are, at one place, what was written there. It reads long stretches and has a thread check each whole, so that
 * 20,000 small files cost no more than as many bytes. What is not among its answers is not lost yet: it may be elsewhere, or right when it is
 * read once more.
 * @throws StorageFailure
 */
export async function soundChunks(
  parts: RepositoryParts,
  places: readonly Place[],
  { signal, yieldWhileBusy }: SoundOptions,
): Promise<Set<string>> {
  const sound = new Set<string>()
  let checking: Promise<void> = Promise.resolve()
  for (const stretch of stretchesOf(places)) {
    signal?.throwIfAborted()
    await yieldWhileBusy?.()
    const bytes = await readStretch(parts, stretch, signal)
    await checking
    // while it is checked the next is read
    checking = bytes ? check(parts, stretch, bytes, sound) : Promise.resolve()
    checking.catch(() => {})
  }
  await checking
  return sound
}

function* stretchesOf(places: readonly Place[]): Generator<Stretch> {
  const inOrder = places.toSorted((one, other) =>
    one.pack === other.pack ? one.offset - other.offset : one.pack < other.pack ? -1 : 1,
  )
  let stretch: Place[] = []
  for (const each of inOrder) {
    const [first] = stretch
    if (first && (first.pack !== each.pack || endOf(each) - first.offset > STRETCH_BYTES)) {
      yield stretch
      stretch = []
    }
    stretch.push(each)
  }
  if (stretch.length > 0) yield stretch
}

const endOf = ({ offset, sealedBytes }: Place): number => offset + sealedBytes

async function readStretch(
  { storage, keys }: RepositoryParts,
  stretch: Stretch,
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  const [first, last] = [stretch[0] as Place, stretch.at(-1) as Place]
  const start = first.offset
  const range = { start, length: endOf(last) - start }
  return storage.get(packName(keys.owner, first.pack), range, signal)
}

async function check(
  { keys, opener }: RepositoryParts,
  stretch: Stretch,
  bytes: Buffer,
  sound: Set<string>,
): Promise<void> {
  const start = (stretch[0] as Place).offset
  const rows: ToCheck['rows'] = stretch.map(({ chunk, offset, sealedBytes, sizeBytes }) => ({
    id: idBytes(chunk),
    offset: offset - start,
    sealedBytes,
    sizeBytes,
  }))
  const answers = await opener.check({ keys, bytes, rows })
  answers.forEach((isSound, at) => {
    if (isSound) sound.add((stretch[at] as Place).chunk)
  })
}
