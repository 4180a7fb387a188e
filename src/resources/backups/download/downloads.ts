import { hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import { ARCHIVE_FORMAT, archiveBytes, measureArchive } from '../../../backups/archive/archive.ts'
import type { ArchiveLengths } from '../../../backups/archive/archive-lengths.ts'
import { Bzip2Threads } from '../../../backups/archive/bzip2-threads.ts'
import { BackupDamaged, BackupMissing, type BackupStore, StorageFailure } from '../../../backups/backup-store.ts'
import { isNotModified, rangeOf, type Validators } from '../../../hosting/web-server/conditions.ts'
import type { Budget } from '../../../platform/budgets/budget.ts'
import type { Database } from '../../../platform/db/database.ts'
import type { BaseContext } from '../../../platform/http/endpoint.ts'
import { httpProblems, Problem } from '../../../platform/http/problem.ts'
import type { Log } from '../../../platform/log/log.ts'
import { stillAllowed } from '../../access/still-allowed.ts'
import type { Caller } from '../../kit/caller.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import type { VisibleSite } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { type CompletedBackup, nameInRepository, siteOwner } from '../backup.ts'
import { problems } from '../problems.ts'
import { saveLengths } from './archive-lengths.store.ts'
import { type ArchiveOf, archiveOf, knownLengths } from './archive-of.ts'

/** A client that takes less than this within {@link SLOWEST_MS} is cut off. It may resume later. */
const SLICE = 1 << 16
const SLOWEST_MS = 60_000
/** How often a download checks whether its caller still has access. */
const ASK_EVERY_MS = 1000
/**
 * How long a request waits while Stead locates a range in the middle of an archive. Proxies give up after a minute.
 * Clients can set another time with `Prefer: wait` (RFC 7240 §4.3).
 */
const WAIT_SECONDS = 50
const LONGEST_WAIT_SECONDS = 3600
/** How many blocks of an archive (90 MB of content) are measured between saves. A crash costs as much. */
const KEEP_EVERY = 128
/** For this long, parts of a backup belong to a download that is already in the log. */
const TOLD_MS = 86_400_000
const MOST_TOLD = 10_000

export interface DownloadsOptions {
  readonly budget: Budget
  readonly backups: BackupStore
  readonly database: Database
  readonly log: Log
  /** Default: half of the machine's processors, 4 at most. */
  readonly threads?: number
  readonly slowestMs?: number
  readonly askEveryMs?: number
}

/** The parts of a handler's context that a download needs. */
interface DownloadContext extends Pick<BaseContext, 'request' | 'now'> {
  readonly response: FastifyReply
  readonly caller: Caller
  readonly site: VisibleSite
}

/** Content of a download: the bytes of a backup, which never change. */
interface Content {
  readonly type: string
  readonly fileName: string
  readonly validators: Validators
  /** Returns `undefined` while unknown. */
  totalBytes(): number | undefined
  bytes(start: number, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Locates this byte, or finds that it does not exist. Keeps what it learned, even if it is interrupted. */
  measure(upTo: number, signal: AbortSignal): Promise<void>
  /** Signals that the reader is done. */
  close(): void
}

interface Part {
  readonly start: number
  /** Inclusive. `undefined` means up to an end that is not known yet. */
  readonly end: number | undefined
  readonly isRange: boolean
}

interface KnownLengths {
  readonly lengths: Promise<ArchiveLengths>
  readonly core: string | null
  /** Blocks that are stored. */
  kept: number
  isWholeKept: boolean
  readers: number
}

/**
 * Serves downloads of backups. Limits how many run at once, logs each one once, and keeps what is known about their
 * archives.
 */
export class Downloads {
  readonly #options: DownloadsOptions
  readonly #threads: Bzip2Threads
  readonly #told = new LRUCache<string, true>({ max: MOST_TOLD, ttl: TOLD_MS })
  readonly #known = new Map<number, KnownLengths>()

  constructor(options: DownloadsOptions) {
    this.#options = options
    const most = Math.min(4, Math.floor(availableParallelism() / 2))
    this.#threads = new Bzip2Threads(options.threads ?? Math.max(1, most))
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  /**
   * Starts the response: the whole content, the requested part, or "not modified" (RFC 9110 §13, §14).
   * @throws Problem `too_many_downloads`, `range_not_satisfiable`, `archive_length_unknown`, `backup_damaged`
   */
  async answer(context: DownloadContext, backup: CompletedBackup): Promise<FastifyReply> {
    const { response, request, caller } = context
    const content = await this.#contentOf(context.site, backup).catch(refuse)
    if (isNotModified(request.headers, content.validators)) {
      content.close()
      return response.code(304).header('etag', content.validators.etag).send(null)
    }
    if (response.request.method === 'HEAD') {
      const totalBytes = content.totalBytes()
      content.close()
      if (totalBytes !== undefined) response.header('content-length', totalBytes)
      // An empty string would set the length to 0.
      return response.headers(headersOf(content)).send(Readable.from([]))
    }
    const { budget } = this.#options
    const share = budget.share(caller.applicationId)
    const gone = new AbortController()
    const end = () => {
      gone.abort(new Error('the client has gone'))
      share.free()
      content.close()
    }
    if (!share.take(1)) {
      content.close()
      const headers = { 'retry-after': '30' }
      throw new Problem(problems.too_many_downloads, { limit: budget.terms.each }, { headers })
    }
    response.raw.once('close', end)
    try {
      if (response.raw.destroyed) throw new Error('the client has gone')
      return await this.#begin(context, backup, content, gone.signal)
    } catch (error) {
      response.raw.off('close', end)
      const hasGone = gone.signal.aborted || response.raw.destroyed
      end()
      if (!hasGone) return refuse(error)
      // The client has disconnected, so nothing can be sent.
      response.hijack()
      return response
    }
  }

  async #begin(
    context: DownloadContext,
    backup: CompletedBackup,
    content: Content,
    signal: AbortSignal,
  ): Promise<FastifyReply> {
    const { response, request } = context
    const part = await this.#partOf(content, request.headers, signal)
    const bytes = exactly(content.bytes(part.start, signal), part)
    const stop = () => void bytes.return(undefined).catch(() => {})
    response.raw.once('close', stop)
    // Content that cannot be read at all gets an error response instead of a broken-off download.
    const first = await bytes.next()
    await this.#tell(context, backup, part).catch((error) => {
      stop()
      throw error
    })
    const { start, end, isRange } = part
    if (end !== undefined) response.header('content-length', end + 1 - start)
    if (isRange) response.code(206).header('content-range', `bytes ${start}-${end}/${content.totalBytes() ?? '*'}`)
    const stream = this.#given(bytes, first, context, backup)
    return response.headers(headersOf(content)).send(Readable.from(stream, { objectMode: false, highWaterMark: SLICE }))
  }

  async #partOf(content: Content, headers: DownloadContext['request']['headers'], signal: AbortSignal): Promise<Part> {
    const asked = () => rangeOf(headers, content.totalBytes() ?? Number.POSITIVE_INFINITY, content.validators)
    let range = asked()
    const isOpen = typeof range === 'object' && range.start === 0 && range.end === Number.POSITIVE_INFINITY
    if (content.totalBytes() === undefined && typeof range === 'object' && !isOpen) {
      await measureFor(secondsOf(headers), content, range.end, signal)
      range = asked()
    }
    const totalBytes = content.totalBytes()
    if (range === 'unsatisfiable')
      throw new Problem(
        problems.range_not_satisfiable,
        { bytes: totalBytes as number },
        { headers: { 'content-range': `bytes */${totalBytes}` } },
      )
    if (range && range.end !== Number.POSITIVE_INFINITY) return { ...range, isRange: true }
    return { start: 0, end: totalBytes === undefined ? undefined : totalBytes - 1, isRange: false }
  }

  /** Logs each download once, however many parts it is requested in. */
  async #tell(context: DownloadContext, backup: CompletedBackup, { isRange }: Part): Promise<void> {
    const { site, caller, now } = context
    const key = `${caller.applicationId} ${backup.id}`
    if (isRange && this.#told.has(key)) return
    const what = backup.kind === 'fs' ? 'files' : 'the database'
    const message = `Downloaded the backup of ${what} of ${site.name} from ${timeOf(backup).replace('T', ' ')}`
    await this.#options.database.transaction((tx) =>
      changeBy(tx, { actor: context, about: aboutSite(site), now }).record({
        action: actions['backup.downloaded'],
        message,
      }),
    )
    this.#told.set(key, true)
  }

  /** Yields slices, each when the client takes it. */
  async *#given(
    bytes: AsyncGenerator<Uint8Array>,
    first: IteratorResult<Uint8Array>,
    context: DownloadContext,
    { id, siteId }: CompletedBackup,
  ): AsyncGenerator<Uint8Array> {
    const { response, request } = context
    const { raw } = response
    const { log, slowestMs = SLOWEST_MS } = this.#options
    const mayContinue = this.#askerFor(context)
    let timer: NodeJS.Timeout | undefined
    raw.once('close', () => clearTimeout(timer))
    const expectMore = () => {
      clearTimeout(timer)
      if (!raw.destroyed) timer = setTimeout(() => raw.destroy(), slowestMs)
    }
    try {
      for (let next = first; !next.done; next = await bytes.next())
        for (let from = 0; from < next.value.length; from += SLICE) {
          if (!(await mayContinue())) {
            log.info({ requestId: request.id, backupId: id, siteId }, 'ended a download because its caller lost access')
            raw.destroy()
            return
          }
          expectMore()
          yield next.value.subarray(from, from + SLICE)
          clearTimeout(timer)
        }
      // The rest has been handed over, and is on its way.
      expectMore()
    } catch (error) {
      if (!raw.destroyed)
        log.error(
          { err: error, requestId: request.id, backupId: id, siteId },
          'a download failed because the rest of the backup cannot be read',
        )
      throw error
    }
  }

  /** Returns a function that tells whether the caller still has access. It looks this up once per interval. */
  #askerFor({ site, caller }: DownloadContext): () => Promise<boolean> {
    const { database, askEveryMs = ASK_EVERY_MS } = this.#options
    const claim = { accountId: caller.accountId, siteId: site.id, capability: 'use backups' } as const
    let askedAt = Number.NEGATIVE_INFINITY
    return async () => {
      const now = performance.now()
      if (now - askedAt < askEveryMs) return true
      askedAt = now
      return (await stillAllowed(database.read, [claim]))[0] === true
    }
  }

  async #contentOf(site: VisibleSite, backup: CompletedBackup): Promise<Content> {
    return backup.kind === 'fs' ? this.#archiveOf(site, backup) : this.#dumpOf(site, backup)
  }

  #dumpOf(site: VisibleSite, backup: CompletedBackup): Content {
    const repository = this.#options.backups.repository(siteOwner(backup.siteId))
    return {
      type: 'application/sql',
      fileName: `${site.name}-database-${timeOf(backup).replaceAll(':', '-')}.sql`,
      validators: validatorsOf(backup, []),
      totalBytes: () => backup.bytes,
      bytes: (start) => repository.readStream(nameInRepository(backup), { start }),
      measure: async () => {},
      close: () => {},
    }
  }

  async #archiveOf(site: VisibleSite, backup: CompletedBackup): Promise<Content> {
    const archive = await archiveOf(this.#options.backups, backup)
    const { sources } = archive
    const known = this.#use(backup.id, archive)
    const lengths = await known.lengths
    const threads = this.#threads
    return {
      type: 'application/x-bzip2',
      fileName: `${site.name}-files-${timeOf(backup).replaceAll(':', '-')}.tar.bz2`,
      // A core that was lost and stored again may have other file times.
      validators: validatorsOf(backup, [ARCHIVE_FORMAT, ...archive.keptAt]),
      totalBytes: () => lengths.totalBytes,
      bytes: (start, signal) =>
        this.#keeping(backup.id, known, lengths, archiveBytes(sources, start, { lengths, threads, signal })),
      measure: async (upTo, signal) => {
        try {
          await measureArchive(sources, upTo, { lengths, threads, signal })
        } finally {
          await this.#keep(backup.id, known, lengths)
        }
      },
      close: () => this.#leave(backup.id, known),
    }
  }

  /** Returns the lengths, shared by all readers of the same archive. */
  #use(backupId: number, archive: ArchiveOf): KnownLengths {
    const { database } = this.#options
    let known = this.#known.get(backupId)
    if (!known) {
      const loaded: KnownLengths = {
        lengths: knownLengths(database.read, backupId, archive).then((lengths) => {
          loaded.kept = lengths.count
          loaded.isWholeKept = lengths.totalBytes !== undefined
          return lengths
        }),
        core: archive.core,
        kept: 0,
        isWholeKept: false,
        readers: 0,
      }
      loaded.lengths.catch(() => this.#known.delete(backupId))
      this.#known.set(backupId, loaded)
      known = loaded
    }
    known.readers++
    return known
  }

  #leave(backupId: number, known: KnownLengths): void {
    known.readers--
    if (known.readers <= 0 && this.#known.get(backupId) === known) this.#known.delete(backupId)
  }

  async *#keeping(
    backupId: number,
    known: KnownLengths,
    lengths: ArchiveLengths,
    bytes: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of bytes) {
        if (lengths.count - known.kept >= KEEP_EVERY) await this.#keep(backupId, known, lengths)
        yield piece
      }
    } finally {
      await this.#keep(backupId, known, lengths)
    }
  }

  /** Saves the lengths. A failure is harmless: a later download measures again. */
  async #keep(backupId: number, known: KnownLengths, lengths: ArchiveLengths): Promise<void> {
    const { database, log } = this.#options
    const isWhole = lengths.totalBytes !== undefined
    if (lengths.count <= known.kept && isWhole === known.isWholeKept) return
    known.kept = lengths.count
    known.isWholeKept = isWhole
    try {
      await database.transaction((tx) => saveLengths(tx, backupId, lengths, known.core))
    } catch (error) {
      log.warn({ err: error, backupId }, 'could not save the index of an archive')
    }
  }
}

