import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { reconcileAlerts } from '../alerts/public.ts'
import { fixOf, installedAnywhere, type Vulnerable, vulnerabilitiesOf } from './vulnerability.store.ts'

/** Opens and ends the alerts of sites with vulnerable versions. */
export const judgeVulnerabilities = durableWith<{ readonly database: Database; readonly config: Config }>()({
  name: 'vulnerabilities.judge',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: { judge: { commit: (tx, { now }) => judge(tx, now()) } },
})

export const judgeVulnerabilitiesOften = schedule({
  name: 'vulnerabilities.judge',
  everyMs: 10 * MINUTE_MS,
  definition: judgeVulnerabilities,
  input: () => ({}),
})

/** Compares what is installed on all sites with the feed. */
export async function judge(tx: Tx, now: number): Promise<void> {
  const sites = await installedAnywhere(tx)
  const keyOf = (each: { readonly kind: string; readonly slug: string; readonly version: string }) =>
    JSON.stringify([each.kind, each.slug, each.version])
  const versions = new Map(sites.map((each) => [keyOf(each), { ...each, sites: 1 }]))
  const known = Map.groupBy(
    (await vulnerabilitiesOf(tx, [...versions.values()])).flatMap(({ row, installed }) =>
      installed.map((each) => ({ key: keyOf(each), row })),
    ),
    ({ key }) => key,
  )
  const findings = sites.flatMap((site) => {
    const rows = known.get(keyOf(site))?.map(({ row }) => row)
    return rows ? [{ siteId: site.siteId, subject: site.name || site.slug, detail: describe(site.version, rows) }] : []
  })
  await reconcileAlerts(tx, 'vulnerability', findings, now)
}

function describe(version: string, rows: readonly Vulnerable['row'][]): string {
  const [worst] = rows as [Vulnerable['row']]
  const fixes = rows.map((row) => fixOf(row, version))
  const advice = fixes.includes(null) ? 'No version fixes it yet. Consider removing it' : 'Update it'
  const more = rows.length > 1 ? `, and ${rows.length - 1} more` : ''
  return `Version ${version}: ${worst.title}${more}. ${advice}`
}
