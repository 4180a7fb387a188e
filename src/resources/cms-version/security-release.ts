import { compareVersions } from '../../hosting/core-library/version.ts'
import type { Tx } from '../../platform/db/database.ts'
import { findAccount } from '../account/account.ts'
import { findSite } from '../sites/site.ts'
import { knownReleases, type Release } from './release.store.ts'
import { isEnoughPhp } from './releases.ts'

/** What operations that the schedule has asked for have as their source. */
export const SCHEDULE = 'schedule'

/** WordPress calls 6.8.1, 6.8.2, … a branch: what comes anew in it mends faults and nothing else. */
const branchOf = (version: string): string => version.split('.', 2).join('.')

/** The newest release of the branch that a source has now, when it is newer than what a site runs. */
export function securityRelease(releases: readonly Release[], installed: string): Release | undefined {
  return releases
    .filter(
      ({ version, kind, isOffered }) => isOffered && kind === 'stable' && branchOf(version) === branchOf(installed),
    )
    .filter(({ version }) => compareVersions(version, installed) > 0)
    .toSorted((a, b) => compareVersions(a.version, b.version))
    .at(-1)
}

/** Why a site is not to be brought to a security release, whatever was planned for it; `undefined`: it is. */
export async function whyNotUpdated(
  tx: Tx,
  { siteId, version }: { readonly siteId: number; readonly version: string },
): Promise<string | undefined> {
  const site = await findSite(tx, siteId)
  if (!site?.coreVersion) return 'The site was deleted'
  if (site.coreChannel !== 'stable') return 'The site uses beta versions'
  const release = securityRelease(await knownReleases(tx), site.coreVersion)
  if (release?.version !== version)
    return `WordPress ${version} is not the latest release in the branch of ${site.coreVersion}`
  if (!isEnoughPhp(site.phpVersion, release.phpVersion)) return `WordPress ${version} needs PHP ${release.phpVersion}`
  if (!(await findAccount(tx, site.accountId))?.hasAutomaticUpdates) return 'The account has no automatic updates'
  return undefined
}
