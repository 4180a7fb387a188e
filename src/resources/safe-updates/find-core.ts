import { compareVersions } from '../../hosting/core-library/wordpress-version.ts'
import { Problem } from '../../platform/http/problem.ts'
import { type Release, type ReleaseTarget, requirePhp, updateTarget } from '../cms-version/public.ts'
import type { Site } from '../sites/public.ts'
import { problems } from './problems.ts'

/**
 * Finds the release of WordPress that an update gives a site. Undefined: the site has it.
 * @throws Problem `core_refused`, `php_too_old`, `releases_unknown`
 */
export function findCore(site: Site, wanted: string, releases: readonly Release[]): ReleaseTarget | undefined {
  const target = wanted === 'latest' ? updateTarget(releases, site, 'latest') : named(releases, wanted)
  const has = site.coreVersion ?? ''
  const age = compareVersions(target.version, has)
  if (age === 0) return undefined
  if (age < 0) throw refused(`the site runs WordPress ${has}, which is newer than ${target.version}`)
  requirePhp(releases, site, target.version)
  return target
}

function named(releases: readonly Release[], version: string): ReleaseTarget {
  if (releases.some((release) => release.version === version && release.kind === 'stable'))
    return { version, channel: 'stable' }
  throw refused(`no source provides the stable release ${version} of WordPress`)
}

const refused = (fault: string) => new Problem(problems.core_refused, { fault }, { errors: [`core: ${fault}.`] })
