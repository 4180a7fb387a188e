import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, writeFileDurably } from '../../platform/files/write-file.ts'
import type { Envelope } from './message.ts'

/** A mail that was accepted from a site, and has not yet been sent to all its recipients. */
export interface WaitingMail {
  /** Globally unique, and part of the names of its files. */
  readonly id: string
  readonly siteId: number
  readonly envelope: Envelope
  /** The size that it counts against the budget. */
  readonly bytes: number
  /** Milliseconds UTC. */
  readonly takenAt: number
  /** Whether it goes to the outbox, because the site does not send to people. */
  readonly isKept: boolean
  readonly attempts: number
  readonly notBefore: number
}

/** `.eml` is written first, then `.json`. With the second, the mail is accepted. */
const ID = /^(\d+-[\w-]{1,80})\.(eml|json)$/

/**
 * Stores mails on the disk of the host in two files each: the mail, and its state. After a crash, a mail that a mail
 * server has accepted may be sent again with the same `Message-ID`. No accepted mail is lost.
 */
export class MailQueue {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /**
   * Returns all waiting mails, the oldest first. Removes those that were arriving when the host died, because they were
   * not acknowledged.
   */
  async open(): Promise<WaitingMail[]> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    const names = await readdir(this.folder)
    const there = new Set(names)
    const mails: WaitingMail[] = []
    for (const name of names) {
      const [, id, kind] = ID.exec(name) ?? []
      if (id && kind === 'json') {
        const mail = await this.#read(id)
        if (mail) mails.push(mail)
      } else if (!id || !there.has(`${id}.json`)) await rm(join(this.folder, name), { force: true })
    }
    return mails.toSorted((a, b) => a.takenAt - b.takenAt)
  }

  file(id: string): string {
    return join(this.folder, `${id}.eml`)
  }

  /** Accepts the mail durably, or updates its state. Its file must already be on the disk. */
  put(mail: WaitingMail): Promise<void> {
    return writeFileDurably(this.#record(mail.id), JSON.stringify(mail), 0o600)
  }

  /** Removes a mail that was sent, or never will be. */
  async remove(id: string): Promise<void> {
    await rm(this.#record(id), { force: true })
    await syncFolder(this.folder)
    await rm(this.file(id), { force: true })
  }

  #record(id: string): string {
    return join(this.folder, `${id}.json`)
  }

  async #read(id: string): Promise<WaitingMail | undefined> {
    try {
      const mail = JSON.parse(await readFile(this.#record(id), 'utf8')) as WaitingMail
      await stat(this.file(id))
      return mail
    } catch {
      // It had been sent when the host died.
      await rm(this.#record(id), { force: true })
      return undefined
    }
  }
}

/** A new file that only grows, until it is flushed to the disk. */
export class MailFile {
  readonly #path: string
  readonly #handle: Awaited<ReturnType<typeof open>>
  bytes = 0
  /** Whether the last piece ended with the first half of a line end. */
  #endsWithReturn = false

  private constructor(path: string, handle: Awaited<ReturnType<typeof open>>) {
    this.#path = path
    this.#handle = handle
  }

  static async create(path: string): Promise<MailFile> {
    return new MailFile(path, await open(path, 'wx', 0o600))
  }

  /**
   * Converts a piece of a mail to the line ends that mail servers require: each line ends with CR and LF, and neither
   * occurs on its own (RFC 5321 §2.3.8).
   */
  lines(piece: Buffer, isLast: boolean): Buffer {
    // One character per byte.
    const text = (this.#endsWithReturn ? '\r' : '') + piece.toString('latin1')
    this.#endsWithReturn = !isLast && text.endsWith('\r')
    const whole = this.#endsWithReturn ? text.slice(0, -1) : text
    return Buffer.from(whole.replace(/\r\n|\r|\n/g, '\r\n'), 'latin1')
  }

  async write(bytes: Buffer): Promise<void> {
    await this.#handle.appendFile(bytes)
    this.bytes += bytes.length
  }

  /** Resolves when all of it is on the disk. */
  async finish(): Promise<void> {
    await this.#handle.sync()
    await this.#handle.close()
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {})
    await rm(this.#path, { force: true })
  }
}
