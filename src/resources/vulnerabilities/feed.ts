import Type from 'typebox'
import { Value } from 'typebox/value'
import type { VulnerabilityRow } from './tables.ts'
import type { VersionRange } from './versions.ts'
import { cvssRatings, vulnerableKinds } from './vulnerability.ts'

/*
 * A feed is a JSON object with a vulnerability in each member, under any key. It has the form of the feeds that Wordfence
 * publishes (Wordfence Intelligence, version 2). Other members of a vulnerability are ignored.
 */

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

const Software = Type.Object({
  type: Type.Enum([...vulnerableKinds]),
  slug: Text(200),
  affected_versions: Type.Record(
    Type.String(),
    Type.Object({
      from_version: Text(100),
      from_inclusive: Type.Boolean(),
      to_version: Text(100),
      to_inclusive: Type.Boolean(),
    }),
  ),
  patched_versions: orNull(Type.Array(Text(100))),
})

const Vulnerability = Type.Object({
  id: Text(100),
  title: Text(1000),
  software: Type.Array(Type.Unknown()),
  references: orNull(Type.Array(Type.Unknown())),
  cve: orNull(Type.String()),
  cvss: orNull(Type.Object({ score: Type.Number({ minimum: 0, maximum: 10 }), rating: orNull(Type.String()) })),
  published: orNull(Type.String()),
})

const MOST_RANGES = 200
const MOST_TITLE = 300
const MOST_LINK = 500

export type FoundVulnerability = Omit<VulnerabilityRow, 'read_at'>

/** Returns the rows of a vulnerability, one for each plugin, or none if it is not one. */
export function vulnerabilitiesIn(member: unknown): FoundVulnerability[] {
  if (!Value.Check(Vulnerability, member)) return []
  const { id, title, software, cvss, cve, references, published } = member
  const rating = cvss?.rating?.toLowerCase()
  const publishedAt = Date.parse(`${published?.replace(' ', 'T').replace(/Z?$/, 'Z')}`)
  const about = {
    feed_id: id,
    title: plain(title).slice(0, MOST_TITLE),
    severity: cvssRatings.find((each) => each === rating) ?? null,
    tenths: cvss ? Math.round(cvss.score * 10) : null,
    cve: cve && /^CVE-\d{4}-\d{4,10}$/.test(cve) ? cve : null,
    link: references?.find(isLink) ?? null,
    published_at: Number.isNaN(publishedAt) ? null : publishedAt,
  }
  const rows = new Map<string, FoundVulnerability>()
  for (const each of software) {
    if (!Value.Check(Software, each)) continue
    const { type: kind, slug, affected_versions: versions, patched_versions: fixed } = each
    const affected = Object.values(versions).slice(0, MOST_RANGES).map(rangeOf)
    if (affected.length === 0) continue
    rows.set(`${kind} ${slug}`, {
      ...{ ...about, kind, slug },
      affected: JSON.stringify(affected),
      fixed_in: JSON.stringify(fixed?.slice(0, MOST_RANGES) ?? []),
    })
  }
  return [...rows.values()]
}

interface Range {
  readonly from_version: string
  readonly from_inclusive: boolean
  readonly to_version: string
  readonly to_inclusive: boolean
}

const rangeOf = (range: Range): VersionRange => ({
  from: range.from_version === '*' ? null : range.from_version,
  includesFrom: range.from_inclusive,
  to: range.to_version === '*' ? null : range.to_version,
  includesTo: range.to_inclusive,
})

const isLink = (each: unknown): each is string =>
  typeof each === 'string' && each.length <= MOST_LINK && /^https?:\/\//.test(each) && URL.canParse(each)

const plain = (text: string): string => text.toWellFormed().replace(/\p{Cc}+/gu, ' ')
