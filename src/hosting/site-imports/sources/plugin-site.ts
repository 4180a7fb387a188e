import { setTimeout as sleep } from 'node:timers/promises'
import {
  FetchError,
  type FetchOptions,
  FetchRefused,
  FetchTooLarge,
  fetchPublic,
} from '../../../platform/fetch/fetch-public.ts'
import {
  type FileSink,
  type OldSite,
  type OldSiteFacts,
  OldSiteLost,
  OldSiteRefused,
  type RemoteEntry,
  type RemoteFile,
  type RemoteFolder,
  wordsOfOldMachine,
} from './old-site.ts'
import { type AnswerLine, answerLines } from './plugin-answer.ts'

export interface PluginLogin {
  /** The address of the front page: `https://old.example.com`. */
  readonly address: string
  readonly token: string
}

export interface PluginOptions {
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
  readonly idleMs: number
  readonly maxEntries: number
}

/** The limit for one answer. The plugin ends its answers far sooner, unless a single row is as large. */
const MOST_ANSWER_BYTES = 64 << 20
const ANSWER_MS = 180_000
/** The most attempts in a row without progress. */
const MOST_VAIN = 4
const FILES_AT_ONCE = 50
const BYTES_AT_ONCE = 16 << 20
const FOLDERS_AT_ONCE = 50
const ROWS_AT_ONCE = 1000
const MOST_TABLES = 20_000
const MOST_CURSOR_TEXT = 1000

/**
 * Connects to an old site through the plugin that Stead generated for it.
 * @throws OldSiteRefused, OldSiteLost
 */
export async function openPluginSite(login: PluginLogin, options: PluginOptions): Promise<OldSite> {
  const connection = new Connection(login, options)
  let facts: OldSiteFacts | undefined
  await connection.retrying(() =>
    connection.ask({ do: 'hello' }, async ({ line }) => {
      if (line.hello) facts = factsOf(line.hello)
    }),
  )
  if (!facts) throw new OldSiteRefused('The plugin on the old site is another one. Install the one of this import')
  return new PluginSite(connection, facts, options)
}

function factsOf(said: unknown): OldSiteFacts {
  const { wordpress, php, prefix } = said as Record<string, unknown>
  const release = (text: unknown) => /^\d{1,2}\.\d{1,2}(?:\.\d{1,3})?/.exec(String(text))?.[0] ?? null
  return {
    prefix: typeof prefix === 'string' && /^\w{1,64}$/.test(prefix) ? prefix : null,
    wordpress: release(wordpress),
    php: /^\d{1,2}\.\d{1,2}/.exec(String(php))?.[0] ?? null,
  }
}

class Connection {
  readonly #login: PluginLogin
  readonly #options: PluginOptions

  constructor(login: PluginLogin, options: PluginOptions) {
    this.#login = login
    this.#options = options
  }

