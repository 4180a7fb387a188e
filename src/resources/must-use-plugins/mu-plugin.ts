import Type from 'typebox'
import { sqlitePlugin } from '../../hosting/site-files/platform/platform-files.ts'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'

/**
 * PHP file that an account has on its sites. WordPress loads it before everything else, and it cannot be turned off
 * there.
 */
export interface MuPlugin {
  readonly id: number
  readonly accountId: number
  /** The URL that it is fetched from. */
  readonly path: string
  /** Its file name on the sites. */
  readonly slug: string
  readonly isOnExistingSites: boolean
  readonly isOnFutureSites: boolean
  /** Hash of the content that its sites should have. Null until it was fetched and checked once. */
  readonly sha256: string | null
  /** The newest operation that installs or removes it on sites. */
  readonly operationId: number | null
  readonly createdAt: number
  readonly isDeleted: boolean
}

/** WordPress loads all of them for every page, so more than this is a mistake. */
export const MOST_MU_PLUGINS = 50
/** The largest known plugins have several hundred kB. */
export const MOST_PLUGIN_BYTES = 1 << 20

export const FOLDER = 'wp-content/mu-plugins'

export const MuPluginId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const shown = {
  id: Type.Integer(),
  created: Timestamp,
  path: Type.String({ examples: ['https://plugins.example.com/agency-tools.php'] }),
  slug: Type.String({ description: 'File name of the plugin on the sites', examples: ['agency-tools.php'] }),
}
const whereTo = {
  existing: Type.Boolean({ description: 'Whether existing sites got the plugin' }),
  future: Type.Boolean({ description: 'Whether new sites get the plugin' }),
}

export const MuPluginSchema = Type.Object(
  { ...shown, existingSites: whereTo.existing, futureSites: whereTo.future },
  { title: 'MuPlugin' },
)

/** Response to changes, which names two fields in another way. */
export const ChangedMuPluginSchema = Type.Object(
  { ...shown, existing_sites: whereTo.existing, future_sites: whereTo.future },
  { title: 'ChangedMuPlugin' },
)

const present = ({ id, createdAt, path, slug }: MuPlugin) => ({ id, created: timestamp(createdAt), path, slug })

export const presentMuPlugin = (plugin: MuPlugin): Type.Static<typeof MuPluginSchema> => ({
  ...present(plugin),
  existingSites: plugin.isOnExistingSites,
  futureSites: plugin.isOnFutureSites,
})

export const presentChanged = (plugin: MuPlugin): Type.Static<typeof ChangedMuPluginSchema> => ({
  ...present(plugin),
  existing_sites: plugin.isOnExistingSites,
  future_sites: plugin.isOnFutureSites,
})

/**
 * Returns the file name that the address of a must-use plugin gives, or what is wrong with it.
 * @param allowHttp from the test setting
 */
export function slugOfPath(path: string, { allowHttp }: { allowHttp: boolean }): { slug: string } | { fault: string } {
  const url = URL.parse(path)
  if (!url || !(url.protocol === 'https:' || (allowHttp && url.protocol === 'http:')))
    return { fault: 'path: must be an https URL' }
  if (url.username || url.password) return { fault: 'path: must not contain a user name or password' }
  const slug = decoded(url.pathname.split('/').at(-1) ?? '')
  if (!/\.php$/i.test(slug)) return { fault: 'path: must be the URL of one .php file' }
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\.php$/.test(slug))
    return {
      fault:
        'path: the file name may contain only letters, digits, dots, dashes and underscores, and must end with .php',
    }
  return { slug }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const sqliteName = sqlitePlugin.slice(FOLDER.length + 1)

/**
 * Returns whether Stead reserves the name for its own files, current or future, among the must-use plugins of a site.
 */
export const isReserved = (slug: string): boolean =>
  /^stead[.-]/i.test(slug) || slug.toLowerCase() === `${sqliteName}.php`
