import { setImmediate as breathe } from 'node:timers/promises'

/** Entries that are read, and leave, together: what a list holds of the process, and how long it keeps others waiting. */
const PART = 100

/** The data of an answer that is too long to be held at once: it is read while it leaves, as fast as its client takes it. */
export class LongList {
  readonly parts: AsyncIterable<readonly unknown[]>

  /** @param parts the first is there already: what fails later breaks off an answer that has begun */
  constructor(parts: AsyncIterable<readonly unknown[]>) {
    this.parts = parts
  }
}

/**
 * A list of which only the keys are known: each entry is in it once, at its place, however the order changes while it is read.
 * @param read the entries of these keys as they are now, in their order; without those that are gone by now
 * @returns a list that is short as it is
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
    // SQLite's answers come without a turn of the event loop, and a quick client would have all of them
    await breathe()
    yield await read(keys.slice(from, from + PART))
  }
}

/**
 * The text of an answer around a long list, in pieces.
 * @param write makes JSON of an answer whose `data` is some of the entries, as the contract describes it
 */
export async function* textOf(list: LongList, write: (data: readonly unknown[]) => string): AsyncGenerator<string> {
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
