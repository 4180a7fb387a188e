import { statfsSync } from 'node:fs'
import { access, constants, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/*
 * The order in which features stop while the disk of the data folder fills:
 *
 * sites      below 2 reserves: sites can no longer write (`php/wasm/child/disk-quota.ts`)
 * records    below 1.5 reserves: Stead stores no access log, PHP log, page views or pages on the disk
 * essential  below a quarter of a reserve: the reserve itself, a file of random bytes, is deleted. In its space Stead
 * signs
 *            people in, deletes and reads. It is created again when there is space for it and for sites
 */
export type DiskState = 'ok' | 'sites' | 'records' | 'essential'

const FOR_SITES = 2
const FOR_RECORDS = 1.5
const FOR_ESSENTIALS = 0.25
/** The number of reserves of free space at which it is created, so that space for sites remains. */
const TO_MAKE = 3.25

/** Returns the free space below which sites cannot write. */
export const keptFromSites = (reserveBytes: number): number => FOR_SITES * reserveBytes

const ASK_EVERY_MS = 100

/** The write was refused, so that the last of the disk stays free for more important data. */
export class DiskLow extends Error {
  override readonly name = 'DiskLow'
  readonly code = 'ENOSPC'
}

/** Measures the free space on the disk of a folder. A measurement takes some microseconds. */
export class FreeRoom {
  readonly #folder: string
  readonly #reserveBytes: number
  #freeBytes = 0
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(folder: string, reserveBytes: number) {
    this.#folder = folder
    this.#reserveBytes = reserveBytes
  }

  get freeBytes(): number {
    if (performance.now() - this.#askedAt > ASK_EVERY_MS) this.ask()
    return this.#freeBytes
  }

  /** The used share of the disk, from 0 to 1. What is reserved for root counts as used by nobody, as `df` counts. */
  get usedShare(): number {
    const { bavail, bfree, blocks } = statfsSync(this.#folder)
    const used = blocks - bfree
    return used + bavail > 0 ? used / (used + bavail) : 0
  }

  /** Measures now. */
  ask(): number {
    const { bavail, bsize } = statfsSync(this.#folder)
    this.#freeBytes = bavail * bsize
    this.#askedAt = performance.now()
    return this.#freeBytes
  }

  get state(): DiskState {
    return this.stateAt(this.freeBytes)
  }

  /** Returns the state for an amount of free space. */
  stateAt(freeBytes: number): DiskState {
    const reserves = freeBytes / this.#reserveBytes
    if (reserves >= FOR_SITES) return 'ok'
    if (reserves >= FOR_RECORDS) return 'sites'
    return reserves >= FOR_ESSENTIALS ? 'records' : 'essential'
  }

  /** Returns whether there is space for data that may be lost. */
  get hasRoomForRecords(): boolean {
    return this.state === 'ok' || this.state === 'sites'
  }

  /** @throws DiskLow */
  forRecords(): void {
    if (!this.hasRoomForRecords) throw new DiskLow('the disk is nearly full, recording is paused')
  }
}

export interface ReserveOptions {
  /** The data folder. */
  readonly folder: string
  readonly bytes: number
  readonly log: { warn(facts: object, message: string): void; info(facts: object, message: string): void }
  readonly everyMs?: number
}

const RESERVE_FILE = 'reserve'

/**
 * Deletes the reserve if the disk is full, before anything on it is opened, because a start needs some space too.
 * @returns whether a reserve was deleted
 */
export async function giveUpReserve(folder: string): Promise<boolean> {
  const file = join(folder, RESERVE_FILE)
  const size = await stat(file).then(
    (stats) => stats.size,
    () => 0,
  )
  if (size === 0 || new FreeRoom(folder, size).ask() >= FOR_ESSENTIALS * size) return false
  await rm(file, { force: true })
  return true
}

/** Returns whether a folder is writable. The kernel makes a file system read-only if its disk fails. */
export const isWritable = (folder: string): Promise<boolean> =>
  access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )

const PIECE_BYTES = 1 << 20

/** Maintains a file whose space Stead uses when the disk is full. One process per data folder does this. */
export class DiskReserve {
  readonly room: FreeRoom
  readonly #options: ReserveOptions
  readonly #file: string
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #stopped = false
  #said: DiskState = 'ok'

  constructor(options: ReserveOptions) {
    this.#options = options
    this.#file = join(options.folder, RESERVE_FILE)
    this.room = new FreeRoom(options.folder, options.bytes)
  }

  start(): void {
    if (this.#stopped) return
    this.#looking = this.look()
      .catch((error) => this.#options.log.warn({ err: error }, 'could not create the disk reserve'))
      .then(() => {
        this.#timer = setTimeout(() => this.start(), this.#options.everyMs ?? 500).unref()
        if (this.#stopped) clearTimeout(this.#timer)
      })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  /** Deletes or creates the reserve, depending on the current free space. */
  async look(): Promise<void> {
    const { bytes, log } = this.#options
    const freeBytes = this.room.ask()
    const size = await stat(this.#file).then(
      (stats) => stats.size,
      () => 0,
    )
    if (size > 0 && freeBytes < FOR_ESSENTIALS * bytes) {
      await rm(this.#file, { force: true })
      log.warn({ freeBytes }, 'the disk is full, Stead uses its disk reserve')
    } else if (size !== bytes && freeBytes + size >= TO_MAKE * bytes) await this.#make()
    this.room.ask()
    const { state } = this.room
    if (state !== this.#said) {
      const facts = { freeBytes: this.room.freeBytes, state }
      if (state === 'ok') log.info(facts, 'the disk has free space again')
      else log.warn(facts, 'the disk is nearly full')
    }
    this.#said = state
  }

  /** Creates the file with random bytes, because zeros take no space on a file system that compresses. */
  async #make(): Promise<void> {
    const { bytes } = this.#options
    const handle = await open(this.#file, 'w', 0o600)
    try {
      const piece = new Uint8Array(Math.min(bytes, PIECE_BYTES))
      for (let done = 0; done < bytes && !this.#stopped; done += piece.length) {
        for (let at = 0; at < piece.length; at += 65_536) crypto.getRandomValues(piece.subarray(at, at + 65_536))
        await handle.writeFile(piece.subarray(0, bytes - done))
      }
    } catch (error) {
      await rm(this.#file, { force: true })
      throw error
    } finally {
      await handle.close()
    }
  }
}
