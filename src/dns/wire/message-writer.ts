import type { OwnedSet } from '../owned-set.ts'
import { endOfLabel, labelsOf, wireOf } from './name.ts'
import { Class, HEADER_BYTES, HeaderFlag, Type } from './protocol.ts'
import type { RecordSet } from './record-data.ts'

/** The last position that a pointer can reach. */
const MOST_POINTED_TO = 0x3fff
const MOST_MESSAGE_BYTES = 65_535
const OPT_BYTES = 11

export type MessageSection = 'answer' | 'authority' | 'additional'
const countAt = { answer: 6, authority: 8, additional: 10 } as const

/** The buffer of all writers. One message is written at a time, and copied when it is complete. */
const scratch = Buffer.allocUnsafe(MOST_MESSAGE_BYTES)

export interface OptRecord {
  readonly udpBytes: number
  readonly extendedRcode: number
  readonly wantsDnssec: boolean
  /** Options in wire format. */
  readonly options: Buffer
}

/** Writes one message with compressed names. The next one begins after `finish`. */
export class MessageWriter {
  #at = 0
  #limit = MOST_MESSAGE_BYTES
  readonly #names = new Map<string, number>()
  readonly #added: string[] = []

  /**
   * Begins with the header and the question to answer.
   * @param name the question's name, to which others are compressed; undefined when the question could not be parsed
   */
  begin(question: Buffer, name: string | undefined, limit: number): void {
    question.copy(scratch)
    this.#at = question.length
    this.#limit = limit
    this.#names.clear()
    scratch.fill(0, 6, HEADER_BYTES)
    scratch.writeUInt16BE(question.length > HEADER_BYTES ? 1 : 0, 4)
    if (name === undefined) return
    let at = HEADER_BYTES
    for (let rest = name; rest !== ''; ) {
      this.#names.set(rest, at)
      at += (scratch[at] as number) + 1
      rest = rest.slice(endOfLabel(rest) + 1)
    }
  }

  /** Sets id, flags, and rcode, replacing those of the question. */
  head(flags: {
    opcode: number
    rcode: number
    isAuthoritative?: boolean
    isCut?: boolean
    wantsRecursion?: boolean
  }): void {
    const { opcode, rcode, isAuthoritative, isCut, wantsRecursion } = flags
    let value = HeaderFlag.QR | (opcode << 11) | (rcode & 15)
    if (isAuthoritative) value |= HeaderFlag.AA
    if (isCut) value |= HeaderFlag.TC
    if (wantsRecursion) value |= HeaderFlag.RD
    scratch.writeUInt16BE(value, 2)
  }

  /** Reserves room at the end. */
  reserve(bytes: number): void {
    this.#limit -= bytes
  }

  /**
   * Adds all records of a set, or none.
   * @returns whether there was room
   */
  addSet(section: MessageSection, { owner, set }: OwnedSet): boolean {
    return this.#orNothing(() => set.data.every((data) => this.#addRecord(section, owner, set, data)))
  }

  /**
   * Adds one record of a set.
   * @returns whether there was room
   */
  addOne(section: MessageSection, { owner, set }: OwnedSet, index: number): boolean {
    return this.#orNothing(() => this.#addRecord(section, owner, set, set.data[index] as RecordSet['data'][number]))
  }

  /** Removes all records. */
  clear(question: Buffer): void {
    this.#at = question.length
    scratch.fill(0, 6, HEADER_BYTES)
    for (const [name, at] of this.#names) if (at >= this.#at) this.#names.delete(name)
  }

  /** Adds the OPT record, for which room was reserved. */
  addOpt({ udpBytes, extendedRcode, wantsDnssec, options }: OptRecord): void {
    let at = this.#at
    scratch[at++] = 0
    at = scratch.writeUInt16BE(Type.OPT, at)
    at = scratch.writeUInt16BE(udpBytes, at)
    scratch[at++] = extendedRcode
    scratch[at++] = 0
    at = scratch.writeUInt16BE(wantsDnssec ? 0x8000 : 0, at)
    at = scratch.writeUInt16BE(options.length, at)
    this.#at = at + options.copy(scratch, at)
    this.#count('additional', 1)
  }

  /** Returns the message in a new buffer. */
  finish(): Buffer {
    return Buffer.from(scratch.subarray(0, this.#at))
  }

  static optBytes(options: Buffer): number {
    return OPT_BYTES + options.length
  }

  #orNothing(write: () => boolean): boolean {
    const before = this.#at
    const counts = scratch.readUIntBE(6, 6)
    this.#added.length = 0
    if (write()) return true
    this.#at = before
    scratch.writeUIntBE(counts, 6, 6)
    for (const name of this.#added) this.#names.delete(name)
    return false
  }

  #addRecord(section: MessageSection, owner: string, set: RecordSet, data: RecordSet['data'][number]): boolean {
    if (!this.#addName(owner) || this.#at + 10 > this.#limit) return false
    scratch.writeUInt16BE(set.type, this.#at)
    scratch.writeUInt16BE(Class.IN, this.#at + 2)
    scratch.writeUInt32BE(set.ttl, this.#at + 4)
    const start = this.#at + 10
    this.#at = start
    for (const part of data)
      if (typeof part === 'string') {
        if (!this.#addName(part)) return false
      } else {
        if (this.#at + part.length > this.#limit) return false
        this.#at += part.copy(scratch, this.#at)
      }
    scratch.writeUInt16BE(this.#at - start, start - 2)
    this.#count(section, 1)
    return true
  }

  #addName(name: string): boolean {
    for (let rest = name; rest !== ''; ) {
      const known = this.#names.get(rest)
      if (known !== undefined) {
        if (this.#at + 2 > this.#limit) return false
        this.#at = scratch.writeUInt16BE(0xc000 | known, this.#at)
        return true
      }
      const end = endOfLabel(rest)
      const label = rest.slice(0, end)
      const bytes = label.includes('\\') ? Buffer.from(labelsOf(label)[0] as string, 'latin1') : undefined
      const length = bytes?.length ?? label.length
      if (this.#at + 1 + length > this.#limit) return false
      if (this.#at <= MOST_POINTED_TO) {
        this.#names.set(rest, this.#at)
        this.#added.push(rest)
      }
      scratch[this.#at] = length
      if (bytes) bytes.copy(scratch, this.#at + 1)
      else scratch.write(label, this.#at + 1, length, 'latin1')
      this.#at += 1 + length
      rest = rest.slice(end + 1)
    }
    if (this.#at + 1 > this.#limit) return false
    scratch[this.#at++] = 0
    return true
  }

  #count(section: MessageSection, more: number): void {
    const at = countAt[section]
    scratch.writeUInt16BE(scratch.readUInt16BE(at) + more, at)
  }
}

/** Returns the header and question of a message that this server sends on its own initiative. */
export function questionOf(
  id: number,
  { opcode, isAuthoritative }: { opcode: number; isAuthoritative: boolean },
  name: string,
  type: number,
): Buffer {
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt16BE(id, 0)
  head.writeUInt16BE((opcode << 11) | (isAuthoritative ? HeaderFlag.AA : 0), 2)
  head.writeUInt16BE(1, 4)
  const tail = Buffer.alloc(4)
  tail.writeUInt16BE(type, 0)
  tail.writeUInt16BE(Class.IN, 2)
  return Buffer.concat([head, wireOf(name), tail])
}
