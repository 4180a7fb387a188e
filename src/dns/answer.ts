import { isWithin, parentOf } from './wire/name.ts'
import { Rcode, Type } from './wire/protocol.ts'
import type { RecordSet } from './wire/record-data.ts'
import type { Node, Zone } from './zones/zone.ts'

/** A set of records as an answer has it: below a wildcard the owner is the name that was asked for. */
export interface OwnedSet {
  readonly owner: string
  readonly set: RecordSet
}

/** What a zone says to a question. */
export interface Answer {
  readonly rcode: number
  readonly isAuthoritative: boolean
  readonly answer: readonly OwnedSet[]
  readonly authority: readonly OwnedSet[]
  /** Left out where there is no room. */
  readonly additional: readonly OwnedSet[]
  /** Addresses without which a delegation leads nowhere (RFC 9471): no room for them is no room for the answer. */
  readonly glue: readonly OwnedSet[]
  /** What answers are counted together by where their number is limited: names that do not exist are as many as anybody likes. */
  readonly countedAs: string
  /** What a signed zone has to prove: that a name has these types and no others, or that there is none (undefined). */
  readonly proof?: { readonly name: string; readonly types: readonly number[] | undefined } | undefined
}

/** Aliases that are followed in one answer; a resolver asks for the rest. */
const MOST_ALIASES = 8
const ANY_TTL = 3600
const OS_AND_CPU = Buffer.from('\x07RFC8482\x00', 'latin1')
/** RFC 8482 §4.2: who asks for everything gets one small record. */
const anySet: RecordSet = { type: Type.HINFO, ttl: ANY_TTL, data: [[OS_AND_CPU]], targets: [] }

/** Answers a question from the zone that its name is in (RFC 1034 §4.3.2). */
export function answerFrom(zone: Zone, name: string, type: number): Answer {
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
  /** None: the name does not exist. */
  readonly node: Node | undefined
  /** Whose records these are. */
  readonly owner: string
  readonly isWildcard: boolean
}

/** The name itself, else the wildcard below the closest name that exists (RFC 4592 §3.3). */
function lookUp({ name: apex, nodes }: Zone, name: string): Found {
  const node = nodes.get(name)
  if (node) return { node, owner: name, isWildcard: false }
  let encloser = parentOf(name)
  while (encloser !== apex && !nodes.has(encloser)) encloser = parentOf(encloser)
  const owner = encloser === '' ? '*' : `*.${encloser}`
  return { node: nodes.get(owner), owner, isWildcard: true }
}

/** The delegation that a name lies at or below, the highest if there are several. */
export function cutAbove({ name: apex, nodes }: Zone, name: string, type: number): string | undefined {
  let cut: string | undefined
  for (let rest = name; rest !== apex; rest = parentOf(rest)) if (nodes.get(rest)?.has(Type.NS)) cut = rest
  // RFC 4035 §3.1.4.1: DS is the one type whose home is above the cut
  return cut === name && type === Type.DS ? undefined : cut
}

function referral(zone: Zone, cut: string, answer: readonly OwnedSet[]): Answer {
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

const positive = (zone: Zone, answer: readonly OwnedSet[], countedAs: string): Answer => ({
  rcode: Rcode.NOERROR,
  isAuthoritative: true,
  answer,
  authority: [],
  additional: additionalTo(zone, answer),
  glue: [],
  countedAs,
})

/** At a cut the zone has the delegation alone: addresses there are glue. */
const typesAt = (zone: Zone, name: string, node: Node): number[] =>
  name !== zone.name && node.has(Type.NS) ? [Type.NS] : [...node.keys()]

const negative = (
  zone: Zone,
  rcode: number,
  answer: readonly OwnedSet[],
  countedAs: string,
  proof: Answer['proof'],
): Answer => ({
  rcode,
  isAuthoritative: true,
  answer,
  authority: [{ owner: zone.name, set: zone.negativeSoa }],
  additional: [],
  glue: [],
  countedAs,
  proof,
})

function additionalTo(zone: Zone, answer: readonly OwnedSet[]): OwnedSet[] {
  const last = answer.at(-1)?.set
  return last && last.targets.length > 0 ? addressesOf(zone, last) : []
}

/** Addresses of a set's targets, as far as they are in the zone (below a delegation they are glue). */
function addressesOf(zone: Zone, { targets }: RecordSet): OwnedSet[] {
  return targets.flatMap((owner) => {
    const node = isWithin(owner, zone.name) ? zone.nodes.get(owner) : undefined
    return [node?.get(Type.A), node?.get(Type.AAAA)].flatMap((set) => (set ? [{ owner, set }] : []))
  })
}
