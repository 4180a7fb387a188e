import { Problem } from '../../../platform/http/problem.ts'
import { extensionsOf } from '../../inventory/public.ts'
import { storedPlugins } from '../../plugins/public.ts'
import { compareExtensionVersions, isAffected, vulnerabilitiesOf } from '../../vulnerabilities/public.ts'
import { chooseUpdates, type Directories, type FoundUpdates } from '../find-updates.ts'
import type { UndoneVersion, UpdatePolicy } from './policy.ts'
import { undoneVersions } from './undone.store.ts'

/** Plugins and themes to update. `later`: the directory of WordPress does not answer. */
export type Chosen = { readonly found: FoundUpdates; readonly isTrial: boolean } | 'none' | 'later'

interface Installed {
  readonly kind: 'plugin' | 'theme'
  readonly slug: string
  readonly version: string
}

interface Wanted extends Pick<UpdatePolicy, 'mode' | 'exclude'> {
  /** Whether the turn before tried a single update again. */
  readonly isAfterTrial: boolean
}

/**
 * Chooses what a policy updates on a site now, from what Stead knows of the site. Versions that were undone together are
 * tried again one at a time, in turn with the other updates. Those that fix a vulnerability come before everything.
 */
export async function chooseByPolicy(services: Directories, siteId: number, policy: Wanted): Promise<Chosen> {
  const { read } = services.database
  const excluded = new Set(policy.exclude.map((each) => each.toLowerCase()))
  const installed: Installed[] = (await extensionsOf(read, siteId)).filter(
    ({ slug, update_version: offered }) => offered !== null && !excluded.has(slug.toLowerCase()),
  )
  const isFix = await fixesOf(services, installed)
  const isChosen = policy.mode === 'security' ? isFix : () => true
  const known = new Map(installed.map((each) => [keyOf(each), each]))
  const isWanted = (kind: Installed['kind'], slug: string) => {
    const has = known.get(keyOf({ kind, slug }))
    return has !== undefined && isChosen(has)
  }
  try {
    const here = { siteId, installed: await storedPlugins(read, siteId) }
    const found = await chooseUpdates(services, here, { all: true, isWanted })
    const due: Candidate[] = [
      ...found.plugins.map((order) => ({ order, kind: 'plugin' as const })),
      ...found.themes.map((order) => ({ order, kind: 'theme' as const })),
    ].flatMap(({ order, kind }) => {
      const has = known.get(keyOf({ kind, slug: order.path }))
      const { version } = order
      const isDue = has && version !== null && compareExtensionVersions(version, has.version) > 0
      return isDue && isChosen(has, version) ? [{ order, kind, version, isFix: isFix(has, version) }] : []
    })
    const { group, trial } = sorted(due, await undoneVersions(read, siteId))
    const isTrial = trial !== undefined && (trial.isFix || group.length === 0 || !policy.isAfterTrial)
    const chosen = isTrial ? [trial] : group
    if (chosen.length === 0) return 'none'
    const ordersOf = (kind: Installed['kind']) => chosen.filter((each) => each.kind === kind).map(({ order }) => order)
    const [plugins, themes] = [ordersOf('plugin'), ordersOf('theme')]
    return { found: { ...found, ...(isTrial && { skipped: [] }), plugins, themes }, isTrial }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.code === 'plugin_directory_unavailable' ? 'later' : 'none'
  }
}

/** An update that the policy wants. */
interface Candidate {
  readonly order: FoundUpdates['plugins'][number]
  readonly kind: Installed['kind']
  readonly version: string
  readonly isFix: boolean
}

/** Returns what can be updated together, and the next version that is tried again alone. */
function sorted(due: readonly Candidate[], undone: readonly UndoneVersion[]) {
  const before = new Map(undone.map((each) => [keyOf(each), each]))
  const undoneOf = ({ kind, order, version }: Candidate) => {
    const found = before.get(keyOf({ kind, slug: order.path }))
    return found && compareExtensionVersions(version, found.version) <= 0 ? found : undefined
  }
  const [trial] = due
    .filter((each) => undoneOf(each)?.isSuspect)
    .toSorted((one, other) => Number(other.isFix) - Number(one.isFix))
  return { group: due.filter((each) => undoneOf(each) === undefined), trial }
}

const keyOf = ({ kind, slug }: { readonly kind: string; readonly slug: string }): string => `${kind} ${slug}`

/** Returns whether an installed version has a known vulnerability, and whether another version ends one. */
async function fixesOf(
  { database }: Directories,
  installed: readonly Installed[],
): Promise<(known: Installed, version?: string) => boolean> {
  const asked = installed.map((each) => ({ ...each, name: each.slug, sites: 1 }))
  const found = Map.groupBy(await vulnerabilitiesOf(database.read, asked), ({ row }) => keyOf(row))
  return (known, version) =>
    (found.get(keyOf(known)) ?? []).some(({ row }) => version === undefined || !isAffected(row, version))
}
