/**
 * Copies entries from sites' PHP error logs to the log store.
 *
 * The site controls the file: it may contain anything, be replaced by anything, and grow as fast as PHP can write. So
 * the work for one site is limited (bytes read, entries kept), and so is a pass over all sites. Entries beyond the
 * limits are counted and dropped. The ID of an entry is its position in the file. If the host dies between storing an
 * entry and saving its position, the entry is read and stored again under the same ID.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { WEEK_MS } from '../../platform/durations.ts'
import type { LogRecord, LogStore } from '../../platform/log-store/log-store.ts'
import type { Found } from '../site-files/open-inside.ts'
import { debugLogOf, glance, LONG_BYTES, openLog, putAside, removeOld } from './log-file.ts'
import { type PhpMessage, readMessage } from './php-message.ts'
import { phpRecord } from './php-records.ts'
import type { LogPlace, LogPlaces } from './positions.ts'
import { type LogPiece, splitLog } from './split.ts'

export interface LoggedSite {
  readonly siteId: number
  readonly siteDirectory: string
}

export interface FollowerOptions {
  /** Returns the sites whose PHP runs. Only they can have new entries. */
  readonly running: () => readonly LoggedSite[]
  /** Returns all sites of the host, which are checked at the start, and from time to time. */
  readonly all: () => Promise<readonly LoggedSite[]>
  readonly store: Pick<LogStore, 'append'>
  readonly places: LogPlaces
  readonly log: { warn(facts: object, message: string): void }
  readonly limits?: Partial<FollowerLimits>
}

export interface FollowerLimits {
  readonly everyMs: number
  readonly allEveryMs: number
  /** The bytes that are read from one log in one pass. */
  readonly pieceBytes: number
  /** The bytes that may be left unread. Beyond that, the middle is skipped. */
  readonly backlogBytes: number
  /** The entries per second that a site may have in the long run. */
  readonly entriesPerSecond: number
  readonly burst: number
  /** The longest time of a pass. The next pass continues with the other sites. */
  readonly passMs: number
}

const usualLimits: FollowerLimits = {
  everyMs: 1000,
  allEveryMs: 300_000,
  pieceBytes: 256 << 10,
  backlogBytes: 1 << 20,
  entriesPerSecond: 50,
  burst: 500,
  passMs: 200,
}

/** PHP writes an entry in one piece, so an entry that has not grown for this long is complete. */
const QUIET_MS = 400
/**
 * The age of entries that are read from a debug log on first sight. The log was turned on just now, or came with the
 * site.
 */
const RECENT_MS = 600_000

interface Allowance {
  left: number
  at: number
}

