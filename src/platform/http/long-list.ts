import { setImmediate as breathe } from 'node:timers/promises'

/** Entries that are read and sent together. This limits the memory of a list, and how long it makes others wait. */
const PART = 100

/** The data of an answer that is too long for memory. It is read while it is sent, as fast as the client reads. */
export class LongList {
  readonly parts: AsyncIterable<readonly unknown[]>

  /** @param parts the first part is already read; a later failure breaks off an answer that has begun */
  constructor(parts: AsyncIterable<readonly unknown[]>) {
    this.parts = parts
  }
}

/**
 * Reads a list from its keys. Each entry appears once, in its place, however the order changes in the meantime.
 * @param read returns the current entries of these keys in their order, without deleted ones
 * @returns the entries themselves if the list is short
 */
export async function readInParts<Key, Entry>(
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<Entry[]>,
): Promise<Entry[] | LongList> {
  const first = await read(keys.slice(0, PART))
  return keys.length <= PART ? first : new LongList(partsOf(first, keys, read))
}

async function* partsOf<Key, Entry>(
  first: Entry[],
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<Entry[]>,
): AsyncGenerator<Entry[]> {
  yield first
  for (let from = PART; from < keys.length; from += PART) {
    // SQLite answers without a turn of the event loop, so a fast client would otherwise get all the entries in one go.
    await breathe()
    yield await read(keys.slice(from, from + PART))
  }
}

/**
 * Yields the text of an answer around a long list, in pieces.
 * @param write returns the JSON of an answer whose `data` is some of the entries, as the contract describes it
 */
export async function* longListText(
  list: LongList,
  write: (data: readonly unknown[]) => string,
): AsyncGenerator<string> {
  const empty = write([])
  const begin = empty.indexOf('"data":[]') + '"data":['.length
  const [head, tail] = [empty.slice(0, begin), empty.slice(begin)]
  let before = head
  for await (const part of list.parts) {
    if (part.length === 0) continue
    yield before + write(part).slice(head.length, -tail.length)
    before = ','
  }
  yield before === ',' ? tail : empty
}