/** `2026-01-31T09:30:00Z` */
const timeOf = ({ takenAt }: CompletedBackup): string => `${new Date(takenAt).toISOString().slice(0, 19)}Z`

/** Strong validators: a backup never changes, and its archive is always created in the same way. */
const validatorsOf = (backup: CompletedBackup, more: readonly unknown[]): Validators => {
  const { id, siteId, kind, takenAt, completedAt, bytes, coreVersion } = backup
  const facts = [id, siteId, kind, takenAt, completedAt, bytes, coreVersion, ...more]
  return {
    etag: `"${hash('sha1', JSON.stringify(facts), 'base64url')}"`,
    lastModified: new Date(completedAt).toUTCString(),
  }
}

const headersOf = ({ type, fileName, validators }: Content) => ({
  'content-type': type,
  // Only letters, digits, dashes and dots, which RFC 6266 needs no other notation for.
  'content-disposition': `attachment; filename="${fileName}"`,
  'accept-ranges': 'bytes',
  etag: validators.etag,
  'last-modified': validators.lastModified,
  // A proxy that compresses the content would change the bytes that a range request gets.
  'cache-control': 'private, no-transform',
  'x-content-type-options': 'nosniff',
  // A proxy that buffers the response would make Stead create the whole archive for a client that may have left.
  'x-accel-buffering': 'no',
})

