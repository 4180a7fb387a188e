/** The parts of an old site's `wp-content` that belong to its host, and not to the site. */

/** The reason why a file or folder stays behind. */
export type LeftBehindReason =
  /** WordPress loads it in place of its own code, and it fits the old host only. */
  | 'drop-in'
  /** Generated again when needed. */
  | 'cache'
  /** Belongs to the old host. */
  | 'host'
  /** A backup that the site keeps of itself. */
  | 'backup'
  /** Stead adds its own. */
  | 'platform'

const DROP_INS = [
  'advanced-cache.php',
  'blog-deleted.php',
  'blog-inactive.php',
  'blog-suspended.php',
  'db-error.php',
  'db.php',
  'fatal-error-handler.php',
  'install.php',
  'maintenance.php',
  'object-cache.php',
  'php-error.php',
  'sunrise.php',
]

const FOLDERS: Readonly<Record<string, LeftBehindReason>> = {
  'ai1wm-backups': 'backup',
  'backups-dup-lite': 'backup',
  'backups-dup-pro': 'backup',
  backupwordpress: 'backup',
  updraft: 'backup',
  cache: 'cache',
  'et-cache': 'cache',
  litespeed: 'cache',
  'object-cache-iis': 'cache',
  upgrade: 'cache',
  'upgrade-temp-backup': 'cache',
  'wp-rocket-config': 'cache',
  w3tc: 'cache',
  'w3tc-config': 'cache',
  'wp-cache-config.php': 'cache',
  'debug.log': 'cache',
  // Files that archives have next to the site's.
  'package.json': 'backup',
  'database.sql': 'backup',
  'multisite.json': 'backup',
  'blogs.json': 'backup',
  __MACOSX: 'cache',
}

/** Must-use plugins that hosts add to their customers' sites. They need servers, settings, or licenses of that host. */
const OF_HOSTS = [
  'bluehost.php',
  'cloudways',
  'cloudways.php',
  'endurance-browser-cache.php',
  'endurance-page-cache.php',
  'endurance-php-edge.php',
  'force-strong-passwords',
  'force-strong-passwords.php',
  'gd-system-plugin',
  'gd-system-plugin.php',
  'hostinger-auto-updates.php',
  'hostinger-preview-domain.php',
  'kinsta-mu-plugins',
  'kinsta-mu-plugins.php',
  'liquid-web.php',
  'mojo-marketplace.php',
  'mu-plugin-wpengine',
  'mu-plugin.php',
  'nexcess-mapps',
  'nexcess-mapps.php',
  'pantheon',
  'pantheon-mu-plugin',
  'pantheon.php',
  'pressable-cache-management',
  'pressable-cache-management.php',
  'pressidium',
  'pressidium.php',
  'rocket-net.php',
  'sg-cachepress-mu.php',
  'slt-force-strong-passwords.php',
  'stop-long-comments.php',
  'sso.php',
  'wp-stack-cache.php',
  'wpcomsh',
  'wpcomsh-loader.php',
  'wpe-cache-plugin',
  'wpe-cache-plugin.php',
  'wpe-update-source-selector',
  'wpe-update-source-selector.php',
  'wpe-wp-sign-on-plugin',
  'wpe-wp-sign-on-plugin.php',
  'wpengine-common',
  'wpengine-security-auditor.php',
]

const PLATFORM = ['sqlite-database-integration']

const LOWER_CASE = new Set([...DROP_INS, ...OF_HOSTS])

/**
 * Returns why a path stays behind, or undefined if it is imported.
 * @param path a path below `wp-content`
 */
export function whyLeftBehind(path: string): LeftBehindReason | undefined {
  const [first = '', second, ...deeper] = path.split('/')
  if (second === undefined) {
    if (DROP_INS.includes(first)) return 'drop-in'
    return Object.hasOwn(FOLDERS, first) ? FOLDERS[first] : undefined
  }
  if (first !== 'mu-plugins' || deeper.length > 0) return undefined
  if (PLATFORM.includes(second)) return 'platform'
  return LOWER_CASE.has(second.toLowerCase()) ? 'host' : undefined
}

/** Plugins that only work on one host, or that need attention after a move. Keyed by the folder of the plugin. */
export const PLUGINS_OF_NOTE: Readonly<Record<string, string>> = {
  'all-in-one-wp-migration': 'The site does not need it here.',
  'better-wp-security': 'Its bans and its .htaccess rules are those of the old server. Check its settings.',
  cloudflare: 'Its account and zone are those of the old domain. Check its settings.',
  duplicator: 'The site does not need it here.',
  'litespeed-cache': 'It needs a LiteSpeed server. Stead caches pages itself, so you can remove it.',
  'redis-cache': 'It needs a Redis server. Stead has an object cache of its own, so you can remove it.',
  'sg-cachepress': 'It works on SiteGround only. Remove it.',
  updraftplus: 'Its storage settings come along. Stead takes backups itself.',
  'w3-total-cache': 'Stead caches pages itself, so you can remove it.',
  wordfence: 'Its firewall file is of the old server: open its page once so that it sets itself up again.',
  'wp-mail-smtp': 'Its login to a mail server comes along. Send a test mail.',
  'wp-rocket': 'It writes its drop-in again when you open its settings.',
  'wp-super-cache': 'Stead caches pages itself, so you can remove it.',
}
