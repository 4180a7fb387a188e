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
import { problems as httpProblems, Problem } from '../../../platform/http/problem.ts'
import type { Log } from '../../../platform/log/log.ts'
import { stillAllowed } from '../../access/still-allowed.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import type { Context } from '../../kit/context.ts'
import type { VisibleSite } from '../../sites/site.ts'
import { actions } from '../actions.ts'
import { type CompletedBackup, nameOf, siteOwner } from '../backup.ts'
import { problems } from '../problems.ts'
import { saveLengths } from './archive-lengths.store.ts'
import { type ArchiveOf, archiveOf, knownLengths } from './archive-of.ts'

/** Who takes less than this in {@link SLOWEST_MS} is cut off, and may go on later. */
const SLICE = 1 << 16
const SLOWEST_MS = 60_000
/** How often a download asks whether its caller may still have it. */
const ASK_EVERY_MS = 1000
/** What is asked for in the middle of an archive may have to be found first. Proxies give up after a minute; `Prefer: wait` says another time (RFC 7240 §4.3). */
const WAIT_SECONDS = 50
const LONGEST_WAIT_SECONDS = 3600
/** What is found out of an archive is kept each so many blocks (90 MB of content): what a crash costs. */
const KEEP_EVERY = 128
/** For so long a part of a backup belongs to a download that is in the log. */
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

type DownloadContext = Context & { readonly site: VisibleSite }

/** What is downloaded: the bytes of a backup, which stay the same. */
interface Content {
  readonly type: string
  readonly fileName: string
  readonly validators: Validators
  /** `undefined`: not known yet. */
  totalBytes(): number | undefined
  bytes(start: number, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Finds out where this byte lies, or that there is none. What is found out stays, also of what is broken off. */
  measure(upTo: number, signal: AbortSignal): Promise<void>
  /** Nobody reads it any more. */
  close(): void
}

interface Part {
  readonly start: number
  /** Included; `undefined`: to an end that is not known yet. */
  readonly end: number | undefined
  readonly isRange: boolean
}

interface KnownLengths {
  readonly lengths: Promise<ArchiveLengths>
  readonly core: string | null
  /** Blocks that are kept. */
  kept: number
  isWholeKept: boolean
  readers: number
}

/** Backups on their way to clients: how many there may be, who has been told of, and what is known of their archives. */
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
   * Begins the response: all of it, the part that is asked for, or that the client has it (RFC 9110 §13, §14).
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
      // an empty text would be a length of 0
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
      // there is nobody to tell
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
    // what cannot be read at all is told, and not broken off
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

  async #partOf(content: Content, headers: Context['request']['headers'], signal: AbortSignal): Promise<Part> {
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

  /** Once a download, not once a part of one. */
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

  /** In slices, each as the client takes it. */
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
      // what is left is on its way
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

  /** Returns what tells whether the caller still has the right, and looks it up now and then. */
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
      bytes: (start) => repository.readStream(nameOf(backup), { start }),
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
      // a core that was lost and kept anew may have other times
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

  /** One for all who read the same archive. */
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

  /** Without it a later download does the same work again, and that is all. */
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

/** Strong: a backup never changes, and its archive is made of it in one way. */
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
  // letters, digits, dashes and dots: nothing that RFC 6266 would have written in another way
  'content-disposition': `attachment; filename="${fileName}"`,
  'accept-ranges': 'bytes',
  etag: validators.etag,
  'last-modified': validators.lastModified,
  // what compresses it on its way gives other bytes to who asks for a part
  'cache-control': 'private, no-transform',
  'x-content-type-options': 'nosniff',
  // a proxy that collects an answer would have us make all of it for somebody who has gone
  'x-accel-buffering': 'no',
})

/** How long the client waits for what has to be found first. */
function secondsOf({ prefer }: Context['request']['headers']): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})/i.exec([prefer ?? []].flat().join()) ?? []
  return seconds === undefined ? WAIT_SECONDS : Math.min(Number(seconds), LONGEST_WAIT_SECONDS)
}

/** Each attempt goes on where the last one ended. */
async function measureFor(seconds: number, content: Content, upTo: number, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(1000 * seconds)
  try {
    if (seconds > 0) return await content.measure(upTo, AbortSignal.any([signal, late]))
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error
  }
  throw new Problem(problems.archive_length_unknown, {}, { headers: { 'retry-after': '1' } })
}

/** The bytes of a part, and never fewer without a word. */
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

/** @throws Problem where it is one that the client is told */
function refuse(error: unknown): never {
  if (error instanceof BackupDamaged || error instanceof BackupMissing)
    throw new Problem(problems.backup_damaged, {}, { cause: error })
  if (error instanceof StorageFailure) throw new Problem(httpProblems.unavailable, {}, { cause: error })
  throw error
}
