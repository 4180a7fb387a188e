import type { OwnedSet } from '../owned-set.ts'
import { signedRecords } from '../signing/signed-records.ts'
import { type MessageWriter, questionOf } from '../wire/message-writer.ts'
import { Opcode, Rcode } from '../wire/protocol.ts'
import type { Query } from '../wire/query.ts'
import type { Difference } from '../zones/difference.ts'
import type { ServedZone } from '../zones/zone.ts'

/** Pointers reach no further anyway, and a message of this size takes no noticeable time. */
const MESSAGE_BYTES = 16_384

/**
 * Yields all of a zone (RFC 5936): the SOA, everything else, and the SOA again. It is sent in as many messages as
 * necessary. A zone never changes, so even a slow transfer has one version.
 */
export function* wholeZone(zone: ServedZone): Generator<OwnedSet> {
  const soa = { owner: zone.name, set: zone.soa }
  yield soa
  yield* zone.signer ? signedRecords(zone, zone.signer) : plainRecords(zone)
  yield soa
}

function* plainRecords({ nodes, soa }: ServedZone): Generator<OwnedSet> {
  for (const [owner, sets] of nodes) for (const set of sets.values()) if (set !== soa) yield { owner, set }
}

/**
 * Returns the records that update a secondary from its version to this one (RFC 1995 §4), in one step whatever lies
 * between.
 * @returns undefined when the whole zone is not larger
 */
export function sinceThen({ name, soa, nodes }: ServedZone, { removed, added }: Difference): OwnedSet[] | undefined {
  const ends = { owner: name, set: soa }
  const difference = [ends, ...removed, ...added, ends]
  let all = 0
  for (const sets of nodes.values()) for (const { data } of sets.values()) all += data.length
  return difference.reduce((sum, { set }) => sum + set.data.length, 0) > all ? undefined : difference
}

/** @param signatureBytes the room that a signature of each message needs */
export function* messagesOf(
  records: Iterable<OwnedSet>,
  query: Query,
  writer: MessageWriter,
  signatureBytes: number,
): Generator<Buffer> {
  const begin = (most = MESSAGE_BYTES) => {
    writer.begin(query.question, query.name, most)
    writer.reserve(signatureBytes)
    writer.head({ opcode: Opcode.QUERY, rcode: Rcode.NOERROR, isAuthoritative: true })
  }
  begin()
  for (const owned of records)
    for (const index of owned.set.data.keys()) {
      if (writer.addOne('answer', owned, index)) continue
      // Once this message is handed over, another client's message may be written.
      yield writer.finish()
      begin()
      if (writer.addOne('answer', owned, index)) continue
      // A single record may be larger.
      begin(65_535)
      writer.addOne('answer', owned, index)
    }
  yield writer.finish()
}

/** Returns the notification that a zone has changed (RFC 1996), with its SOA as a hint. */
export function notifyMessage(zone: ServedZone, id: number, type: number, writer: MessageWriter): Buffer {
  const question = questionOf(id, { opcode: Opcode.NOTIFY, isAuthoritative: true }, zone.name, type)
  const flags = question.readUInt16BE(2)
  writer.begin(question, zone.name, 512)
  writer.addSet('answer', { owner: zone.name, set: zone.soa })
  const message = writer.finish()
  message.writeUInt16BE(flags, 2)
  return message
}