/** The PHP error logs of one host's sites. */
export class PhpLogFollower {
  readonly #options: FollowerOptions
  readonly #limits: FollowerLimits
  readonly #allowances = new Map<number, Allowance>()
  /** Sites to check in the next pass, whether or not their PHP runs then. */
  #again = new Map<number, LoggedSite>()
  /** The sites of the current pass. */
  #known = new Map<number, LoggedSite>()
  #allAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #passing: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#limits = { ...usualLimits, ...options.limits }
  }

  start(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#passing = this.pass()
        .catch((error) => this.#options.log.warn({ err: error }, 'could not read PHP error logs'))
        .then(() => this.start())
    }, this.#limits.everyMs).unref()
  }

  /** Reads the rest. Must be called when PHP has stopped. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#passing
    await this.pass().catch((error) => this.#options.log.warn({ err: error }, 'could not read PHP error logs'))
    this.#options.places.close()
  }

  /** Checks every site that may have new entries. */
  async pass(): Promise<void> {
    const { store, places } = this.#options
    const started = performance.now()
    const sites = await this.#sites(started)
    const records: LogRecord[] = []
    const moved = new Map<number, LogPlace | undefined>()
    const aside: (() => Promise<void>)[] = []
    for (const [siteId, site] of sites) {
      if (performance.now() - started > this.#limits.passMs && !this.#stopped) break
      sites.delete(siteId)
      try {
        const look = siteId < 0 ? this.#lookAtDebugLog(site) : this.#look(site)
        if (!look) continue
        records.push(...look.records)
        moved.set(siteId, look.place)
        if (look.after) aside.push(look.after)
        if (look.more) this.#again.set(siteId, site)
        await breathe()
      } catch (error) {
        this.#options.log.warn({ err: error, siteId: Math.abs(siteId) }, 'could not read the PHP error log of a site')
      }
    }
    for (const [siteId, site] of sites) this.#again.set(siteId, site)
    // In this order: entries must be stored before they are marked as read, and marked as read before they are removed.
    try {
      await store.append('php', records)
    } catch (error) {
      for (const [siteId, site] of this.#known) if (moved.has(siteId)) this.#again.set(siteId, site)
      throw error
    }
    places.save(moved)
    for (const work of aside) await work().catch(() => {})
  }

  async #sites(now: number): Promise<Map<number, LoggedSite>> {
    const sites = this.#again
    this.#again = new Map()
    if (now - this.#allAt > this.#limits.allEveryMs) {
      for (const site of await this.#options.all()) this.#addTo(sites, site)
      this.#allAt = now
    }
    for (const site of this.#options.running()) {
      this.#addTo(sites, site)
      // Its process may be gone before the next pass.
      this.#addTo(this.#again, site)
    }
    this.#known = new Map(sites)
    return sites
  }

  /** Adds both logs of a site: PHP's own under the site's ID, and WordPress' debug log under the negative ID. */
  #addTo(sites: Map<number, LoggedSite>, site: LoggedSite): void {
    sites.set(site.siteId, site)
    sites.set(-site.siteId, site)
  }

  /** Reads a file that belongs to the site, and keeps it. Skips entries from long before it was first seen. */
  #lookAtDebugLog(site: LoggedSite): Look | undefined {
    const path = debugLogOf(site.siteDirectory)
    const known = this.#options.places.get(-site.siteId)
    const now = glance(site.siteDirectory, path)
    if (!now) return known && { records: [], place: undefined, more: false }
    const isSame = known?.inode === now.inode && known.offset <= now.sizeBytes
    const place = isSame ? known : { inode: now.inode, offset: 0, inside: false }
    if (place.offset === now.sizeBytes) return isSame ? undefined : { records: [], place, more: false }
    const found = openLog(site.siteDirectory, { path })
    if (!found) return undefined
    try {
      if (found.stats.ino !== place.inode) return { records: [], place: known, more: true }
      const whole = Math.abs(Date.now() - now.changedAtMs) > QUIET_MS || this.#stopped
      return this.#read(
        site,
        found,
        place,
        whole,
        isSame ? { isDebug: true } : { isDebug: true, sinceMs: Date.now() - RECENT_MS },
      )
    } finally {
      found.close()
    }
  }

  #look(site: LoggedSite): Look | undefined {
    const known = this.#options.places.get(site.siteId)
    const now = glance(site.siteDirectory)
    if (known && known.inode !== now?.inode) {
      const old = this.#lookAtOld(site, known, now?.inode)
      if (old) return old
    }
    if (!now) return known && { records: [], place: undefined, more: false }
    const same = known?.inode === now.inode && known.offset <= now.sizeBytes
    const place = same ? known : { inode: now.inode, offset: 0, inside: false }
    if (place.offset === now.sizeBytes) return same ? undefined : { records: [], place, more: false }
    const found = openLog(site.siteDirectory, 'log')
    if (!found) return undefined
    try {
      if (found.stats.ino !== place.inode) return { records: [], place: known, more: true }
      // A future time comes from a clock that was set back since.
      const whole = Math.abs(Date.now() - now.changedAtMs) > QUIET_MS || this.#stopped
      const look = this.#read(site, found, place, whole)
      return now.sizeBytes < LONG_BYTES ? look : { ...look, more: true, after: () => putAside(site.siteDirectory) }
    } finally {
      found.close()
    }
  }

  /** The log was rotated or replaced. Reads the rest of the old one first. */
  #lookAtOld(site: LoggedSite, known: LogPlace, inode: number | undefined): Look | undefined {
    const old = openLog(site.siteDirectory, 'old')
    if (!old) return undefined
    try {
      if (old.stats.ino !== known.inode) return undefined
      const next = inode === undefined ? undefined : { inode, offset: 0, inside: false }
      const drop = () => removeOld(site.siteDirectory)
      if (known.offset >= old.stats.size) return { records: [], place: next, more: true, after: drop }
      const look = this.#read(site, old, known, true)
      if (look.place && look.place.offset < old.stats.size) return { ...look, more: true }
      return { ...look, place: next, more: true, after: drop }
    } finally {
      old.close()
    }
  }

  /** Reads one piece from the position. */
  #read(
    site: LoggedSite,
    found: Found,
    from: LogPlace,
    whole: boolean,
    { isDebug = false, sinceMs }: { readonly isDebug?: boolean; readonly sinceMs?: number } = {},
  ): Look {
    const { pieceBytes, backlogBytes } = this.#limits
    const behind = found.stats.size - from.offset
    const skipped = behind > backlogBytes ? behind - pieceBytes / 2 : 0
    const place = skipped > 0 ? { ...from, offset: from.offset + skipped, inside: true } : from
    const bytes = found.read(place.offset, Math.min(pieceBytes, found.stats.size - place.offset))
    const isEnd = place.offset + bytes.length >= found.stats.size
    const split = splitLog(bytes, { inside: place.inside, whole: whole && isEnd })
    const seenMs = seenAt(found.stats.mtimeMs)
    const isRecent = ({ atMs }: LogPiece) => sinceMs === undefined || (atMs !== undefined && atMs >= sinceMs)
    const pieces = split.pieces.filter(isRecent)
    const kept = this.#allowed(site.siteId, pieces.length)
    const record = (offset: number, saidMs: number | undefined, text: string, message: PhpMessage) =>
      phpRecord(
        {
          siteId: site.siteId,
          atMs: believable(saidMs, seenMs),
          // Differs from the other log's ID for the same text at the same position.
          id: idOf(place.offset + offset + (isDebug ? 2 ** 32 : 0), text),
        },
        message,
      )
    const records = pieces.slice(0, kept).map(({ offset, atMs, text }) => record(offset, atMs, text, readMessage(text)))
    const lost = pieces.slice(kept)
    if (lost.length > 0 || (skipped > 0 && sinceMs === undefined)) {
      const last = lost.at(-1) ?? pieces.at(-1)
      const message = droppedMessage(lost.length, skipped)
      // The last byte of what was dropped. No entry begins there.
      records.push(record(split.consumed - 1, last?.atMs, message.message, message))
    }
    const offset = place.offset + split.consumed
    const next = { inode: place.inode, offset, inside: split.inside && offset > from.offset }
    return { records, place: next, more: offset < found.stats.size }
  }

  /** Returns how many of these entries the site may have now. */
  #allowed(siteId: number, wanted: number): number {
    const { entriesPerSecond, burst } = this.#limits
    const now = performance.now()
    const known = this.#allowances.get(siteId) ?? { left: burst, at: now }
    const left = Math.min(burst, known.left + ((now - known.at) / 1000) * entriesPerSecond)
    const allowed = Math.min(wanted, Math.floor(left))
    // A site that has been quiet for long enough needs no record.
    if (left - allowed >= burst) this.#allowances.delete(siteId)
    else this.#allowances.set(siteId, { left: left - allowed, at: now })
    return allowed
  }
}

