import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, writeFileDurably } from '../../platform/files/write-file.ts'
import type { Envelope } from './message.ts'

/** A mail that was taken from a site, and has not left for all of its recipients yet. */
export interface WaitingMail {
  /** Unique in the world; the names of its files. */
  readonly id: string
  readonly siteId: number
  readonly envelope: Envelope
  /** What it counts against the budget. */
  readonly bytes: number
  /** Milliseconds UTC. */
  readonly takenAt: number
  /** It is for the outbox: the site is none that writes to people. */
  readonly isKept: boolean
  readonly attempts: number
  readonly notBefore: number
}

/** `.eml` first, then `.json`: a mail counts from the second on. */
const ID = /^(\d+-[\w-]{1,80})\.(eml|json)$/

/**
 * Mails on the disk of the host, two files each: the mail, and what is known of it. What a mail server has said yes to may be sent again
 * after a crash, with the same `Message-ID`; nothing that was taken is lost.
 */
export class MailQueue {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** All that waits, the oldest first. What was being taken when the host died was promised to nobody, and goes. */
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

  /** From now on the mail is taken, whatever happens; and known as it is now. Its file is there, and on the disk. */
  put(mail: WaitingMail): Promise<void> {
    return writeFileDurably(this.#record(mail.id), JSON.stringify(mail), 0o600)
  }

  /** It has left, or will never. */
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
      // it had left when the host died
      await rm(this.#record(id), { force: true })
      return undefined
    }
  }
}

/** A new file that only grows, until it is on the disk. */
export class MailFile {
  readonly #path: string
  readonly #handle: Awaited<ReturnType<typeof open>>
  bytes = 0
  /** The last piece ended with the first half of a line's end. */
  #endsWithReturn = false

  private constructor(path: string, handle: Awaited<ReturnType<typeof open>>) {
    this.#path = path
    this.#handle = handle
  }

  static async create(path: string): Promise<MailFile> {
    return new MailFile(path, await open(path, 'wx', 0o600))
  }

  /** What a piece of a mail is as mail servers want it: each line ends with CR and LF, and neither stands alone (RFC 5321 §2.3.8). */
  lines(piece: Buffer, isLast: boolean): Buffer {
    // one character a byte
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
