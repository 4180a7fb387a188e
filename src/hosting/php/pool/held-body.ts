import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { addressKey } from '../../../platform/budgets/address-key.ts'
import type { Budget, BudgetKey, Share } from '../../../platform/budgets/budget.ts'
import { openNameless } from '../../../platform/files/nameless-file.ts'
import { PhpBodyTooLarge, PhpBusy } from '../runtime.ts'

export interface BodyLimits {
  readonly mostBytes: number
  /** Folder for long bodies. See `namelessFolder`. */
  readonly folder: string
  readonly budgets: BodyBudgets
  /** Whether the folder's disk has space for sites' data. Default: always. */
  readonly hasRoom?: () => boolean
}

/** Budgets that count a body from the head of its request until PHP has it. */
export interface BodyBudgets {
  /** Number of bodies per site. */
  readonly bodies: Budget
  /** Number of bodies per visitor. */
  readonly bodiesOfAddress: Budget
  /** Bytes per site. */
  readonly bodyMemory: Budget
  readonly bodyDisk: Budget
  /** Bytes per visitor. */
  readonly bodyDiskOfAddress: Budget
}

/** A body on its way to a site. */
export interface IncomingBody {
  readonly stream: AsyncIterable<Buffer>
  /** Undefined when the visitor has not announced it. */
  readonly announcedBytes: number | undefined
  readonly siteId: number
  /** Address of the visitor. */
  readonly address: string
}

/** A complete request body, in memory or in an unlinked file. */
export interface HeldRequestBody {
  readonly bytes: number
  read(): Readable
  /** Must be called when the body is no longer needed. */
  release(): Promise<void>
}

/** Longer bodies go to a file. */
const MOST_MEMORY_BYTES = 1 << 16
/** Disk budget that a body of unknown length takes at a time. */
const STEP_BYTES = 1 << 18

/**
 * Receives a request body before PHP is requested, so that a visitor with a slow connection does not keep the site's
 * only PHP waiting. Its budget is decided before its first byte is read: the announced length counts from then on.
 * @throws PhpBodyTooLarge, PhpBusy, and errors of the body's stream
 */
export async function holdRequestBody(incoming: IncomingBody, limits: BodyLimits): Promise<HeldRequestBody> {
  const { announcedBytes } = incoming
  const room = new BodyRoom(incoming, limits)
  let keep: Keep | undefined
  let bytes = 0
  try {
    if (announcedBytes !== undefined && announcedBytes > limits.mostBytes) throw tooLarge(limits)
    keep = room.takeMemory(announcedBytes) ?? new InFile(limits.folder, room, announcedBytes)
    for await (const chunk of incoming.stream) {
      bytes += chunk.length
      if (bytes > Math.min(limits.mostBytes, announcedBytes ?? limits.mostBytes)) throw tooLarge(limits)
      if (!(await keep.add(chunk))) keep = await inFileInstead(keep as InMemory, limits.folder, room, chunk)
    }
  } catch (error) {
    await keep?.close()
    room.free()
    // ENOSPC: others have filled the disk.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw new PhpBusy('no room on the disk for the body')
    throw error
  }
  const whole = keep
  return {
    bytes,
    read: () => whole.read(),
    async release() {
      await whole.close()
      room.free()
    },
  }
}

const tooLarge = ({ mostBytes }: BodyLimits) => new PhpBodyTooLarge(`the body is longer than ${mostBytes} bytes`)

/** The budget shares of one body. */
class BodyRoom {
  readonly #shares: Share[] = []
  readonly #memory: Share
  readonly #disk: Share
  readonly #diskOfAddress: Share
  readonly #hasRoom: () => boolean

  /** @throws PhpBusy */
  constructor({ siteId, address }: IncomingBody, { budgets, hasRoom = () => true }: BodyLimits) {
    this.#hasRoom = hasRoom
    const visitor = addressKey(address)
    const share = (budget: Budget, key: BudgetKey) => {
      const taken = budget.share(key)
      this.#shares.push(taken)
      return taken
    }
    this.#memory = share(budgets.bodyMemory, siteId)
    this.#disk = share(budgets.bodyDisk, siteId)
    this.#diskOfAddress = share(budgets.bodyDiskOfAddress, visitor)
    if (share(budgets.bodies, siteId).take(1) && share(budgets.bodiesOfAddress, visitor).take(1)) return
    this.free()
    throw new PhpBusy('too many bodies of this site, or of this visitor, are being received')
  }

  /** @returns undefined when the body is longer, or memory is short */
  takeMemory(announcedBytes = MOST_MEMORY_BYTES): Keep | undefined {
    if (announcedBytes > MOST_MEMORY_BYTES || !this.#memory.take(announcedBytes)) return undefined
    return new InMemory(announcedBytes)
  }

  /** Frees the memory share when the body moves to a file. */
  giveMemory(): void {
    this.#memory.free()
  }

  /** @throws PhpBusy */
  takeDisk(bytes: number): void {
    this.askDisk()
    if (this.#disk.take(bytes)) {
      if (this.#diskOfAddress.take(bytes)) return
      this.#disk.give(bytes)
    }
    throw new PhpBusy('too much is being received for this site, or from this visitor')
  }

  /** @throws PhpBusy when the rest of the disk is reserved for more important things */
  askDisk(): void {
    if (!this.#hasRoom()) throw new PhpBusy('no room on the disk for the body')
  }

  free(): void {
    for (const share of this.#shares) share.free()
  }
}

interface Keep {
  /** @returns false when it does not fit */
  add(chunk: Buffer): Promise<boolean>
  read(): Readable
  close(): Promise<void>
}

/** Uses a single buffer, because separate chunks of a few bytes would take many times the body's length. */
class InMemory implements Keep {
  readonly #bytes: Buffer
  #used = 0

  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytes)
  }

  get whole(): Buffer {
    return this.#bytes.subarray(0, this.#used)
  }

  async add(chunk: Buffer): Promise<boolean> {
    if (this.#used + chunk.length > this.#bytes.length) return false
    this.#bytes.set(chunk, this.#used)
    this.#used += chunk.length
    return true
  }

  read(): Readable {
    return Readable.from([this.whole])
  }

  async close(): Promise<void> {}
}

class InFile implements Keep {
  readonly #folder: string
  readonly #room: BodyRoom
  #file: FileHandle | undefined
  #taken: number
  #used = 0

  /** @throws PhpBusy */
  constructor(folder: string, room: BodyRoom, announcedBytes = STEP_BYTES) {
    this.#folder = folder
    this.#room = room
    this.#taken = announcedBytes
    room.takeDisk(announcedBytes)
  }

  async add(chunk: Buffer): Promise<boolean> {
    this.#used += chunk.length
    while (this.#used > this.#taken) {
      this.#room.takeDisk(STEP_BYTES)
      this.#taken += STEP_BYTES
    }
    this.#room.askDisk()
    this.#file ??= await openNameless(this.#folder)
    await this.#file.appendFile(chunk)
    return true
  }

  read(): Readable {
    if (!this.#file) return Readable.from([])
    return this.#file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 18 })
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }
}

/** Moves a body of unknown length to a file when it outgrows memory. */
async function inFileInstead(before: InMemory, folder: string, room: BodyRoom, chunk: Buffer): Promise<Keep> {
  const file = new InFile(folder, room)
  try {
    await file.add(before.whole)
    await file.add(chunk)
  } catch (error) {
    await file.close()
    throw error
  }
  room.giveMemory()
  return file
}
