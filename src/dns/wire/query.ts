import { readName } from './name.ts'
import { HEADER_BYTES, HeaderFlag, Opcode, Rcode, Type } from './protocol.ts'
import { readTsig, type Tsig } from './tsig.ts'

/** The data of a client's OPT record (RFC 6891). */
export interface Edns {
  readonly version: number
  readonly udpBytes: number
  /** Repeated in the answer (RFC 3225). */
  readonly wantsDnssec: boolean
  /** The cookie option as received: 8 bytes of the client, followed by the server's (RFC 7873). */
  readonly cookie: Buffer | undefined
}

/** A parsed question. */
export interface Query {
  readonly id: number
  readonly opcode: number
  readonly wantsRecursion: boolean
  /** The rcode if it cannot be answered. The other fields have what was parsed before the error. */
  readonly fault: number | undefined
  /** The header and question, to repeat to the letter (some resolvers use the case of names as a secret). */
  readonly question: Buffer
  readonly name: string
  readonly type: number
  readonly class: number
  readonly edns: Edns | undefined
  readonly tsig: Tsig | undefined
  /** The newest version of the zone that a secondary has (RFC 1995). */
  readonly knownSerial: number | undefined
}

const COOKIE_OPTION = 10
const CLIENT_COOKIE_BYTES = 8
const MOST_COOKIE_BYTES = 40
const RECORD_HEAD_BYTES = 10
const DNSSEC_OK = 0x8000

/**
 * Parses a message of a client.
 * @returns undefined for messages that never get an answer: less than a header, and answers (two servers would answer
 * each other forever)
 */
export function readQuery(message: Buffer): Query | undefined {
  if (message.length < HEADER_BYTES) return undefined
  const flags = message.readUInt16BE(2)
  if (flags & HeaderFlag.QR) return undefined
  const draft = {
    id: message.readUInt16BE(0),
    opcode: (flags >> 11) & 15,
    wantsRecursion: (flags & HeaderFlag.RD) !== 0,
    fault: undefined as number | undefined,
    question: message.subarray(0, HEADER_BYTES),
    name: '',
    type: 0,
    class: 0,
    edns: undefined as Edns | undefined,
    tsig: undefined as Tsig | undefined,
    knownSerial: undefined as number | undefined,
  }
  if (draft.opcode !== Opcode.QUERY) return { ...draft, fault: Rcode.NOTIMP }
  if (message.readUInt16BE(4) !== 1) return { ...draft, fault: Rcode.FORMERR }
  const name = readName(message, HEADER_BYTES)
  // A pointer in the first name can only lead into the header.
  if (!name || name.end + 4 > message.length || name.hasPointer) return { ...draft, fault: Rcode.FORMERR }
  draft.name = name.name
  draft.type = message.readUInt16BE(name.end)
  draft.class = message.readUInt16BE(name.end + 2)
  draft.question = message.subarray(0, name.end + 4)
  if (!readRecords(message, name.end + 4, draft)) draft.fault = Rcode.FORMERR
  return draft
}

type Draft = { -readonly [Key in keyof Query]: Query[Key] }

/**
 * Parses everything after the question.
 * @returns whether it is valid
 */
function readRecords(message: Buffer, start: number, draft: Draft): boolean {
  const [answers, authorities, additionals] = [6, 8, 10].map((at) => message.readUInt16BE(at)) as [
    number,
    number,
    number,
  ]
  const count = answers + authorities + additionals
  let at = start
  for (let index = 0; index < count; index++) {
    const owner = readName(message, at)
    if (!owner || owner.end + RECORD_HEAD_BYTES > message.length) return false
    const type = message.readUInt16BE(owner.end)
    const data = owner.end + RECORD_HEAD_BYTES
    const end = data + message.readUInt16BE(owner.end + 8)
    if (end > message.length) return false
    const section = index < answers ? 'answer' : index < answers + authorities ? 'authority' : 'additional'
    if (type === Type.OPT) {
      if (section !== 'additional' || owner.name !== '' || draft.edns) return false
      draft.edns = readEdns(message, owner.end, message.subarray(data, end))
      if (!draft.edns) return false
    } else if (type === Type.TSIG) {
      // RFC 8945 §5.1: it is the last record, and signs everything before it.
      if (section !== 'additional' || index !== count - 1) return false
      draft.tsig = readTsig(message, { start: at, name: owner.name, head: owner.end, data, end })
      if (!draft.tsig) return false
    } else if (type === Type.SOA && section === 'authority' && draft.type === Type.IXFR)
      draft.knownSerial = serialOf(message, data, end)
    at = end
  }
  return at === message.length
}

function readEdns(message: Buffer, head: number, options: Buffer): Edns | undefined {
  const flags = message.readUInt16BE(head + 6)
  let cookie: Buffer | undefined
  for (let at = 0; at < options.length; ) {
    if (at + 4 > options.length) return undefined
    const code = options.readUInt16BE(at)
    const end = at + 4 + options.readUInt16BE(at + 2)
    if (end > options.length) return undefined
    if (code === COOKIE_OPTION && !cookie) {
      cookie = options.subarray(at + 4, end)
      const isCookie =
        cookie.length === CLIENT_COOKIE_BYTES || (cookie.length >= 16 && cookie.length <= MOST_COOKIE_BYTES)
      if (!isCookie) return undefined
    }
    at = end
  }
  return {
    version: message[head + 5] as number,
    udpBytes: message.readUInt16BE(head + 2),
    wantsDnssec: (flags & DNSSEC_OK) !== 0,
    cookie,
  }
}

function serialOf(message: Buffer, data: number, end: number): number | undefined {
  const primary = readName(message, data)
  const mailbox = primary && readName(message, primary.end)
  return mailbox && mailbox.end + 20 <= end ? message.readUInt32BE(mailbox.end) : undefined
}
