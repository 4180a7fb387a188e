import { nameOf } from '../wire/name.ts'
import { Type } from '../wire/protocol.ts'
import type { RecordSet } from '../wire/record-data.ts'
import { type Node, soaSet, timers, type Zone } from './zone.ts'

/** RFC 9432 §4.1: nobody looks a catalog up. */
const NOBODY = 'invalid'

/**
 * A catalog zone (RFC 9432): tells secondaries which zones there are, so that nobody has to.
 * @param members zones and their ids: one that was deleted and made again is another
 */
export function createCatalog(given: string, serial: number, members: ReadonlyMap<string, number>): Zone {
  const name = nameOf(given)
  const soa = soaSet(name, serial, NOBODY)
  const ns: RecordSet = { type: Type.NS, ttl: 0, data: [[NOBODY]], targets: [] }
  const version: RecordSet = { type: Type.TXT, ttl: 0, data: [[Buffer.from('\x012', 'latin1')]], targets: [] }
  const nodes = new Map<string, Node>([
    [name, new Map([ns, soa].map((set) => [set.type, set]))],
    [`version.${name}`, new Map([[Type.TXT, version]])],
    [`zones.${name}`, new Map()],
  ])
  for (const [member, id] of members)
    nodes.set(
      `z${id}.zones.${name}`,
      new Map([[Type.PTR, { type: Type.PTR, ttl: 0, data: [[member]], targets: [] } satisfies RecordSet]]),
    )
  return { name, serial, nodes, soa, negativeSoa: { ...soa, ttl: timers.minimum }, hasCuts: false, signer: undefined }
}
