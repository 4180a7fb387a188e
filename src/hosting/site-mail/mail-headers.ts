import { isUtf8 } from 'node:buffer'

/** A mail that cannot be sent as it is. The message tells the site's developers why. */
export class MailFault extends Error {
  override readonly name = 'MailFault'
}

/** One header, on one line. */
export interface Header {
  readonly name: string
  readonly value: string
}

export const MOST_HEADER_BYTES = 64 << 10
const MOST_HEADERS = 200

/** Field names according to RFC 5322 §2.2. */
const NAME = /^[!-9;-~]{1,76}$/
const CONTROL = /[\p{Cc}\u2028\u2029]/u

/**
 * Reads the value of a header that is passed separately, as in `mail()`. It may be folded, as PHPMailer does with long
 * subjects. Any other line break would start another header.
 * @throws MailFault
 */
export function readValue(what: string, bytes: Buffer): string {
  if (bytes.length > MOST_HEADER_BYTES) throw new MailFault(`${what} is too long`)
  return checked(what, textOf(bytes).replace(/\r?\n[ \t]+(?=[^\s])/g, ' '))
}

/**
 * Reads a block of headers with any kind of line ends. Rejects an empty line, which would end the block, so that the
 * rest became the body.
 * @throws MailFault
 */
export function readHeaders(bytes: Buffer): Header[] {
  if (bytes.length > MOST_HEADER_BYTES) throw new MailFault('the headers are too long')
  const text = textOf(bytes).replaceAll('\r\n', '\n').trimEnd()
  if (text === '') return []
  const lines = text.split('\n')
  const unfolded: string[] = []
  for (const line of lines) {
    if (line.trim() === '') throw new MailFault('the headers contain an empty line')
    if (!/^[ \t]/.test(line)) unfolded.push(line)
    else if (unfolded.length === 0) throw new MailFault('the headers begin with a space')
    else unfolded.push(`${unfolded.pop()} ${line.trim()}`)
  }
  if (unfolded.length > MOST_HEADERS) throw new MailFault(`it has more than ${MOST_HEADERS} headers`)
  return unfolded.map(readHeader)
}

function readHeader(line: string): Header {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  if (!NAME.test(name)) throw new MailFault(`${JSON.stringify(line.slice(0, 60))} is not a header`)
  return { name, value: checked(`the header ${name}`, line.slice(colon + 1)) }
}

function checked(what: string, value: string): string {
  const plain = value.replaceAll('\t', ' ').trim()
  if (CONTROL.test(plain)) throw new MailFault(`${what} has a line break or a control character in it`)
  return plain
}

/** Decodes bytes from PHP in any encoding. */
const textOf = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
