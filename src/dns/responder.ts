import { type Answer, answerFrom } from './answer.ts'
import type { Cookies } from './cookies.ts'
import type { Difference } from './difference.ts'
import { MessageWriter } from './message-writer.ts'
import { isWithin, parentOf } from './name.ts'
import { Class, HEADER_BYTES, MOST_UDP_BYTES, PLAIN_UDP_BYTES, Rcode, TsigError, Type } from './protocol.ts'
import { type Query, readQuery } from './query.ts'
import type { AnswerLimit } from './rate-limit.ts'
import { words } from './record-data.ts'
import { answerForProof, signAnswer } from './signing/sign-answer.ts'
import { messagesOf, sinceThen, wholeZone } from './transfer.ts'
import { Signer, signatureBytes, type TsigKeys, type Verdict, verify } from './tsig.ts'
import type { Zone } from './zone.ts'
import type { ZoneSet } from './zone-set.ts'

/** Where a message came from. */
export interface Client {
  readonly address: string
  readonly transport: 'udp' | 'tcp'
}

/** One message, many (a transfer of a zone), or silence. */
export type Reply = Buffer | AsyncIterable<Buffer> | undefined

export interface ResponderOptions {
  readonly zones: ZoneSet
  readonly cookies: Cookies
  readonly limit: AnswerLimit
  readonly keys: TsigKeys
  /** Whether a client may have whole zones. `keyName`: of its right signature. */
  readonly mayTransfer: (address: string, keyName: string | undefined) => boolean
  /** Which zones there are, for who may have them (RFC 9432). */
  readonly catalog?: () => Zone | undefined
  /** What has changed in a zone since an older version, if that is known. */
  readonly difference?: (zone: Zone, serial: number) => Promise<Difference | undefined>
  readonly now?: () => number
  /** Told of every answer that is given. */
  readonly onAnswer?: (rcode: number, client: Client) => void
}

const COOKIE_OPTION = 10
const EMPTY = Buffer.alloc(0)
const MOST_TCP_BYTES = 65_535

/** Turns messages of clients into answers; never throws. */
export class Responder {
  readonly #options: ResponderOptions
  readonly #writer = new MessageWriter()

  constructor(options: ResponderOptions) {
    this.#options = options
  }

  respond(message: Buffer, client: Client): Reply {
    const query = readQuery(message)
    if (!query) return undefined
    const { keys, now = Date.now } = this.#options
    const verdict = query.tsig && verify(query.tsig, keys, now())
    return this.#respondTo({ query, client, verdict, nowMs: now() })
  }

