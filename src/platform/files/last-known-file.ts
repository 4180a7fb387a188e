import { readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Sealer } from '../crypto/seal.ts'
import type { Log } from '../log/log.ts'
import { syncFolder, writeFileDurably } from './write-file.ts'

/** Larger files are neither written nor read. */
const MOST_BYTES = 64 << 20

export interface LastKnownFileOptions {
  readonly file: string
  /** The number of the content's format. Files of other formats are ignored. */
  readonly format: number
  readonly sealer: Sealer
  readonly log: Log
  readonly mostBytes?: number
}

/**
 * Keeps what a process knows from the database on its disk, for a start while the database is away. A file that cannot
 * be brought up to date is deleted, because a start must not use old knowledge. Nothing here throws: the file only helps.
 */
export class LastKnownFile<Content extends object> {
  readonly #options: LastKnownFileOptions
  #written: string | undefined
  #writing: Promise<unknown> = Promise.resolve()
  #isForgotten = false

  constructor(options: LastKnownFileOptions) {
    this.#options = options
  }

  /** @returns undefined without a file, or if it is damaged, or of another version or master key */
  async read(): Promise<Content | undefined> {
    const { file, mostBytes = MOST_BYTES, log } = this.#options
    try {
      if ((await stat(file)).size > mostBytes + HEAD_BYTES) throw new Error('it is too large')
      return this.#opened(await readFile(file, 'utf8'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      log.warn({ err: error, file }, 'ignored a file for starts without the database')
      return undefined
    }
  }

  #opened(text: string): Content {
    const { format, sealer } = this.#options
    const end = text.indexOf('\n')
    const head = JSON.parse(text.slice(0, end)) as Partial<Head>
    if (head.format !== format) throw new Error('it is of another version')
    const body = text.slice(end + 1)
    // Also proves that the master key is that of the installation.
    if (head.mark !== sealer.mark(body, PURPOSE)) throw new Error('it is damaged, or of another master key')
    return JSON.parse(body) as Content
  }

  /** Writes the content if it has changed. Resolves with whether it is on the disk. If not, the file was deleted. */
  write(content: Content): Promise<boolean> {
    const body = JSON.stringify(content)
    const writing = this.#writing.then(() => this.#write(body))
    this.#writing = writing
    return writing
  }

  async #write(body: string): Promise<boolean> {
    if (this.#isForgotten) return false
    if (body === this.#written) return true
    const { file, format, sealer, mostBytes = MOST_BYTES, log } = this.#options
    try {
      if (Buffer.byteLength(body) > mostBytes) throw new Error('there is too much to keep')
      const head: Head = { format, mark: sealer.mark(body, PURPOSE) }
      await writeFileDurably(file, `${JSON.stringify(head)}\n${body}`, 0o600)
      this.#written = body
      return true
    } catch (error) {
      log.warn({ err: error, file }, 'could not keep a file for starts without the database')
      await this.#remove()
      return false
    }
  }

  /** Deletes the file, and writes it no more. */
  forget(): Promise<void> {
    this.#isForgotten = true
    const removal = this.#writing.then(() => this.#remove())
    this.#writing = removal
    return removal
  }

  async #remove(): Promise<void> {
    const { file, log } = this.#options
    this.#written = undefined
    try {
      await rm(file, { force: true })
      await syncFolder(dirname(file))
    } catch (error) {
      log.error({ err: error, file }, 'could not delete a file for starts without the database')
    }
  }
}

interface Head {
  readonly format: number
  /** A mark of the rest of the file. */
  readonly mark: string
}

const HEAD_BYTES = 1024
const PURPOSE = 'known file'
