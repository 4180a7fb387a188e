import type { OwnedSet } from '../owned-set.ts'
import { labelsOf } from '../wire/name.ts'
import { Type } from '../wire/protocol.ts'
import { cutAbove } from '../zone-answer.ts'
import type { ServedZone } from '../zones/zone.ts'
import { nsec } from './denial.ts'
import type { ZoneSigner } from './signer.ts'

/**
 * Yields all of a signed zone except its SOA, for a secondary without the key. Includes signatures and the chain of
 * names, which lets clients of the secondary list the zone's names.
 */
export function* signedRecords(zone: ServedZone, signer: ZoneSigner): Generator<OwnedSet> {
  const names = [...zone.nodes]
    .filter(([, sets]) => sets.size > 0)
    .map(([name]) => ({ name, labels: labelsOf(name).reverse(), cut: cutAbove(zone, name, Type.A) }))
    .sort((a, b) => compareLabels(a.labels, b.labels))
  const chain = names.filter(({ name, cut }) => cut === undefined || cut === name).map(({ name }) => name)
  const nextOf = new Map(chain.map((name, at) => [name, chain[at + 1] ?? zone.name]))
  const signed = (owned: OwnedSet): OwnedSet => ({ owner: owned.owner, set: signer.signaturesOf(owned, true) })
  for (const { name: owner, cut } of names) {
    const sets = [...(zone.nodes.get(owner)?.values() ?? [])]
    for (const set of sets) {
      if (set !== zone.soa) yield { owner, set }
      if (cut === undefined) yield signed({ owner, set })
    }
    const next = nextOf.get(owner)
    if (next === undefined) continue
    const types = cut === undefined ? sets.map(({ type }) => type) : [Type.NS]
    const proof = { owner, set: nsec(next, [...types, Type.RRSIG, Type.NSEC], zone.negativeSoa.ttl) }
    yield proof
    yield signed(proof)
  }
}

/** Compares names in canonical order (RFC 4034 §6.1), given their labels from the last one. */
function compareLabels(a: readonly string[], b: readonly string[]): number {
  for (const [at, label] of a.entries()) {
    const other = b[at]
    if (other === undefined) return 1
    if (label !== other) return label < other ? -1 : 1
  }
  return a.length - b.length
}
