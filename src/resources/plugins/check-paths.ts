import type { DirectoryPlugin } from '../../hosting/plugin-directory/plugin-directory.ts'
import { FetchError } from '../../platform/fetch/fetch-public.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Context } from '../kit/context.ts'
import type { IsInstalled } from './installed-plugins.ts'
import { isSlug, type OrderedPlugin } from './plugin.ts'
import { problems } from './problems.ts'

interface Wanted {
  readonly path: string
  readonly version?: string
}

const NOT_INSTALLED = 'not installed'

/** How many are requested in parallel. */
const AT_ONCE = 5

/**
 * Finds out where each release can be fetched.
 * @param how.allowsUrls whether zip files may be requested by URL
 * @param how.isInstalled whether the site has it, if it must
 * @throws Problem `plugins_refused`, which names everything wrong; `plugin_directory_unavailable`
 */
export async function findReleases(
  { pluginDirectory, config }: Pick<Context, 'pluginDirectory' | 'config'>,
  plugins: readonly Wanted[],
  { allowsUrls, isInstalled }: { allowsUrls: boolean; isInstalled?: IsInstalled },
): Promise<OrderedPlugin[]> {
  const look = async ({ path, version: wanted }: Wanted): Promise<OrderedPlugin | string> => {
    const version = wanted ?? null
    if (path.includes('://') && allowsUrls) {
      const fault = urlFault(path, config.allowPrivateFetch) ?? (version && 'you cannot choose a version of a zip file')
      return fault || { path, version, package: { url: path, version: null } }
    }
    if (!isSlug(path)) return `not a slug${allowsUrls ? ' or the URL of a zip file' : ''}`
    if (isInstalled && !(await isInstalled(path))) return NOT_INSTALLED
    const plugin = await ask(() => pluginDirectory.find(path))
    if (!plugin) return 'the plugin directory does not list this plugin'
    const release = version ?? plugin.version
    const url = plugin.packages.get(release)
    return url
      ? { path, version, package: { url, version: release } }
      : `version ${release} does not exist, the latest is ${plugin.version}`
  }
  const looked: (OrderedPlugin | string)[] = []
  const waiting = [...plugins.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) looked[next[0]] = await look(next[1])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const named = (each: OrderedPlugin | string, index: number) =>
    typeof each === 'string' ? [`${shown((plugins[index] as Wanted).path)}: ${each}`] : []
  refuse([...twice(plugins), ...looked.flatMap(named)])
  return looked.filter((each) => typeof each !== 'string')
}

/**
 * Checks the paths of plugins that a site must have.
 * @throws Problem `plugins_refused`, which names everything wrong
 */
export async function checkSlugs(plugins: readonly Wanted[], isInstalled: IsInstalled): Promise<OrderedPlugin[]> {
  const faults = twice(plugins)
  for (const { path } of plugins) {
    if (!isName(path)) faults.push(`${shown(path)}: not a slug`)
    else if (!(await isInstalled(path))) faults.push(`${shown(path)}: ${NOT_INSTALLED}`)
  }
  refuse(faults)
  return plugins.map(({ path }) => ({ path, version: null, package: null }))
}

/** Plugins without a folder may also be named by their file. */
const isName = (path: string): boolean => isSlug(path) || path.split('/').every(isSlug)

const shown = (path: string): string => path.slice(0, 200)

function twice(plugins: readonly Wanted[]): string[] {
  const paths = plugins.map(({ path }) => path)
  const more = new Set(paths.filter((path, index) => paths.indexOf(path) < index))
  return [...more].map((path) => `${shown(path)}: listed twice`)
}

function urlFault(path: string, allowHttp: boolean): string | undefined {
  const url = URL.parse(path)
  if (!url) return 'not a valid URL'
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) return 'not an https URL'
  return url.username || url.password ? 'the URL must not contain a user name or password' : undefined
}

function refuse(faults: readonly string[]): void {
  if (faults.length === 0) return
  const errors = faults.map((fault) => `plugins: ${fault}.`)
  throw new Problem(problems.plugins_refused, { faults: faults.join('; ') }, { errors })
}

async function ask(find: () => Promise<DirectoryPlugin | undefined>): Promise<DirectoryPlugin | undefined> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    throw new Problem(problems.plugin_directory_unavailable, { reason: error.message }, { cause: error })
  }
}
