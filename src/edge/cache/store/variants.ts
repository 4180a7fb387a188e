/** An entry that is one of several variants of an address. */
export interface Variant {
  readonly key: string
  /** The address that it is a variant of. Undefined if it is the only one. */
  readonly variantOf: string | undefined
  readonly bytes: number
  readonly hits: number
}

/** The bound for an address. */
const MOST_COPIES = 16
/** The bound of those that were never requested again. */
const MOST_NEW = MOST_COPIES / 4

/** The variants of addresses that have several, bounded by number and by bytes for each address. */
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

  /** Marks a variant as used, so that it is dropped last. */
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
   * Returns the variant of an address to drop, if any. Those that were never requested again go first when there are
   * many, so that invented headers evict each other. The newest stays.
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
