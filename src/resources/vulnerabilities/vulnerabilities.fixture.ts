import type { Tx } from '../../platform/db/database.ts'
import { vulnerabilitiesIn } from './feed.ts'
import { storeVulnerabilities } from './vulnerability.store.ts'

interface Given {
  readonly id?: string
  readonly type?: string
  readonly slug: string
  readonly to?: string
  readonly fixed?: readonly string[]
  readonly more?: object
}

/** Returns a member of a feed: versions up to 2.0 are affected unless told otherwise. */
export const feedMember = ({ id, type = 'plugin', slug, to = '2.0', fixed = ['2.1'], more = {} }: Given) => ({
  id: id ?? `of-${slug}`,
  title: `${slug} <= ${to}: stored cross-site scripting`,
  software: [
    {
      ...{ type, name: slug, slug, patched: fixed.length > 0, patched_versions: fixed },
      affected_versions: {
        [`* - ${to}`]: { from_version: '*', from_inclusive: true, to_version: to, to_inclusive: true },
      },
    },
  ],
  references: ['https://vulnerabilities.example/one'],
  published: '2026-03-01 12:00:00',
  cve: 'CVE-2026-12345',
  cvss: { vector: '', score: 6.4, rating: 'Medium' },
  ...more,
})

/** Stores vulnerabilities as if the feed had them. */
export const withVulnerabilities = (tx: Tx, given: readonly Given[], readAt = 1): Promise<void> =>
  storeVulnerabilities(
    tx,
    given.flatMap((each) => vulnerabilitiesIn(feedMember(each))),
    readAt,
  )
