import type { OwnedSet } from './owned-set.ts'
import { isWithin, parentName } from './wire/name.ts'
import { Rcode, Type } from './wire/protocol.ts'
import type { RecordSet } from './wire/record-data.ts'
import type { Node, ServedZone } from './zones/zone.ts'

/** The answer of a zone to a question. */
export interface ZoneAnswer {
  readonly rcode: number
  readonly isAuthoritative: boolean
  readonly answer: readonly OwnedSet[]
  readonly authority: readonly OwnedSet[]
  /** Left out when they do not fit. */
  readonly additional: readonly OwnedSet[]
  /** Addresses without which a delegation is useless (RFC 9471). If they have no room, the answer has none either. */
  readonly glue: readonly OwnedSet[]
  /** The key under which the rate limit counts answers together, because clients can make up any number of names. */
  readonly countedAs: string
  /**
   * The facts that a signed zone must prove: that a name has only these types, or that it does not exist (undefined).
   */
  readonly proof?: { readonly name: string; readonly types: readonly number[] | undefined } | undefined
}

/** The most aliases followed in one answer. A resolver asks for the rest. */
const MOST_ALIASES = 8
const ANY_TTL = 3600
const OS_AND_CPU = Buffer.from('\x07RFC8482\x00', 'latin1')
/** The one small record that answers ANY (RFC 8482 §4.2). */
const anySet: RecordSet = { type: Type.HINFO, ttl: ANY_TTL, data: [[OS_AND_CPU]], targets: [] }

/** Answers a question from the zone that contains its name (RFC 1034 §4.3.2). */
export function answerFrom(zone: ServedZone, name: string, type: number): ZoneAnswer {
  const answer: OwnedSet[] = []
  let current = name
  let countedAs = `=${name}`
  const aliases = new Set<string>()
  for (;;) {
    const cut = zone.hasCuts ? cutAbove(zone, current, type) : undefined
    if (cut !== undefined) return referral(zone, cut, answer)
    const found = lookUp(zone, current)
    if (found.isWildcard) countedAs = `*${found.owner}`
    if (!found.node) return negative(zone, Rcode.NXDOMAIN, answer, `!${zone.name}`, { name: current, types: undefined })
    if (type === Type.ANY && found.node.size > 0)
      return positive(zone, [...answer, { owner: current, set: anySet }], countedAs)
    const alias = type === Type.CNAME ? undefined : found.node.get(Type.CNAME)
    const set = alias ?? found.node.get(type)
    if (!set) {
      const types = typesAt(zone, current, found.node)
      return negative(zone, Rcode.NOERROR, answer, found.isWildcard ? countedAs : `?${current}`, {
        name: current,
        types,
      })
    }
    answer.push({ owner: current, set })
    if (!alias) return positive(zone, answer, countedAs)
    aliases.add(current)
    const target = alias.data[0]?.[0] as string
    if (!isWithin(target, zone.name) || aliases.has(target) || aliases.size > MOST_ALIASES)
      return positive(zone, answer, countedAs)
    current = target
  }
}

interface Found {
  /** Undefined if the name does not exist. */
  readonly node: Node | undefined
  /** The owner of these records. */
  readonly owner: string
  readonly isWildcard: boolean
}

/** Returns the name itself, or else the wildcard below the closest existing name (RFC 4592 §3.3). */
function lookUp({ name: apex, nodes }: ServedZone, name: string): Found {
  const node = nodes.get(name)
  if (node) return { node, owner: name, isWildcard: false }
  let encloser = parentName(name)
  while (encloser !== apex && !nodes.has(encloser)) encloser = parentName(encloser)
  const owner = encloser === '' ? '*' : `*.${encloser}`
  return { node: nodes.get(owner), owner, isWildcard: true }
}

/** Returns the delegation that a name is at or below, the highest if there are several. */
export function cutAbove({ name: apex, nodes }: ServedZone, name: string, type: number): string | undefined {
  let cut: string | undefined
  for (let rest = name; rest !== apex; rest = parentName(rest)) if (nodes.get(rest)?.has(Type.NS)) cut = rest
  // RFC 4035 §3.1.4.1: DS is the only type that belongs above the cut.
  return cut === name && type === Type.DS ? undefined : cut
}

function referral(zone: ServedZone, cut: string, answer: readonly OwnedSet[]): ZoneAnswer {
  const set = zone.nodes.get(cut)?.get(Type.NS) as RecordSet
  return {
    rcode: Rcode.NOERROR,
    isAuthoritative: answer.length > 0,
    answer,
    authority: [{ owner: cut, set }],
    additional: [],
    glue: addressesOf(zone, set),
    countedAs: `>${cut}`,
    proof: { name: cut, types: [Type.NS] },
  }
}

const positive = (zone: ServedZone, answer: readonly OwnedSet[], countedAs: string): ZoneAnswer => ({
  rcode: Rcode.NOERROR,
  isAuthoritative: true,
  answer,
  authority: [],
  additional: additionalTo(zone, answer),
  glue: [],
  countedAs,
})

/** Returns the types at a name. At a cut, the zone has only the delegation: addresses there are glue. */
const typesAt = (zone: ServedZone, name: string, node: Node): number[] =>
  name !== zone.name && node.has(Type.NS) ? [Type.NS] : [...node.keys()]

const negative = (
  zone: ServedZone,
  rcode: number,
  answer: readonly OwnedSet[],
  countedAs: string,
  proof: ZoneAnswer['proof'],
): ZoneAnswer => ({
  rcode,
  isAuthoritative: true,
  answer,
  authority: [{ owner: zone.name, set: zone.negativeSoa }],
  additional: [],
  glue: [],
  countedAs,
  proof,
})

function additionalTo(zone: ServedZone, answer: readonly OwnedSet[]): OwnedSet[] {
  const last = answer.at(-1)?.set
  return last && last.targets.length > 0 ? addressesOf(zone, last) : []
}

/** Returns addresses of a set's targets that are in the zone (below a delegation, they are glue). */
function addressesOf(zone: ServedZone, { targets }: RecordSet): OwnedSet[] {
  return targets.flatMap((owner) => {
    const node = isWithin(owner, zone.name) ? zone.nodes.get(owner) : undefined
    return [node?.get(Type.A), node?.get(Type.AAAA)].flatMap((set) => (set ? [{ owner, set }] : []))
  })
}
