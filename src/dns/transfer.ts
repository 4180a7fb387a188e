import type { OwnedSet } from './answer.ts'
import { type MessageWriter, questionOf } from './message-writer.ts'
import { Opcode, Rcode } from './protocol.ts'
import type { Query } from './query.ts'
import { signedRecords } from './signing/signed-records.ts'
import type { Zone } from './zone.ts'

/** Pointers reach no further anyway, and a message of this size is made in a moment. */
const MESSAGE_BYTES = 16_384

/**
 * All of a zone (RFC 5936): the SOA, everything else, and the SOA again, in as many messages as it takes. A zone never changes, so
 * that what is asked for slowly is of one version all the same.
 * @param signatureBytes room that a signature of each message needs
 */
export function* transferOf(
  zone: Zone,
  query: Query,
  writer: MessageWriter,
  signatureBytes: number,
): Generator<Buffer> {
  const soa = { owner: zone.name, set: zone.soa }
  const begin = () => {
    writer.begin(query.question, query.name, MESSAGE_BYTES)
    writer.reserve(signatureBytes)
    writer.head({ opcode: Opcode.QUERY, rcode: Rcode.NOERROR, isAuthoritative: true })
  }
  begin()
  for (const [owned, index] of recordsOf(zone, soa)) {
    if (writer.addOne('answer', owned, index)) continue
    // another client's message may be written as soon as this one is given away
    yield writer.finish()
    begin()
    if (writer.addOne('answer', owned, index)) continue
    // one record alone may be larger
    writer.begin(query.question, query.name, 65_535 - signatureBytes)
    writer.head({ opcode: Opcode.QUERY, rcode: Rcode.NOERROR, isAuthoritative: true })
    writer.addOne('answer', owned, index)
  }
  yield writer.finish()
}

function* recordsOf(zone: Zone, soa: OwnedSet): Generator<[OwnedSet, number]> {
  yield [soa, 0]
  for (const owned of zone.signer ? signedRecords(zone, zone.signer) : plainRecords(zone))
    for (const index of owned.set.data.keys()) yield [owned, index]
  yield [soa, 0]
}

function* plainRecords({ nodes, soa }: Zone): Generator<OwnedSet> {
  for (const [owner, sets] of nodes) for (const set of sets.values()) if (set !== soa) yield { owner, set }
}

/** The notice that a zone has changed (RFC 1996), with its SOA as a hint. */
export function noticeOf(zone: Zone, id: number, type: number, writer: MessageWriter): Buffer {
  const question = questionOf(id, { opcode: Opcode.NOTIFY, isAuthoritative: true }, zone.name, type)
  const flags = question.readUInt16BE(2)
  writer.begin(question, zone.name, 512)
  writer.addSet('answer', { owner: zone.name, set: zone.soa })
  const message = writer.finish()
  message.writeUInt16BE(flags, 2)
  return message
}
