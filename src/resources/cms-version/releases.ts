import { compareVersions } from '../../hosting/core-library/wordpress-version.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Context } from '../kit/context.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import type { Site } from '../sites/public.ts'
import { askForReleases } from './look-for-releases.job.ts'
import { problems } from './problems.ts'
import { knownReleases, queuedLook, type Release } from './release.store.ts'

/** The known releases. */
export interface Looked {
  readonly releases: readonly Release[]
  /** Why the check failed, as a part of a sentence. The releases are then those known before. */
  readonly fault: string | undefined
}

/**
 * Checks which releases exist at this moment.
 * @throws Problem `releases_unknown` when none is known and the check fails
 */
export async function releasesNow(context: Context & { readonly site: Site }): Promise<Looked> {
  const { database, now, site, watches } = context
  const known = await knownReleases(database.read)
  try {
    // Simultaneous requests wait for the same check.
    const id = await database.transaction(
      async (tx) => (await queuedLook(tx, site.hostId)) ?? (await askForReleases(tx, site, now)),
    )
    await waitForOperation({ watches, started: [id] })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const reason = error.message.replace(/\.$/, '')
    if (known.length === 0) throw new Problem(problems.releases_unknown, { reason })
    return { releases: known, fault: reason }
  }
  const releases = await knownReleases(database.read)
  const isNew = releases.length > 0 && seenAt(releases) !== seenAt(known)
  return { releases, fault: isNew ? undefined : 'no source of WordPress responds' }
}

/** Returns when the releases were last checked. */
export const seenAt = (releases: readonly Release[]): number => Math.max(...releases.map((each) => each.seenAt))

/** The release that a site should run, and whether it follows betas from then on. */
export interface Target {
  readonly version: string
  readonly channel: Site['coreChannel']
}

/**
 * @param asked undefined switches between stable and beta
 * @throws Problem `no_beta_offered`, `releases_unknown`, `php_too_old`
 */
export function updateTarget(releases: readonly Release[], site: Site, asked: 'latest' | undefined): Target {
  const target = chosen(releases, site, asked)
  if (target.version !== site.coreVersion) requirePhp(releases, site, target.version)
  return target
}

/** @throws Problem `php_too_old` for a release that needs a newer PHP than the site has */
export function requirePhp(releases: readonly Release[], { phpVersion: has }: Site, version: string): void {
  const needed = releases.find((release) => release.version === version)?.phpVersion ?? null
  if (!isEnoughPhp(has, needed)) throw new Problem(problems.php_too_old, { version, needed: String(needed), has })
}

/**
 * Returns whether a PHP version such as 8.1 is new enough. Sites have the newest patch release, so only major and minor
 * number are compared.
 */
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
  const offered = releases.filter(({ isOffered }) => isOffered)
  // If none is offered, only the releases on the hosts are left.
  const choice = offered.length > 0 ? offered : releases
  const newest = (kind: Release['kind']) =>
    choice
      .filter((release) => release.kind === kind)
      .map(({ version }) => version)
      .toSorted(compareVersions)
      .at(-1)
  const stable = newest('stable')
  if (stable === undefined)
    throw new Problem(problems.releases_unknown, { reason: 'no source offers a stable release' })
  if (asked === 'latest' || site.coreChannel === 'beta') return { version: stable, channel: 'stable' }
  const beta = newest('beta')
  if (beta === undefined || compareVersions(beta, stable) < 0)
    throw new Problem(problems.no_beta_offered, { latest: stable })
  return { version: beta, channel: 'beta' }
}
