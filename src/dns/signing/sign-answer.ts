import type { OwnedSet } from '../owned-set.ts'
import { Rcode, Type } from '../wire/protocol.ts'
import { cutAbove, type ZoneAnswer } from '../zone-answer.ts'
import type { ServedZone } from '../zones/zone.ts'
import { compactNsec } from './denial.ts'
import type { ZoneSigner } from './signer.ts'

/** Signs an answer from a signed zone, and proves what does not exist. */
export function signAnswer(zone: ServedZone, signer: ZoneSigner, answer: ZoneAnswer): ZoneAnswer {
  const signed = (owned: OwnedSet): OwnedSet[] => [owned, signaturesOf(zone, signer, owned)]
  const { proof } = answer
  const denial = proof ? signed({ owner: proof.name, set: nsecOf(zone, proof) }) : []
  // Another zone signs the names below a cut.
  const isOurs = ({ owner }: OwnedSet) => !zone.hasCuts || cutAbove(zone, owner, Type.A) === undefined
  const authority = answer.authority.flatMap((owned) => (isOurs(owned) ? signed(owned) : [owned]))
  return {
    ...answer,
    // RFC 9824 §3.1: the proof says that the name does not exist.
    rcode: answer.rcode === Rcode.NXDOMAIN ? Rcode.NOERROR : answer.rcode,
    answer: answer.answer.flatMap(signed),
    authority: [...authority, ...denial],
    additional: answer.additional.flatMap((owned) => (isOurs(owned) ? signed(owned) : [owned])),
  }
}

/** Answers a question for a record that is created for the answer: every name of a signed zone has these. */
export function answerForProof(zone: ServedZone, signer: ZoneSigner, type: number, answer: ZoneAnswer): ZoneAnswer {
  const { proof } = answer
  if (!proof?.types || answer.answer.length > 0 || !answer.isAuthoritative) return answer
  if (type === Type.NSEC)
    return { ...answer, answer: [{ owner: proof.name, set: nsecOf(zone, proof) }], authority: [], proof: undefined }
  const set = [...(zone.nodes.get(proof.name)?.values() ?? [])][0]
  if (type !== Type.RRSIG || !set) return answer
  const signatures = signaturesOf(zone, signer, { owner: proof.name, set })
  return { ...answer, answer: [signatures], authority: [], proof: undefined }
}

const nsecOf = (zone: ServedZone, { name, types }: NonNullable<ZoneAnswer['proof']>) =>
  compactNsec(name, types, zone.negativeSoa.ttl)

function signaturesOf(zone: ServedZone, signer: ZoneSigner, owned: OwnedSet): OwnedSet {
  const isOwn = zone.nodes.get(owned.owner)?.get(owned.set.type) === owned.set || owned.set === zone.negativeSoa
  return { owner: owned.owner, set: signer.signaturesOf(owned, isOwn) }
}
