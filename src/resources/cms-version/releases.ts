import { compareVersions } from '../../hosting/core-library/version.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Context } from '../kit/context.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import type { Site } from '../sites/site.ts'
import { askForReleases } from './look-for-releases.job.ts'
import { problems } from './problems.ts'
import { knownReleases, queuedLook, type Release } from './release.store.ts'

/** What there is to choose from. */
export interface Looked {
  readonly releases: readonly Release[]
  /** Why nobody could look now: then it is what was known before. A part of a sentence. */
  readonly fault: string | undefined
}

/**
 * Looks which releases there are at this moment.
 * @throws Problem `releases_unknown` when nothing is known and nothing can be found out
 */
export async function releasesNow(context: Context & { readonly site: Site }): Promise<Looked> {
  const { database, now, site, watches } = context
  const known = await knownReleases(database.read)
  try {
    // whoever asks at the same time waits for one look
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

/** When releases were last found out. */
export const seenAt = (releases: readonly Release[]): number => Math.max(...releases.map((each) => each.seenAt))

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
  const offered = releases.filter(({ isOffered }) => isOffered)
  // without any that is offered, what is on the hosts is all that there is
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