/** Returns how long the client waits for Stead to locate a range. */
function secondsOf({ prefer }: DownloadContext['request']['headers']): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})/i.exec([prefer ?? []].flat().join()) ?? []
  return seconds === undefined ? WAIT_SECONDS : Math.min(Number(seconds), LONGEST_WAIT_SECONDS)
}

/** Measures up to a deadline. Each attempt continues where the last one ended. */
async function measureFor(seconds: number, content: Content, upTo: number, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(1000 * seconds)
  try {
    if (seconds > 0) return await content.measure(upTo, AbortSignal.any([signal, late]))
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error
  }
  throw new Problem(problems.archive_length_unknown, {}, { headers: { 'retry-after': '1' } })
}

/** Yields the bytes of a part, and fails if there are fewer. */
async function* exactly(bytes: AsyncIterable<Uint8Array>, { start, end }: Part): AsyncGenerator<Uint8Array> {
  let left = end === undefined ? Number.POSITIVE_INFINITY : end + 1 - start
  if (left > 0)
    for await (const piece of bytes) {
      yield piece.subarray(0, Math.min(piece.length, left))
      left -= piece.length
      if (left <= 0) return
    }
  if (left > 0 && end !== undefined) throw new BackupDamaged(`It ends ${left} bytes early`)
}

/**
 * Turns storage errors into errors for the client.
 * @throws Problem for an error that the client may see
 */
function refuse(error: unknown): never {
  if (error instanceof BackupDamaged || error instanceof BackupMissing)
    throw new Problem(problems.backup_damaged, {}, { cause: error })
  if (error instanceof StorageFailure) throw new Problem(httpProblems.unavailable, {}, { cause: error })
  throw error
}