  /**
   * Sends a request, and passes on the lines of the answer.
   * @returns the last line
   * @throws OldSiteLost when it does not arrive
   */
  async ask(question: object, take: (line: AnswerLine) => Promise<void>): Promise<AnswerLine['line']> {
    const { address, token } = this.#login
    const { signal, allowPrivate, idleMs } = this.#options
    const asked: FetchOptions = {
      ...{ method: 'POST', allowPrivate, signal, idleTimeoutMs: idleMs, timeoutMs: ANSWER_MS },
      maxBytes: MOST_ANSWER_BYTES,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, token }),
    }
    try {
      return await fetchPublic(new URL('/?stead-move=1', address), asked, async ({ url, body }) => {
        if (url.origin !== new URL(address).origin)
          throw new OldSiteRefused(`The old site redirects to ${url.origin}. Create the import with that address`)
        for await (const answer of answerLines(body)) {
          if (answer.line.fault !== undefined)
            throw new OldSiteRefused(`The database of the old site: ${wordsOfOldMachine(String(answer.line.fault))}`)
          if (answer.line.end === true) return answer.line
          await take(answer)
        }
        throw new OldSiteLost('The old site broke off its answer')
      })
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof FetchError ? this.#refusal(error) : error
    }
  }

  /**
   * Retries after a lost connection.
   * @param work receives the number of failures before it
   */
  async retrying<Result>(work: (failures: number) => Promise<Result>): Promise<Result> {
    for (let failures = 0; ; failures++)
      try {
        return await work(failures)
      } catch (error) {
        if (!(error instanceof OldSiteLost) || failures + 1 >= MOST_VAIN) throw error
        await this.pause(failures)
      }
  }

  async pause(failures: number): Promise<void> {
    const { signal } = this.#options
    await sleep(500 * 2 ** failures, undefined, { signal }).catch(() => signal.throwIfAborted())
  }

  #refusal(error: FetchError): Error {
    const { status } = error as { readonly status?: number }
    const cause = { cause: error }
    if (status === 403)
      return new OldSiteRefused(
        'The old site refuses the token. Install the plugin of this import there, and allow requests of Stead in its firewall',
        cause,
      )
    const isFinal = error instanceof FetchRefused || error instanceof FetchTooLarge
    return isFinal ? new OldSiteRefused(error.message, cause) : new OldSiteLost(error.message, cause)
  }
}

class PluginSite implements OldSite {
  readonly facts: OldSiteFacts
  readonly #connection: Connection
  readonly #maxEntries: number

  constructor(connection: Connection, facts: OldSiteFacts, { maxEntries }: PluginOptions) {
    this.#connection = connection
    this.facts = facts
    this.#maxEntries = maxEntries
  }

  async *list(folders: readonly string[]): AsyncGenerator<RemoteFolder> {
    for (let at = 0; at < folders.length; at += FOLDERS_AT_ONCE)
      yield* await this.#listed(folders.slice(at, at + FOLDERS_AT_ONCE))
  }

