import { AnswerCache, answerTo } from './answer-cache.ts'
import type { AnswerLimit } from './answer-limit.ts'
import { answerForProof, signAnswer } from './signing/sign-answer.ts'
import type { ZoneSigner } from './signing/signer.ts'
import { SigningTime } from './signing/signing-time.ts'
import { messagesOf, sinceThen, wholeZone } from './transfers/transfer.ts'
import type { Cookies } from './wire/cookies.ts'
import { MessageWriter } from './wire/message-writer.ts'
import { isWithin, parentName } from './wire/name.ts'
import { Class, HEADER_BYTES, MOST_UDP_BYTES, PLAIN_UDP_BYTES, Rcode, TsigError, Type } from './wire/protocol.ts'
import { type Query, readQuery } from './wire/query.ts'
import { uint16s } from './wire/record-data.ts'
import { type SignatureVerdict, Signer, signatureBytes, type TsigKeys, verify } from './wire/tsig.ts'
import { answerFrom, type ZoneAnswer } from './zone-answer.ts'
import type { Difference } from './zones/difference.ts'
import type { ServedZone } from './zones/zone.ts'
import type { ZoneSet } from './zones/zone-set.ts'

/** The sender of a message. */
export interface DnsClient {
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
  /** Returns whether a client may have whole zones. `keyName` is the key of its valid signature. */
  readonly mayTransfer: (address: string, keyName: string | undefined) => boolean
  /** Returns the list of zones, for clients that may have it (RFC 9432). */
  readonly catalog?: () => ServedZone | undefined
  /** Returns the changes of a zone since an older version, if they are known. */
  readonly difference?: (zone: ServedZone, serial: number) => Promise<Difference | undefined>
  readonly signingTime?: SigningTime
  readonly now?: () => number
  /** Called for every answer. */
  readonly onAnswer?: (rcode: number, client: DnsClient) => void
}

const COOKIE_OPTION = 10
const EMPTY = Buffer.alloc(0)
const MOST_TCP_BYTES = 65_535

/** Answers messages of clients. Never throws. */
export class Responder {
  readonly #options: ResponderOptions
  readonly #writer = new MessageWriter()
  readonly #known = new AnswerCache()
  readonly #signing: SigningTime

  constructor(options: ResponderOptions) {
    this.#options = options
    this.#signing = options.signingTime ?? new SigningTime()
  }

  respond(message: Buffer, client: DnsClient): Reply {
    const { zones, limit, now = Date.now, onAnswer } = this.#options
    const nowMs = now()
    const key = client.transport === 'udp' ? AnswerCache.keyOf(message) : undefined
    const known = key === undefined ? undefined : this.#known.find(key, zones.version, nowMs)
    if (!known) return this.#respondAnew(message, { client, nowMs, key })
    const judgement = limit.judge(client.address, known.countedAs, nowMs)
    if (judgement === 'drop') return undefined
    if (judgement === 'slip') return this.#respondAnew(message, { client, nowMs, judgement })
    onAnswer?.(known.rcode, client)
    return answerTo(known, message)
  }

  #respondAnew(message: Buffer, from: Pick<Asked, 'client' | 'nowMs' | 'key' | 'judgement'>): Reply {
    const query = readQuery(message)
    if (!query) return undefined
    const verdict = query.tsig && verify(query.tsig, this.#options.keys, from.nowMs)
    return this.#respondTo({ ...from, query, verdict })
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
    const catalog = this.#options.catalog?.()
    if (catalog && isWithin(query.name, catalog.name)) return this.#answerOfCatalog(asked, catalog)
    const zone = this.#zoneOf(asked)
    return zone ? this.#answerOf(zone, asked) : this.#refuse(asked, Rcode.REFUSED)
  }

  #answerOfCatalog(asked: Asked, catalog: ServedZone): Reply {
    const { query, client, verdict } = asked
    if (!this.#options.mayTransfer(client.address, verdict?.keyName)) return this.#refuse(asked, Rcode.REFUSED)
    return this.#answer(asked, answerFrom(catalog, query.name, query.type))
  }

