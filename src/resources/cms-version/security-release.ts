import { compareVersions } from '../../hosting/core-library/wordpress-version.ts'
import type { Tx } from '../../platform/db/database.ts'
import { findAccount } from '../account/public.ts'
import { findSite } from '../sites/public.ts'
import { knownReleases, type Release } from './release.store.ts'
import { isEnoughPhp } from './releases.ts'

/** Source of operations that the schedule requests. */
export const SCHEDULE = 'schedule'

/** Returns the branch. WordPress calls 6.8.1, 6.8.2, … a branch: its new releases only fix faults. */
const branchOf = (version: string): string => version.split('.', 2).join('.')

/** Returns the newest release of the branch that a source offers now, if it is newer than the site's. */
export function securityRelease(releases: readonly Release[], installed: string): Release | undefined {
  return releases
    .filter(
      ({ version, kind, isOffered }) => isOffered && kind === 'stable' && branchOf(version) === branchOf(installed),
    )
    .filter(({ version }) => compareVersions(version, installed) > 0)
    .toSorted((a, b) => compareVersions(a.version, b.version))
    .at(-1)
}

/** Returns why a planned security release should not be installed on a site, or `undefined` if it should. */
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