  #respondTo(asked: Asked): Reply {
    const { query, verdict } = asked
    if (query.fault !== undefined) return this.#refuse(asked, query.fault)
    if (verdict && verdict.error !== TsigError.NONE) return this.#refuse(asked, Rcode.NOTAUTH)
    if (query.edns && query.edns.version > 0) return this.#refuse(asked, Rcode.BADVERS)
    if (query.class !== Class.IN) return this.#refuse(asked, Rcode.REFUSED)
    if (query.type === Type.AXFR || query.type === Type.IXFR) return this.#transfer(asked)
    if (query.type === Type.MAILA || query.type === Type.MAILB) return this.#refuse(asked, Rcode.NOTIMP)
    if (query.type === Type.OPT || query.type === Type.TSIG) return this.#refuse(asked, Rcode.FORMERR)
    const zone = this.#zoneOf(asked)
    return zone ? this.#answer(asked, answerOf(zone, query)) : this.#refuse(asked, Rcode.REFUSED)
  }

  #zoneOf({ query: { name, type }, client, verdict }: Asked): Zone | undefined {
    const { zones, mayTransfer } = this.#options
    const catalog = this.#options.catalog?.()
    if (catalog && isWithin(name, catalog.name))
      return mayTransfer(client.address, verdict?.keyName) ? catalog : undefined
    // RFC 4035 §3.1.4.1: who asks for DS asks the zone above
    const above = type === Type.DS && name !== '' && zones.get(name) ? zones.find(parentOf(name)) : undefined
    return above ?? zones.find(name)
  }

  #refuse(asked: Asked, rcode: number): Buffer | undefined {
    return this.#answer(asked, { ...nothing, rcode, countedAs: `#${rcode}` })
  }

  #transfer(asked: Asked): Reply {
    const { query, client, verdict } = asked
    const { mayTransfer, zones, keys, now = Date.now } = this.#options
    if (!mayTransfer(client.address, verdict?.keyName)) return this.#refuse(asked, Rcode.REFUSED)
    const catalog = this.#options.catalog?.()
    const zone = catalog?.name === query.name ? catalog : zones.get(query.name)
    if (!zone) return this.#refuse(asked, Rcode.NOTAUTH)
    const isUdp = client.transport === 'udp'
    if (isUdp && query.type === Type.AXFR) return this.#refuse(asked, Rcode.FORMERR)
    // RFC 1995 §2: the SOA alone says "nothing is newer", and over UDP "too large, ask over TCP"
    if (isUdp || (query.type === Type.IXFR && query.knownSerial === zone.serial))
      return this.#answer(asked, { ...nothing, isAuthoritative: true, answer: [{ owner: zone.name, set: zone.soa }] })
    this.#options.onAnswer?.(Rcode.NOERROR, client)
    const signer = verdict && new Signer(keys, verdict)
    return this.#messages(zone, query, signer && { signer, bytes: signatureBytes(verdict.keyName), now })
  }

  async *#messages(
    zone: Zone,
    query: Query,
    tsig: { signer: Signer; bytes: number; now: () => number } | undefined,
  ): AsyncGenerator<Buffer> {
    const { type, knownSerial } = query
    const isPartWanted = type === Type.IXFR && knownSerial !== undefined
    const part = isPartWanted ? await this.#options.difference?.(zone, knownSerial) : undefined
    const records = (part && sinceThen(zone, part)) ?? wholeZone(zone)
    for (const message of messagesOf(records, query, this.#writer, tsig?.bytes ?? 0))
      yield tsig ? tsig.signer.sign(message, tsig.now()) : message
  }

  /** Writes an answer, as much of it as there is room for. */
  #answer(asked: Asked, answer: Answer): Buffer | undefined {
    const { query, client, verdict, nowMs } = asked
    const { cookies, limit, keys, onAnswer } = this.#options
    const cookie = query.edns?.cookie
    const isKnown = cookie !== undefined && cookies.isOurs(cookie, client.address, nowMs)
    const isLimited = client.transport === 'udp' && !isKnown && !(verdict && verdict.error === TsigError.NONE)
    const judgement = isLimited ? limit.judge(client.address, answer.countedAs, nowMs) : 'send'
    if (judgement === 'drop') return undefined
    const options = cookie ? cookieOption(cookies.answerTo(cookie, client.address, nowMs)) : EMPTY
    const writer = this.#writer
    const hasQuestion = query.question.length > HEADER_BYTES
    writer.begin(query.question, hasQuestion ? query.name : undefined, mostBytes(asked))
    if (query.edns) writer.reserve(MessageWriter.optBytes(options))
    if (verdict) writer.reserve(signatureBytes(verdict.keyName))
    const isCut = judgement === 'slip' || !this.#write(answer)
    if (isCut) writer.clear(query.question)
    writer.head({
      opcode: query.opcode,
      rcode: answer.rcode,
      isAuthoritative: answer.isAuthoritative,
      isCut,
      wantsRecursion: query.wantsRecursion,
    })
    if (query.edns)
      writer.addOpt({
        udpBytes: MOST_UDP_BYTES,
        extendedRcode: answer.rcode >> 4,
        wantsDnssec: query.edns.wantsDnssec,
        options,
      })
    onAnswer?.(answer.rcode, client)
    const message = writer.finish()
    return verdict ? new Signer(keys, verdict).sign(message, nowMs) : message
  }

  /** @returns whether all that must be there had room */
  #write({ answer, authority, glue, additional }: Answer): boolean {
    const writer = this.#writer
    const isWhole =
      answer.every((each) => writer.addSet('answer', each)) &&
      authority.every((each) => writer.addSet('authority', each)) &&
      glue.every((each) => writer.addSet('additional', each))
    if (isWhole) for (const each of additional) writer.addSet('additional', each)
    return isWhole
  }
}

/** What a zone says, signed for who asks for that. */
function answerOf(zone: Zone, { name, type, edns }: Query): Answer {
  const plain = answerFrom(zone, name, type)
  if (!zone.signer) return plain
  const answer = answerForProof(zone, zone.signer, type, plain)
  return edns?.wantsDnssec ? signAnswer(zone, zone.signer, answer) : answer
}

interface Asked {
  readonly query: Query
  readonly client: Client
  readonly verdict: Verdict | undefined
  readonly nowMs: number
}

const nothing: Answer = {
  rcode: Rcode.NOERROR,
  isAuthoritative: false,
  answer: [],
  authority: [],
  additional: [],
  glue: [],
  countedAs: '#transfer',
}

function mostBytes({ query, client }: Asked): number {
  if (client.transport === 'tcp') return MOST_TCP_BYTES
  if (!query.edns) return PLAIN_UDP_BYTES
  return Math.min(MOST_UDP_BYTES, Math.max(PLAIN_UDP_BYTES, query.edns.udpBytes))
}

const cookieOption = (cookie: Buffer): Buffer => Buffer.concat([words(COOKIE_OPTION, cookie.length), cookie])
