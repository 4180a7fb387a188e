import { isAscii, isUtf8 } from 'node:buffer'
import { UnreadableSql } from './sql-tokens.ts'

/** MySQL charsets with the platform decoders' names for them (https://encoding.spec.whatwg.org/#names-and-labels). */
const DECODERS: Readonly<Record<string, string>> = {
  latin1: 'windows-1252',
  latin2: 'iso-8859-2',
  latin5: 'windows-1254',
  latin7: 'iso-8859-13',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  cp1256: 'windows-1256',
  cp1257: 'windows-1257',
  cp866: 'ibm866',
  greek: 'iso-8859-7',
  hebrew: 'iso-8859-8',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  macroman: 'macintosh',
  tis620: 'windows-874',
  gbk: 'gbk',
  gb2312: 'gbk',
  gb18030: 'gb18030',
  big5: 'big5',
  sjis: 'shift_jis',
  cp932: 'shift_jis',
  ujis: 'euc-jp',
  eucjpms: 'euc-jp',
  euckr: 'euc-kr',
  ucs2: 'utf-16be',
  utf16: 'utf-16be',
  utf16le: 'utf-16le',
}
const UTF8: ReadonlySet<string> = new Set(['utf8mb4', 'utf8mb3', 'utf8', 'ascii'])

/** Charsets in which the second byte of a character may be a backslash or a quote, with a test of the first byte. */
const LEADS: Readonly<Record<string, (byte: number) => boolean>> = {
  gbk: (byte) => byte >= 0x81 && byte <= 0xfe,
  gb18030: (byte) => byte >= 0x81 && byte <= 0xfe,
  big5: (byte) => byte >= 0xa1 && byte <= 0xf9,
  sjis: (byte) => (byte >= 0x81 && byte <= 0x9f) || (byte >= 0xe0 && byte <= 0xfc),
  cp932: (byte) => (byte >= 0x81 && byte <= 0x9f) || (byte >= 0xe0 && byte <= 0xfc),
}
export const leadsOf = (charset: string): ((byte: number) => boolean) | undefined => LEADS[charset]

export const isUtf8Charset = (charset: string): boolean => UTF8.has(charset)

/** The remedy for text in another charset. */
export const AS_UTF8 = 'Export the database again with --default-character-set=utf8mb4.'

/** @throws UnreadableSql for a charset that cannot be converted */
export function checkCharset(charset: string): void {
  if (charset !== 'binary' && !isUtf8Charset(charset) && DECODERS[charset] === undefined)
    throw new UnreadableSql(`Its text is in the charset ${charset.slice(0, 40)}, which cannot be converted`, AS_UTF8)
}

/** Converts text of another charset to UTF-8. @returns undefined when it is invalid in that charset */
export function toUtf8(bytes: Uint8Array, charset: string): Uint8Array | undefined {
  if (isUtf8Charset(charset)) return isUtf8(bytes) ? bytes : undefined
  // ASCII is the same in all charsets except those with two bytes per character.
  if (!/^(ucs2|utf16)/.test(charset) && isAscii(bytes)) return bytes
  const label = DECODERS[charset]
  if (label === undefined) return undefined
  try {
    return Buffer.from(new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return undefined
  }
}
