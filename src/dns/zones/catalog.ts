import { dnsName } from '../wire/name.ts'
import { Type } from '../wire/protocol.ts'
import type { RecordSet } from '../wire/record-data.ts'
import { type Node, type ServedZone, soaSet, timers } from './zone.ts'

/** RFC 9432 §4.1: resolvers never query a catalog. */
const NOBODY = 'invalid'

/**
 * Creates a catalog zone (RFC 9432), from which secondaries learn the list of zones automatically.
 * @param members zones and their ids; a zone that was deleted and created again has another id
 */
export function createCatalog(given: string, serial: number, members: ReadonlyMap<string, number>): ServedZone {
  const name = dnsName(given)
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
