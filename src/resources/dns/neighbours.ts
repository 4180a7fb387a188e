import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { problems } from './problems.ts'
import type { ReadRecord } from './records/read-record.ts'
import { type DnsRecord, MOST_RECORDS, type RecordDraft } from './records/record.ts'
import { isSpf, mergedSpf } from './records/spf.ts'

/** Default TTL of a record, in seconds. */
export const USUAL_TTL = 3600

/** Effect of adding a record to a zone. */
export type Addition =
  | { readonly add: RecordDraft }
  /** The record is merged into an existing one. */
  | { readonly change: DnsRecord; readonly value: string }

/**
 * Adds a record to those of its zone, by the rules between records: no duplicates, no CNAME next to other records (RFC
 * 1034 §3.6.2), one TTL for a name and type (RFC 2181 §5.2). A name has one SPF record (RFC 7208 §3.2), so the
 * mechanisms of a second one are merged into the first.
 * @throws Problem `record_exists`, `record_conflict`, `record_limit_reached`, or invalid input
 */
export function addition(read: ReadRecord, records: readonly DnsRecord[]): Addition {
  const ofName = records.filter(({ name }) => name === read.name)
  const ofSet = ofName.filter(({ type }) => type === read.type)
  const alias = ofName.find(({ type }) => type === 'CNAME')
  const shown = read.name || 'the zone itself'
  if (ofSet.some((each) => isTwin(each, read))) throw new Problem(problems.record_exists, { type: read.type })
  if (alias) conflict(`${shown} is an alias (CNAME) of ${alias.value} and cannot have other records`)
  if (read.type === 'CNAME' && ofName.length > 0)
    conflict(
      `${shown} has ${[...new Set(ofName.map(({ type }) => type))].join(', ')} records and cannot also be an alias (CNAME)`,
    )
  const isAddress = read.type === 'A' || read.type === 'AAAA'
  if (isAddress && read.siteId === null && ofName.some(({ siteId }) => siteId !== null))
    conflict(`${shown} is a domain of a site, and an address of another server would send visitors to both`)
  if (read.type === 'TXT' && isSpf(read.value)) {
    const spf = ofSet.find(({ value }) => isSpf(value))
    if (spf) return { change: spf, value: mergedSpf(spf.value, read.value) }
  }
  const ttl = read.ttl ?? ofSet[0]?.ttl ?? USUAL_TTL
  if (ofSet[0] && ofSet[0].ttl !== ttl)
    throw invalidInput([`ttl: must be ${ofSet[0].ttl}, like the other ${read.type} records of ${shown} (RFC 2181)`])
  if (records.length >= MOST_RECORDS) throw new Problem(problems.record_limit_reached, { limit: MOST_RECORDS })
  return { add: { ...read, ttl } }
}

const isTwin = (one: DnsRecord, other: ReadRecord): boolean =>
  one.value === other.value &&
  one.weight === other.weight &&
  one.port === other.port &&
  // The same MX host with two priorities is also a mistake.
  (one.type === 'MX' || one.priority === other.priority)

function conflict(reason: string): never {
  throw new Problem(problems.record_conflict, { reason })
}