interface Look {
  readonly records: LogRecord[]
  /** Undefined to forget the site. */
  readonly place: LogPlace | undefined
  /** Whether there is more to read. */
  readonly more: boolean
  /** Called after the position is saved. */
  readonly after?: () => Promise<void>
}

/** Returns when a log was last written, corrected if the site's value is implausible. */
function seenAt(changedAtMs: number): number {
  const now = Date.now()
  return changedAtMs > now - WEEK_MS && changedAtMs <= now ? Math.floor(changedAtMs) : now
}

/** Returns the time according to the site, corrected if it is implausible. */
function believable(atMs: number | undefined, seenMs: number): number {
  if (atMs === undefined || !(atMs > seenMs - WEEK_MS) || atMs > seenMs + 60_000) return seenMs
  return atMs
}

/**
 * Increases within a file (up to 8 GB). Includes the text: after the site empties its log, another entry may have the
 * same second and the same position.
 */
const idOf = (offset: number, text: string): number => (offset % 2 ** 33) * 2 ** 20 + (crc32(text) % 2 ** 20)

function droppedMessage(entries: number, bytes: number) {
  const what = [
    ...(entries > 0 ? [`${entries} messages`] : []),
    ...(bytes > 0 ? [`${(bytes / 2 ** 20).toFixed(1)} MB of messages`] : []),
  ].join(' and ')
  const message = `… ${what} dropped because the site writes too many errors.`
  return { message, severity: 'User', file: '', line: -1 }
}
