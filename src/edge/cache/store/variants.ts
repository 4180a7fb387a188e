/** What is one of several copies of an address. */
export interface Variant {
  readonly key: string
  /** The address that it is a copy of; undefined: it is the only one. */
  readonly variantOf: string | undefined
  readonly bytes: number
  readonly hits: number
}

/** Of an address. */
const MOST_COPIES = 16
/** Of them, those that were never asked for again. */
const MOST_NEW = MOST_COPIES / 4

/** The copies of addresses that have several, bounded by number and by bytes for each address. */
export class Variants<T extends Variant> {
  /** In the order of their use. */
  readonly #byAddress = new Map<string, Set<T>>()
  readonly #mostBytes: number
  #count = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  get count(): number {
    return this.#count
  }

  of(address: string): readonly T[] {
    return [...(this.#byAddress.get(address) ?? [])]
  }

  add(copy: T): void {
    if (copy.variantOf === undefined) return
    const group = this.#byAddress.get(copy.variantOf) ?? new Set()
    this.#byAddress.set(copy.variantOf, group.add(copy))
    this.#count++
  }

  /** It was used: it is the last to go. */
  use(copy: T): void {
    const group = copy.variantOf === undefined ? undefined : this.#byAddress.get(copy.variantOf)
    if (group?.delete(copy)) group.add(copy)
  }

  remove(copy: T): void {
    const group = copy.variantOf === undefined ? undefined : this.#byAddress.get(copy.variantOf)
    if (!group?.delete(copy)) return
    this.#count--
    if (group.size === 0) this.#byAddress.delete(copy.variantOf as string)
  }

  /**
   * Which copy of an address has to go, if any. Those that nobody asked for again go first when they are many, so that made-up headers push
   * out each other. The newest stays.
   */
  tooMany(address: string): T | undefined {
    const group = this.#byAddress.get(address)
    if (!group || group.size < 2) return undefined
    const variants = [...group]
    const bytes = variants.reduce((sum, copy) => sum + copy.bytes, 0)
    if (variants.length <= MOST_COPIES && bytes <= this.#mostBytes) return undefined
    const older = variants.slice(0, -1)
    const unused = older.filter(({ hits }) => hits === 0)
    return unused.length >= MOST_NEW ? unused[0] : (older.find(({ hits }) => hits > 0) ?? older[0])
  }
}
