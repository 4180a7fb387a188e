import { compareVersions } from '../../hosting/core-library/version.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Context } from '../context.ts'
import type { Site } from '../sites/site.ts'
import { waitForOperation } from '../wait-for-operation.ts'
import { askForReleases } from './look-for-releases.job.ts'
import { problems } from './problems.ts'
import { knownReleases, type Release } from './release.store.ts'

/** What was found out so lately is not asked again. */
const FRESH_MS = 3_600_000

/** @throws Problem `releases_unknown` when nothing is known and nothing can be found out */
export async function releasesNow(context: Context & { readonly site: Site }): Promise<Release[]> {
  const { database, now, site, watches } = context
  const known = await knownReleases(database.read)
  if (known.some(({ seenAt }) => Math.abs(now - seenAt) < FRESH_MS)) return known
  try {
    const id = await database.transaction((tx) => askForReleases(tx, site, now))
    await waitForOperation({ watches, started: [id] })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // what was there yesterday is there still
    if (known.length === 0) throw new Problem(problems.releases_unknown, { reason: error.message.replace(/\.$/, '') })
  }
  return knownReleases(database.read)
}

/** Which release a site is to run, and whether it follows betas from then on. */
export interface Target {
  readonly version: string
  readonly channel: Site['coreChannel']
}

/**
 * @param asked undefined: the other one of stable and beta
 * @throws Problem `no_beta_offered`, `releases_unknown`, `php_too_old`
 */
export function targetOf(releases: readonly Release[], site: Site, asked: 'latest' | undefined): Target {
  const target = chosen(releases, site, asked)
  const needed = releases.find(({ version }) => version === target.version)?.phpVersion ?? null
  if (target.version !== site.coreVersion && !isEnoughPhp(site.phpVersion, needed))
    throw new Problem(problems.php_too_old, { version: target.version, needed: String(needed), has: site.phpVersion })
  return target
}

/** Whether a line of PHP, such as 8.1, is new enough. Sites have the newest of their line, so its number is not looked at further. */
export function isEnoughPhp(has: string, needed: string | null): boolean {
  const [major, minor] = numbersOf(has)
  const [leastMajor, leastMinor] = numbersOf(needed ?? '0')
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

const numbersOf = (version: string): [number, number] => {
  const [major, minor = '0'] = version.split('.')
  return [Number(major), Number(minor)]
}

function chosen(releases: readonly Release[], site: Site, asked: 'latest' | undefined): Target {
  const newest = (kind: Release['kind']) =>
    releases
      .filter((release) => release.kind === kind)
      .map(({ version }) => version)
      .toSorted(compareVersions)
      .at(-1)
  const stable = newest('stable')
  if (stable === undefined) throw new Problem(problems.releases_unknown, { reason: 'no source offers a stable one' })
  if (asked === 'latest' || site.coreChannel === 'beta') return { version: stable, channel: 'stable' }
  const beta = newest('beta')
  if (beta === undefined || compareVersions(beta, stable) < 0)
    throw new Problem(problems.no_beta_offered, { latest: stable })
  return { version: beta, channel: 'beta' }
}
