import type { FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2'
import { inParallel } from '../../../platform/in-parallel.ts'
import { found } from '../stage-files.ts'
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
import { CommandFailed, SshConnection, type SshLogin, type SshOptions } from './ssh-connection.ts'
import { type OldDatabase, type WpConfigFacts, wpConfigFacts } from './wp-config-facts.ts'

export interface SshSiteOptions extends SshOptions {
  /** The most entries of a folder. */
  readonly maxEntries: number
}

/** The folder of the old WordPress, on a machine. */
export type SshSitePlace = SshLogin & { readonly path: string }

const MOST_TEXT_BYTES = 1 << 20
const FOLDERS_AT_ONCE = 8
const FILES_AT_ONCE = 8
const PIECE_BYTES = 32 << 10
/** The number of pieces of a file that are requested before the first arrives. */
const WINDOW = 16
/** The dump of a large table may begin late. */
const DUMP_IDLE_MS = 5 * 60_000
/** The status with which SFTP ends a list. */
const EOF = 1

/**
 * Opens the old site on a machine with SSH. Reads its wp-config.php, and never runs it.
 * @throws OldSiteRefused, OldSiteLost, or the signal's reason
 */
export async function openSshSite(place: SshSitePlace, options: SshSiteOptions): Promise<OldSite> {
  const connection = await SshConnection.open(place, options)
  try {
    const files = new SshFiles(connection, await connection.sftp(), options.maxEntries)
    const root = await files.realPath(place.path)
    const config = await configIn(files, root, place.path)
    const content = await files.realPath(config.contentDir ?? `${root}/wp-content`)
    const version = await files.text(`${root}/wp-includes/version.php`)
    const facts = {
      prefix: config.prefix,
      wordpress: found(version, /\$wp_version\s*=\s*'([\w.-]{1,40})'/),
      php: await phpOf(connection),
    }
    return new SshSite(connection, files, { root, content, facts, database: config.database })
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Returns the configuration. WordPress looks for it in its own folder, and one folder above. */
async function configIn(files: SshFiles, root: string, path: string): Promise<WpConfigFacts> {
  for (const folder of [root, root.replace(/\/[^/]*$/, '')]) {
    const text = await files.text(`${folder}/wp-config.php`)
    if (text !== undefined) return wpConfigFacts(text)
  }
  throw new OldSiteRefused(
    `The folder ${wordsOfOldMachine(path)} of the old machine has no wp-config.php. Send the folder of WordPress as \`path\``,
  )
}

/** Returns the PHP version of the command line, which is often the one that the site uses. */
async function phpOf(connection: SshConnection): Promise<string | null> {
  try {
    let said = ''
    for await (const piece of connection.run("php -r 'echo PHP_VERSION;'", '', 10_000)) {
      said += piece.toString('latin1')
      if (said.length > 1000) break
    }
    return found(said, /^\s*(\d{1,2}\.\d{1,2})\.\d+/)
  } catch (error) {
    if (error instanceof CommandFailed) return null
    throw error
  }
}

interface Opened {
  readonly root: string
  readonly content: string
  readonly facts: OldSiteFacts
  readonly database: OldDatabase | undefined
}

class SshSite implements OldSite {
  readonly facts: OldSiteFacts
  readonly #connection: SshConnection
  readonly #files: SshFiles
  readonly #opened: Opened

  constructor(connection: SshConnection, files: SshFiles, opened: Opened) {
    this.#connection = connection
    this.#files = files
    this.#opened = opened
    this.facts = opened.facts
  }

  async *list(folders: readonly string[]): AsyncGenerator<RemoteFolder> {
    for (let at = 0; at < folders.length; at += FOLDERS_AT_ONCE) {
      const listed: RemoteFolder[] = []
      await inParallel(FOLDERS_AT_ONCE, folders.slice(at, at + FOLDERS_AT_ONCE), async (path) => {
        listed.push({ path, entries: await this.#files.list(this.#pathOf(path)) })
      })
      yield* listed
    }
  }

  async fetch(files: readonly RemoteFile[], open: (file: RemoteFile) => Promise<FileSink>): Promise<readonly string[]> {
    const unread: string[] = []
    await inParallel(FILES_AT_ONCE, files, async (file) => {
      const sink = await open(file)
      try {
        if (await this.#files.read(this.#pathOf(file.path), file.sizeBytes, sink)) await sink.finish()
        else unread.push(file.path)
      } finally {
        await sink.close()
      }
    })
    return unread
  }

  #pathOf = (path: string): string => (path === '' ? this.#opened.content : `${this.#opened.content}/${path}`)

  async *dump(): AsyncGenerator<Uint8Array> {
    const { root, database } = this.#opened
    const faults: string[] = []
    if (database === undefined) faults.push('wp-config.php does not tell its database in plain words')
    for (const { line, input, name } of dumpCommands(root, database)) {
      let isStarted = false
      try {
        for await (const piece of this.#connection.run(line, input, DUMP_IDLE_MS)) {
          isStarted = true
          yield piece
        }
        if (isStarted) return
        faults.push(`${name}: it printed nothing`)
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error
        // The output already yielded cannot be withdrawn.
        if (isStarted) throw new OldSiteRefused(`${name} of the old machine failed: ${error.message}`, { cause: error })
        faults.push(`${name}: ${error.message}`)
      }
    }
    throw new OldSiteRefused(
      `The old machine makes no dump of its database (${faults.join('; ')}). ` +
        'It needs a shell with mysqldump or mariadb-dump, or WP-CLI. Without one, import from an archive that a backup plugin makes',
    )
  }

  async close(): Promise<void> {
    this.#connection.close()
  }
}

interface DumpCommand {
  readonly name: string
  readonly line: string
  readonly input: string
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const DUMP_FLAGS =
  '--single-transaction --quick --skip-lock-tables --no-tablespaces --hex-blob --skip-triggers --default-character-set=utf8mb4'
/** Flags for MySQL only. `loose`: not every release knows them. */
const MYSQL_FLAGS = '--loose-column-statistics=0 --loose-set-gtid-purged=OFF'

/**
 * Returns the commands that create a dump on the old machine, the best first. Passwords go through standard input,
 * because all users of the machine can see command lines.
 */
function dumpCommands(root: string, database: OldDatabase | undefined): DumpCommand[] {
  const wp = { name: 'WP-CLI', line: `cd ${quoted(root)} && wp db export -`, input: '' }
  if (database === undefined || /[\0\r\n]/.test(database.name)) return [wp]
  // A pipe can be opened as /dev/stdin, but a socket cannot.
  const run = `cat | $d --defaults-extra-file=/dev/stdin ${DUMP_FLAGS} $f -- ${quoted(database.name)}; exit $?`
  const script = `for d in mariadb-dump mysqldump; do f=; [ $d = mysqldump ] && f='${MYSQL_FLAGS}'; if command -v $d >/dev/null 2>&1; then ${run}; fi; done; echo there is no mysqldump >&2; exit 127`
  return [{ name: 'mysqldump', line: `sh -c ${quoted(script)}`, input: optionFile(database) }, wp]
}

/** Returns an option file for MySQL and MariaDB. */
function optionFile({ user, password, host, port, socket }: OldDatabase): string {
  const line = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [`${name}="${String(value).replaceAll(/[\\"\n\r\t\0]/g, escaped)}"`]
  const lines = [line('user', user), line('password', password), line('host', host), line('port', port)]
  return ['[client]', ...lines.flat(), ...line('socket', socket), ''].join('\n')
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
const escaped = (sign: string): string => escapes[sign] ?? ''

/** The files of someone else's machine. */
class SshFiles {
  readonly #connection: SshConnection
  readonly #sftp: SFTPWrapper
  readonly #maxEntries: number

  constructor(connection: SshConnection, sftp: SFTPWrapper, maxEntries: number) {
    this.#connection = connection
    this.#sftp = sftp
    this.#maxEntries = maxEntries
    sftp.on('error', () => {})
  }

  async realPath(path: string): Promise<string> {
    const real = await this.#ask<string>((done) => this.#sftp.realpath(path, done))
    if (real === undefined) throw new OldSiteRefused(`The old machine has no ${wordsOfOldMachine(path)}`)
    return real.replace(/\/+$/, '')
  }

  /** @returns undefined when the file does not exist or is too long */
  async text(path: string): Promise<string | undefined> {
    const stats = await this.#ask<Stats>((done) => this.#sftp.stat(path, done))
    if (!stats?.isFile() || !(stats.size <= MOST_TEXT_BYTES)) return undefined
    const pieces: Uint8Array[] = []
    const write = async (piece: Uint8Array) => void pieces.push(piece)
    return (await this.read(path, stats.size, { at: 0, write })) ? Buffer.concat(pieces).toString() : undefined
  }

  /** @returns undefined when it is unavailable */
  async list(path: string): Promise<RemoteEntry[] | undefined> {
    const handle = await this.#ask<Buffer>((done) => this.#sftp.opendir(path, done))
    if (handle === undefined) return undefined
    try {
      const entries: RemoteEntry[] = []
      for (;;) {
        // Uses a handle: by path, `readdir` would collect everything that the other side sends.
        const some = await this.#ask<FileEntryWithStats[]>(
          (done) => this.#sftp.readdir(handle as unknown as string, done),
          (code) => (code === EOF ? [] : undefined),
        )
        if (some === undefined) return undefined
        if (some.length === 0) return entries
        entries.push(...some.map(entryOf))
        if (entries.length > this.#maxEntries)
          throw new OldSiteRefused(`A folder of the old site has more than the ${this.#maxEntries} entries allowed`)
      }
    } finally {
      this.#sftp.close(handle, () => {})
    }
  }

  /**
   * Reads a file from `sink.at`. A file that has shrunk ends early.
   * @returns false when it is unavailable
   */
  async read(path: string, sizeBytes: number, sink: Pick<FileSink, 'at' | 'write'>): Promise<boolean> {
    const handle = await this.#ask<Buffer>((done) => this.#sftp.open(path, 'r', done))
    if (handle === undefined) return false
    const window: Promise<Buffer | undefined>[] = []
    let asked = sink.at
    try {
      for (;;) {
        for (; asked < sizeBytes && window.length < WINDOW; asked += PIECE_BYTES) {
          const piece = this.#piece(handle, asked, Math.min(PIECE_BYTES, sizeBytes - asked))
          piece.catch(() => {})
          window.push(piece)
        }
        const expected = Math.min(PIECE_BYTES, sizeBytes - (asked - window.length * PIECE_BYTES))
        if (window.length === 0) return true
        const piece = await window.shift()
        if (piece === undefined) return false
        await sink.write(piece)
        if (piece.length < expected) return true
      }
    } finally {
      this.#sftp.close(handle, () => {})
    }
  }

  /**
   * Reads this many bytes, or fewer if the file ends before.
   * @returns undefined when they are unavailable
   */
  async #piece(handle: Buffer, at: number, bytes: number): Promise<Buffer | undefined> {
    const into = Buffer.allocUnsafe(bytes)
    let read = 0
    while (read < bytes) {
      const more = await this.#ask<number>((done) =>
        this.#sftp.read(handle, into, read, bytes - read, at + read, (error, count) => done(error, count)),
      )
      if (more === undefined) return undefined
      if (!(more > 0)) break
      read += more
    }
    return into.subarray(0, read)
  }

  /** @returns the result of `refusal` when the old machine refuses, by default undefined */
  async #ask<Answer>(
    start: (done: (error: Error | null | undefined, answer: Answer) => void) => void,
    refusal: (code: number) => Answer | undefined = () => undefined,
  ): Promise<Answer | undefined> {
    try {
      return await this.#connection.ask<Answer>(start)
    } catch (error) {
      const { code } = error as { code?: unknown }
      if (typeof code === 'number') return refusal(code)
      if (error instanceof OldSiteLost || !(error instanceof Error)) throw error
      this.#connection.throwIfAborted()
      throw new OldSiteLost(`${this.#connection.place}: ${wordsOfOldMachine(error.message)}`, { cause: error })
    }
  }
}

function entryOf({ filename, attrs }: FileEntryWithStats): RemoteEntry {
  const kinds = { link: attrs.isSymbolicLink(), folder: attrs.isDirectory(), file: attrs.isFile() }
  const kind = kinds.link ? 'link' : kinds.folder ? 'folder' : kinds.file ? 'file' : 'other'
  return { name: String(filename), kind, sizeBytes: Number(attrs.size ?? 0), changedAt: Number(attrs.mtime ?? 0) }
}
