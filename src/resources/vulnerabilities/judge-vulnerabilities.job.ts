import { setImmediate as breathe } from 'node:timers/promises'
import Type from 'typebox'
import type { Config } from '../../config.ts'
import { batches } from '../../platform/batches.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { someOf } from '../../platform/some-of.ts'
import { type AlertFinding, reconcileAlerts, sitesThatDiffer } from '../alerts/public.ts'
import {
  fixOf,
  type InstalledVersion,
  installedAnywhere,
  installedOnSites,
  type SiteVersion,
  sitesWithVersions,
  type Vulnerable,
  vulnerabilitiesOf,
  withRows,
} from './vulnerability.store.ts'

/** Versions that are described in one turn of the event loop. */
const VERSIONS_AT_ONCE = 500

/** Statements of SQLite are one long turn of the event loop, unless something else may come between them. */
const between = () => breathe()

/** Sites whose alerts change in one transaction. */
const SITES_AT_ONCE = 20

/** Opens and ends the alerts of sites with vulnerable versions. */
export const judgeVulnerabilities = durableWith<{ readonly database: Database; readonly config: Config }>()({
  name: 'vulnerabilities.judge',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    judge: { run: (context) => judge({ ...context, read: context.services.database.read }) },
  },
})

export const judgeVulnerabilitiesOften = schedule({
  name: 'vulnerabilities.judge',
  everyMs: 10 * MINUTE_MS,
  definition: judgeVulnerabilities,
  input: () => ({}),
})

/** Where it reads, and how it changes something. */
export type JudgeContext = Pick<StepContext, 'transaction' | 'signal' | 'now'> & { readonly read: Tx }

/**
 * Compares what is installed on all sites with the feed. It only reads, unless a site needs a change: then its versions
 * are read again in the transaction that changes its alerts.
 */
export async function judge({ read, transaction, signal, now }: JudgeContext): Promise<void> {
  const found = await vulnerabilitiesOf(read, await installedAnywhere(read, { between }), { between })
  const known = await vulnerableVersions(await withRows(read, found, { between }))
  for (const siteIds of batches(await sitesToChange(read, known), SITES_AT_ONCE)) {
    signal.throwIfAborted()
    await transaction(async (tx) => {
      const findings = (await installedOnSites(tx, siteIds)).flatMap((each) => findingOf(each, known))
      await reconcileAlerts(tx, 'vulnerability', findings, now(), { siteIds, updatesDetails: true })
    })
    await between()
  }
}

interface VulnerableVersion extends Pick<InstalledVersion, 'kind' | 'slug' | 'version'> {
  readonly detail: string
}

const keyOf = ({ kind, slug, version }: Pick<InstalledVersion, 'kind' | 'slug' | 'version'>): string =>
  JSON.stringify([kind, slug, version])

/** @param found the most severe first */
async function vulnerableVersions(found: readonly Vulnerable[]): Promise<ReadonlyMap<string, VulnerableVersion>> {
  const pairs = found.flatMap(({ row, installed }) => installed.map((version) => ({ row, version })))
  const known = new Map<string, VulnerableVersion>()
  const byKey = Map.groupBy(pairs, ({ version }) => keyOf(version))
  for (const some of batches([...byKey], VERSIONS_AT_ONCE)) {
    for (const [key, ofKey] of some) {
      const [{ version: of }] = ofKey as [(typeof pairs)[0]]
      const rows = ofKey.map(({ row }) => row)
      known.set(key, { kind: of.kind, slug: of.slug, version: of.version, detail: describe(of.version, rows) })
    }
    await between()
  }
  return known
}

function findingOf(site: SiteVersion, known: ReadonlyMap<string, VulnerableVersion>): AlertFinding[] {
  const found = known.get(keyOf(site))
  return found ? [{ siteId: site.siteId, subject: site.name || site.slug, detail: found.detail }] : []
}

/** Returns the sites whose alerts are not what was found. */
async function sitesToChange(read: Tx, known: ReadonlyMap<string, VulnerableVersion>): Promise<number[]> {
  const found: AlertFinding[] = []
  for (const versions of Map.groupBy(known.values(), ({ kind, slug }) => `${kind} ${slug}`).values()) {
    const of = versions[0] as VulnerableVersion
    const sites = await sitesWithVersions(
      read,
      of,
      versions.map(({ version }) => version),
    )
    found.push(...sites.flatMap((each) => findingOf(each, known)))
    await between()
  }
  return sitesThatDiffer(read, 'vulnerability', found, { updatesDetails: true })
}

function describe(version: string, rows: readonly Vulnerable['row'][]): string {
  const fixes = rows.map((row) => fixOf(row, version))
  const advice = fixes.includes(null) ? 'No version fixes it yet. Consider removing it' : 'Update it'
  const titles = rows.map(({ title }) => title)
  return `Version ${version}: ${someOf(titles, 1)}. ${advice}`
}
