import { randomBytes } from 'node:crypto'
import type { Jail } from './jail.ts'
import { Refused } from './refused.ts'

const PIECE_BYTES = 1 << 18
const NOTHING = { read: false, write: false, append: false, create: false, truncate: false, exclusive: false }

/** Reads and writes whole files of a site, for commands. */
export class JailFiles {
  readonly #jail: Jail

  constructor(jail: Jail) {
    this.#jail = jail
  }

  /** @throws Refused */
  async *read(path: string): AsyncGenerator<Buffer, void, void> {
    const file = await this.#jail.openFile(path, { ...NOTHING, read: true })
    try {
      for (let at = 0; ; ) {
        const piece = await file.read(at, PIECE_BYTES)
        if (piece.length === 0) return
        at += piece.length
        yield piece
      }
    } finally {
      await file.close()
    }
  }

  /** Creates the file, or replaces it after all content has arrived. @throws Refused, DiskFull */
  async write(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    if (path === '' || path.endsWith('/')) throw new Refused('failure', 'A file needs a name')
    const part = `${path}.${randomBytes(6).toString('hex')}.part`
    const file = await this.#jail.openFile(part, { ...NOTHING, write: true, create: true, exclusive: true })
    try {
      let at = 0
      for await (const piece of content) {
        await file.write(at, [Buffer.from(piece)])
        at += piece.length
      }
      await file.close()
      await this.#jail.move(part, path)
    } catch (error) {
      await file.close()
      await this.#jail.removeFile(part).catch(() => {})
      throw error
    }
  }
}