  async #listed(paths: readonly string[]): Promise<RemoteFolder[]> {
    const done: RemoteFolder[] = []
    let held = 0
    let left = paths.map((path) => ({ path, from: 0, entries: [] as RemoteEntry[] }))
    await this.#untilDone(async () => {
      const asked = left
      const ended = new Set<(typeof asked)[number]>()
      let brought = 0
      const finish = () => {
        left = left.filter((folder) => !ended.has(folder))
      }
      await this.#connection
        .ask({ do: 'list', folders: asked.map(({ path, from }) => ({ path, from })) }, async ({ line }) => {
          const folder = asked[Number(line.folder)]
          if (!folder || ended.has(folder)) throw oddAnswer()
          brought++
          if (line.gone === true) {
            ended.add(folder)
            done.push({ path: folder.path, entries: undefined })
            return
          }
          if (!Array.isArray(line.entries)) throw oddAnswer()
          held += line.entries.length
          if (held > this.#maxEntries)
            throw new OldSiteRefused(`The old site has more than the ${this.#maxEntries} files and folders allowed`)
          for (const entry of line.entries) folder.entries.push(entryOf(entry))
          if (line.next === null) {
            ended.add(folder)
            done.push(folder)
          } else if (Number.isSafeInteger(line.next) && (line.next as number) > folder.from)
            folder.from = line.next as number
          else throw oddAnswer()
        })
        .finally(finish)
      return { brought, isDone: left.length === 0 }
    })
    return done
  }

  async fetch(files: readonly RemoteFile[], open: (file: RemoteFile) => Promise<FileSink>): Promise<readonly string[]> {
    const unread: string[] = []
    for (const group of groupsOf(files)) unread.push(...(await this.#fetched(group, open)))
    return unread
  }

  async #fetched(
    group: readonly RemoteFile[],
    open: (file: RemoteFile) => Promise<FileSink>,
  ): Promise<readonly string[]> {
    const unread: string[] = []
    const opened: { file: RemoteFile; sink: FileSink; at: number }[] = []
    try {
      for (const file of group) {
        const sink = await open(file)
        opened.push({ file, sink, at: sink.at })
      }
      const left = new Set(opened)
      await this.#untilDone(async () => {
        const asked = [...left]
        const wanted = asked.map(({ file, at }) => ({ path: file.path, at, end: file.sizeBytes }))
        let brought = 0
        const take = async ({ line, bytes }: AnswerLine) => {
          const one = asked[Number(line.file)]
          if (!one || !left.has(one)) throw oddAnswer()
          brought++
          if (bytes) {
            await one.sink.write(bytes)
            one.at += bytes.length
          } else {
            left.delete(one)
            if (line.gone === true) unread.push(one.file.path)
            else if (line.done === true) await one.sink.finish()
            else throw oddAnswer()
          }
        }
        try {
          await this.#connection.ask({ do: 'fetch', files: wanted }, take)
        } catch (error) {
          // The data that arrived is kept.
          if (!(error instanceof OldSiteLost) || brought === 0) throw error
        }
        return { brought, isDone: left.size === 0 }
      })
    } finally {
      for (const { sink } of opened) await sink.close()
    }
    return unread
  }

  async *dump(): AsyncGenerator<Uint8Array> {
    const tables = new Set<string>()
    await this.#connection.retrying(() =>
      this.#connection.ask({ do: 'tables' }, async ({ line }) => {
        if (typeof line.table !== 'string' || tables.size >= MOST_TABLES) throw oddAnswer()
        tables.add(line.table)
      }),
    )
    yield Buffer.from('-- Dump by the plugin of Stead on the old site\nSET NAMES utf8mb4;\n')
    for (const table of tables) {
      let most = ROWS_AT_ONCE
      for (let after: unknown = null; ; ) {
        const { pieces, next } = await this.#connection.retrying((failures) => {
          // Rows that are too large for PHP's memory end the answer, so request fewer.
          if (failures > 0) most = Math.max(1, Math.floor(most / 10))
          return this.#rows(table, after, most)
        })
        yield* pieces
        if (next === null) break
        if (pieces.length === 0) throw oddAnswer()
        after = next
      }
    }
    yield Buffer.from('-- Dump completed\n')
  }

  async #rows(table: string, after: unknown, rows: number): Promise<{ pieces: Buffer[]; next: unknown }> {
    const pieces: Buffer[] = []
    const { next } = await this.#connection.ask({ do: 'rows', table, after, rows }, async ({ bytes }) => {
      if (!bytes) throw oddAnswer()
      pieces.push(Buffer.from(bytes))
    })
    if (next === undefined || JSON.stringify(next).length > MOST_CURSOR_TEXT) throw oddAnswer()
    return { pieces, next }
  }

  async close(): Promise<void> {}

  /**
   * Requests again what an answer has left out.
   * @throws OldSiteLost when answers bring nothing
   */
  async #untilDone(ask: () => Promise<{ brought: number; isDone: boolean }>): Promise<void> {
    for (;;) {
      const { brought, isDone } = await this.#connection.retrying(ask)
      if (isDone) return
      if (brought === 0) throw oddAnswer()
    }
  }
}

const oddAnswer = () => new OldSiteRefused('The old site sent an unexpected answer')

const KINDS: readonly unknown[] = ['file', 'folder', 'link']

function entryOf(said: unknown): RemoteEntry {
  if (!Array.isArray(said)) throw oddAnswer()
  const [name, kind, sizeBytes, changedAt] = said
  return {
    name: String(name),
    kind: KINDS.includes(kind) ? (kind as RemoteEntry['kind']) : 'other',
    sizeBytes: Number(sizeBytes),
    changedAt: Number(changedAt),
  }
}

/** Groups files, so that one answer can bring each group. */
function* groupsOf(files: readonly RemoteFile[]): Generator<RemoteFile[]> {
  let group: RemoteFile[] = []
  let bytes = 0
  for (const file of files) {
    group.push(file)
    bytes += file.sizeBytes
    if (group.length < FILES_AT_ONCE && bytes < BYTES_AT_ONCE) continue
    yield group
    ;[group, bytes] = [[], 0]
  }
  if (group.length > 0) yield group
}