  #zoneOf({ query: { name, type } }: Asked): ServedZone | undefined {
    const { zones } = this.#options
    // RFC 4035 §3.1.4.1: a question for DS is for the zone above.
    const above = type === Type.DS && name !== '' && zones.get(name) ? zones.find(parentName(name)) : undefined
    return above ?? zones.find(name)
  }

  /** Returns a zone's answer, signed if the client asks for it, and cached for the same question. */
  #answerOf(zone: ServedZone, asked: Asked): Buffer | undefined {
    const { query, client } = asked
    const plain = answerFrom(zone, query.name, query.type)
    const judgement = this.#judge(asked, plain)
    const { signer } = zone
    const signed = () => (signer ? signedFor(zone, signer, query, plain) : plain)
    const answer =
      judgement !== 'send' || !signer
        ? plain
        : isMadeUp(query, plain)
          ? this.#signing.within(client.transport, signed)
          : signed()
    if (answer) {
      const message = this.#answer({ ...asked, judgement }, answer)
      this.#keep(asked, answer, judgement, message)
      return message
    }
    // A real client retries over TCP, and then with another server.
    if (client.transport === 'tcp') return this.#refuse(asked, Rcode.SERVFAIL)
    return this.#answer({ ...asked, judgement: 'slip' }, plain)
  }

  #keep(
    { query, verdict, key, nowMs }: Asked,
    answer: ZoneAnswer,
    judgement: Judgement,
    message: Buffer | undefined,
  ): void {
    if (key === undefined || !message || judgement !== 'send' || query.edns?.cookie || verdict) return
    const { rcode, countedAs } = answer
    this.#known.put(key, { message, rcode, countedAs, version: this.#options.zones.version, atMs: nowMs })
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
    // RFC 1995 §2: only the SOA means "nothing is newer", and over UDP "too large, use TCP".
    if (isUdp || (query.type === Type.IXFR && query.knownSerial === zone.serial))
      return this.#answer(asked, { ...nothing, isAuthoritative: true, answer: [{ owner: zone.name, set: zone.soa }] })
    this.#options.onAnswer?.(Rcode.NOERROR, client)
    const signer = verdict && new Signer(keys, verdict)
    return this.#messages(zone, query, signer && { signer, bytes: signatureBytes(verdict.keyName), now })
  }

  async *#messages(
    zone: ServedZone,
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

  #judge({ query, client, verdict, nowMs, judgement }: Asked, { countedAs }: ZoneAnswer): Judgement {
    if (judgement) return judgement
    const { cookies, limit } = this.#options
    const cookie = query.edns?.cookie
    const isKnown = cookie !== undefined && cookies.isOurs(cookie, client.address, nowMs)
    const isLimited = client.transport === 'udp' && !isKnown && !(verdict && verdict.error === TsigError.NONE)
    return isLimited ? limit.judge(client.address, countedAs, nowMs) : 'send'
  }

  /** Writes as much of an answer as there is room for. */
  #answer(asked: Asked, answer: ZoneAnswer): Buffer | undefined {
    const { query, client, verdict, nowMs } = asked
    const { cookies, keys, onAnswer } = this.#options
    const cookie = query.edns?.cookie
    const judgement = this.#judge(asked, answer)
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

  /** @returns whether everything required had room */
  #write({ answer, authority, glue, additional }: ZoneAnswer): boolean {
    const writer = this.#writer
    const isWhole =
      answer.every((each) => writer.addSet('answer', each)) &&
      authority.every((each) => writer.addSet('authority', each)) &&
      glue.every((each) => writer.addSet('additional', each))
    if (isWhole) for (const each of additional) writer.addSet('additional', each)
    return isWhole
  }
}

/** Returns whether an answer needs a new signature, because the client may have made up its name. */
const isMadeUp = ({ type, edns }: Query, { proof, countedAs }: ZoneAnswer): boolean =>
  (proof !== undefined || countedAs.startsWith('*')) &&
  (edns?.wantsDnssec === true || type === Type.NSEC || type === Type.RRSIG)

function signedFor(zone: ServedZone, signer: ZoneSigner, { type, edns }: Query, plain: ZoneAnswer): ZoneAnswer {
  const answer = answerForProof(zone, signer, type, plain)
  return edns?.wantsDnssec ? signAnswer(zone, signer, answer) : answer
}

interface Asked {
  readonly query: Query
  readonly client: DnsClient
  readonly verdict: SignatureVerdict | undefined
  readonly nowMs: number
  /** The key of its cached answer. */
  readonly key?: string | undefined
  /** Set when the rate limit has decided about its answer. */
  readonly judgement?: Judgement
}

type Judgement = ReturnType<AnswerLimit['judge']>

const nothing: ZoneAnswer = {
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

const cookieOption = (cookie: Buffer): Buffer => Buffer.concat([uint16s(COOKIE_OPTION, cookie.length), cookie])
