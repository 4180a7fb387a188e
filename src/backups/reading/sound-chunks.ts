import type { VerifyOptions } from '../backup-store.ts'
import type { ChunkIndex, Location } from '../chunk-index.ts'
import { idBytes } from '../format/chunk.ts'
import { packName } from '../format/names.ts'
import type { ToCheck } from './chunk-opener.ts'
import type { RepositoryParts } from './manifests.ts'

/** Read and sent to the thread at once. */
const STRETCH_BYTES = 4 << 20

export type SoundOptions = Pick<VerifyOptions, 'signal' | 'giveWay'>

interface Wanted {
  readonly chunk: string
  readonly location: Location
}

/** Chunks that lie one after the other in a pack. */
type Stretch = readonly Wanted[]

/**
 * Looks which of many chunks are, at the first place that the index knows, what was written there. It reads long stretches and has a thread check each
 * whole, so that 20,000 small files cost no more than as many bytes. What is not among its answers is not lost yet: it may be elsewhere, or
 * right when it is read once more.
 * @throws StorageFailure
 */
export async function soundChunks(
  parts: RepositoryParts,
  index: ChunkIndex,
  chunks: readonly string[],
  { signal, giveWay }: SoundOptions,
): Promise<Set<string>> {
  const sound = new Set<string>()
  let checking: Promise<void> = Promise.resolve()
  for (const stretch of stretchesOf(index, chunks)) {
    await giveWay?.()
    const bytes = await readStretch(parts, stretch, signal)
    await checking
    // while it is checked the next is read
    checking = bytes ? check(parts, stretch, bytes, sound) : Promise.resolve()
    checking.catch(() => {})
  }
  await checking
  return sound
}

function* stretchesOf(index: ChunkIndex, chunks: readonly string[]): Generator<Stretch> {
  const wanted: Wanted[] = []
  for (const chunk of chunks) {
    const [location] = index.locations(chunk)
    if (location) wanted.push({ chunk, location })
  }
  wanted.sort(({ location: one }, { location: other }) =>
    one.pack === other.pack ? one.offset - other.offset : one.pack.id < other.pack.id ? -1 : 1,
  )
  let stretch: Wanted[] = []
  for (const each of wanted) {
    const [first] = stretch
    if (first && (first.location.pack !== each.location.pack || endOf(each) - first.location.offset > STRETCH_BYTES)) {
      yield stretch
      stretch = []
    }
    stretch.push(each)
  }
  if (stretch.length > 0) yield stretch
}

const endOf = ({ location }: Wanted): number => location.offset + location.sealedBytes

async function readStretch(
  { storage, keys }: RepositoryParts,
  stretch: Stretch,
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  const [first, last] = [stretch[0] as Wanted, stretch.at(-1) as Wanted]
  const start = first.location.offset
  const range = { start, length: endOf(last) - start }
  return storage.get(packName(keys.owner, first.location.pack.id), range, signal)
}

async function check(
  { keys, opener }: RepositoryParts,
  stretch: Stretch,
  bytes: Buffer,
  sound: Set<string>,
): Promise<void> {
  const start = (stretch[0] as Wanted).location.offset
  const rows: ToCheck['rows'] = stretch.map(({ chunk, location: { offset, sealedBytes, sizeBytes } }) => ({
    id: idBytes(chunk),
    offset: offset - start,
    sealedBytes,
    sizeBytes,
  }))
  const answers = await opener.check({ keys, bytes, rows })
  answers.forEach((isSound, at) => {
    if (isSound) sound.add((stretch[at] as Wanted).chunk)
  })
}
