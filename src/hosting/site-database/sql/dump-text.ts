import { isUtf8 } from 'node:buffer'

/** The text format of every dump of Stead, for each kind of database. */

/** An INSERT longer than this gets no further row. Servers take 16 MB per statement by default. */
export const MOST_INSERT_BYTES = 1 << 20
const PIECE_BYTES = 1 << 16

export const dumpHead = `-- Stead dump 1
--
-- For MariaDB 10.11 and later, MySQL 8 and later, and Stead. The last line says that it is complete.

SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET foreign_key_checks = 0;
SET unique_checks = 0;
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
/*M!100201 SET check_constraint_checks = 0 */;

`

export const dumpTail = 'SET unique_checks = 1;\nSET foreign_key_checks = 1;\n\n-- Dump completed\n'

/** For each byte, the letter that represents it after a backslash, or 0 if the byte represents itself. */
export const ESCAPES = new Uint8Array(256)
for (const [byte, letter] of ['\0' + '0', '\nn', '\rr', '\u001aZ', '""', "''", '\\\\'])
  ESCAPES[(byte as string).charCodeAt(0)] = (letter as string).charCodeAt(0)

/** Takes text and passes it on in pieces. */
export class DumpOutput {
  readonly #give: (piece: Uint8Array) => void
  #flushed = 0
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES)
  #used = 0

  /** @param give must be done with a piece when it returns, because its memory is reused */
  constructor(give: (piece: Uint8Array) => void) {
    this.#give = give
  }

  /** Returns the number of bytes written so far. */
  get written(): number {
    return this.#flushed + this.#used
  }

  text(text: string): void {
    if (text.length * 3 > PIECE_BYTES - this.#used) {
      this.flush()
    }
    if (text.length * 3 > PIECE_BYTES) this.#write(Buffer.from(text))
    else this.#used += this.#piece.write(text, this.#used)
  }

  /** Writes a string. A string that is not valid text is written as bytes. */
  quoted(bytes: Uint8Array, isText: boolean): void {
    this.text(isText && isUtf8(bytes) ? "'" : "_binary '")
    const piece = this.#piece
    let used = this.#used
    for (let at = 0; at < bytes.length; at++) {
      if (used + 2 > PIECE_BYTES) {
        this.#used = used
        this.flush()
        used = 0
      }
      const byte = bytes[at] as number
      const letter = ESCAPES[byte] as number
      if (letter !== 0) piece[used++] = 0x5c
      piece[used++] = letter === 0 ? byte : letter
    }
    this.#used = used
    this.text("'")
  }

  flush(): void {
    const used = this.#used
    this.#used = 0
    this.#write(this.#piece.subarray(0, used))
  }

  #write(bytes: Uint8Array): void {
    this.#flushed += bytes.length
    if (bytes.length > 0) this.#give(bytes)
  }
}
