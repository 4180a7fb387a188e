import { Problem } from '../../../platform/http/problem.ts'
import { extensionsOf } from '../../inventory/public.ts'
import { storedPlugins } from '../../plugins/public.ts'
import { compareExtensionVersions, isAffected, vulnerabilitiesOf } from '../../vulnerabilities/public.ts'
import { chooseUpdates, type Directories, type FoundUpdates } from '../find-updates.ts'
import type { UpdatePolicy } from './policy.ts'
import { undoneVersions } from './undone.store.ts'

/** Plugins and themes to update. `later`: the directory of WordPress does not answer. */
export type Chosen = { readonly found: FoundUpdates } | 'none' | 'later'

interface Installed {
  readonly kind: 'plugin' | 'theme'
  readonly slug: string
  readonly version: string
}

/** Chooses what a policy updates on a site now, from what Stead knows of the site. */
export async function chooseByPolicy(
  services: Directories,
  siteId: number,
  policy: Pick<UpdatePolicy, 'mode' | 'exclude'>,
): Promise<Chosen> {
  const { read } = services.database
  const excluded = new Set(policy.exclude.map((each) => each.toLowerCase()))
  const installed: Installed[] = (await extensionsOf(read, siteId)).filter(
    ({ slug, update_version: offered }) => offered !== null && !excluded.has(slug.toLowerCase()),
  )
  const isFix = policy.mode === 'security' ? await fixesOf(services, installed) : () => true
  const undone = new Map((await undoneVersions(read, siteId)).map((each) => [keyOf(each), each.version]))
  const due = new Map(installed.map((each) => [keyOf(each), each]))
  const wanted = (kind: Installed['kind'], slug: string) => due.get(keyOf({ kind, slug }))
  const isWanted = (kind: Installed['kind'], slug: string) => {
    const known = wanted(kind, slug)
    return known !== undefined && isFix(known)
  }
  const isDue = (kind: Installed['kind'], { path, version }: { path: string; version: string | null }) => {
    const [known, before] = [wanted(kind, path), undone.get(keyOf({ kind, slug: path }))]
    if (!known || version === null || compareExtensionVersions(version, known.version) <= 0) return false
    return isFix(known, version) && (before === undefined || compareExtensionVersions(version, before) > 0)
  }
  try {
    const here = { siteId, installed: await storedPlugins(read, siteId) }
    const found = await chooseUpdates(services, here, { all: true, isWanted })
    const plugins = found.plugins.filter((each) => isDue('plugin', each))
    const themes = found.themes.filter((each) => isDue('theme', each))
    return plugins.length + themes.length === 0 ? 'none' : { found: { ...found, plugins, themes } }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.code === 'plugin_directory_unavailable' ? 'later' : 'none'
  }
}

const keyOf = ({ kind, slug }: Pick<Installed, 'kind' | 'slug'>): string => `${kind} ${slug}`

/** Returns whether an installed version has a known vulnerability, and whether another version ends one. */
async function fixesOf(
  { database }: Directories,
  installed: readonly Installed[],
): Promise<(known: Installed, version?: string) => boolean> {
  const asked = installed.map((each) => ({ ...each, name: each.slug, sites: 1 }))
  const found = Map.groupBy(
    await vulnerabilitiesOf(database.read, asked),
    ({ row: { kind, slug } }) => `${kind} ${slug}`,
  )
  return (known, version) =>
    (found.get(keyOf(known)) ?? []).some(({ row }) => version === undefined || !isAffected(row, version))
}
