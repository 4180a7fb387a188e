/**
 * What a path of a site's address may lead to: the rules that a careful nginx for WordPress has, as pure functions. Names
 * compare without case, for the file systems that do.
 */

/** A request target, decoded once. */
export type PathReading =
  | {
      readonly kind: 'path'
      /** Decoded, none empty, none `.` or `..`, no NUL and no backslash. */
      readonly parts: readonly string[]
      readonly trailingSlash: boolean
    }
  /** Percent escapes that are no UTF-8: names no file of ours, WordPress may know it. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'malformed' }

const FOREIGN: PathReading = { kind: 'foreign' }
const MALFORMED: PathReading = { kind: 'malformed' }

/** Reads the path of an origin-form target (`/path?query`); repeated slashes count as one, as with nginx. */
export function readPath(target: string): PathReading {
  const path = pathOf(target)
  if (!path.startsWith('/') || /%(?![0-9a-fA-F]{2})/.test(path)) return MALFORMED
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch {
    // `..` and NUL are ASCII: they cannot hide in what does not decode, and it names no file anyway.
    return FOREIGN
  }
  // Raw bytes above ASCII arrive as Latin-1; file names are UTF-8.
  if (/[\x80-\xff]/.test(path)) return FOREIGN
  if (decoded.includes('\0') || decoded.includes('\\')) return MALFORMED
  const parts = decoded.split('/').filter((part) => part !== '')
  if (parts.includes('..')) return MALFORMED
  return { kind: 'path', parts, trailingSlash: decoded.endsWith('/') }
}

/** The path of a target, as written. */
export const pathOf = (target: string): string => {
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}

/** The query of a target with its `?`, or `''`. */
export const queryOf = (target: string): string => target.slice(pathOf(target).length)

/** Backups, dumps, logs, databases, editor leftovers, configuration: never pages, often secrets. */
const HIDDEN_NAME = new RegExp(
  [
    String.raw`\.(?:sql|sqlite3?|sqlite3?-(?:wal|shm|journal)|db|log|bak|bkp|backup|old|orig|save|swp|swo|swn|tmp|dist|ini|conf|cnf|sh|bash|inc|pem|phps|wpress)$`,
    String.raw`\.sql\.(?:gz|bz2|xz|zst|zip|7z)$`,
    '~$',
    String.raw`^(?:composer\.(?:json|lock)|package-lock\.json|yarn\.lock|auth\.json)$`,
    String.raw`^(?:error_log|php_errorlog|debug\.log)$`,
    // wp-config.php itself, and every copy of it that somebody made.
    '^wp-config',
  ].join('|'),
  'i',
)

/** In the web root only: they tell strangers the exact version. */
const HIDDEN_ROOT_FILES = new Set(['readme.html', 'license.txt', 'liesmich.html', 'licens.html'])

/** True for a path through a dotfile (but not `/.well-known/`): WordPress has no page there, so the disk need not be asked. */
export const isDotPath = (parts: readonly string[]): boolean =>
  parts.some((part, index) => part.startsWith('.') && !(index === 0 && part === '.well-known'))

/** True for files that must look as if they were not there: secrets and leftovers. Pages may have such names, too. */
export function isHiddenFile(parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? ''
  return HIDDEN_NAME.test(last) || (parts.length === 1 && HIDDEN_ROOT_FILES.has(last.toLowerCase()))
}

/** True for names that no post, page or category of WordPress has: slugs have neither dots nor tildes. */
export const isNoSlug = (name: string): boolean => /[.~]/.test(name)

/**
 * Folders in which plugins keep what is sold, and backups of the whole site. Each protects them by a `.htaccess` that it writes once, and that
 * may have been lost.
 */
const NEVER_PUBLIC = new RegExp(
  [
    '^wp-content/uploads/(?:sites/\\d+/)?woocommerce_uploads(?:/|$)',
    // UpdraftPlus
    '^wp-content/updraft(?:/|$)',
    // Duplicator
    '^(?:wp-snapshots|wp-content/backups-dup-(?:lite|pro))(?:/|$)',
    // BackWPup
    '^wp-content/(?:uploads/)?backwpup-[^/]+(?:/|$)',
    '^wp-content/uploads/backwpup(?:/|$)',
    // All-in-One WP Migration
    '^wp-content/(?:ai1wm-backups|plugins/all-in-one-wp-migration/storage)(?:/|$)',
  ].join('|'),
  'i',
)

/** True for what nobody gets by its address, whatever the site's own rules say. */
export const isNeverPublic = (parts: readonly string[]): boolean => NEVER_PUBLIC.test(parts.join('/'))

/** Endings that some PHP set-up somewhere runs: neither run nor shown here, except `.php` itself. */
const SCRIPT_LIKE = /\.(?:php\d?|phtml|pht|phar|shtml)$/i

/** True for names that must never be sent as a file. */
export const isScriptLike = (name: string): boolean => SCRIPT_LIKE.test(name)

/**
 * PHP files that are not run when their address is asked for:
 * - files under folders that visitors' uploads and unpacked archives reach: a hole in a plugin must not become a shell;
 * - WordPress' libraries and drop-ins, which are no entry points (the WordPress hardening guide says the same);
 * - the installer and the set-up: on a site whose database is empty they would hand it to whoever comes first;
 * - wp-cron.php: Stead runs due events by its own schedule, so from outside it is only a way to make work.
 * `xmlrpc.php` stays: the mobile apps and Jetpack need it.
 */
const NOT_RUN = new RegExp(
  [
    '^wp-content/(?:uploads|upgrade|upgrade-temp-backup|blogs\\.dir|files|languages|database)/',
    '^wp-content/(?:db|db-error|object-cache|advanced-cache|sunrise|maintenance|php-error|fatal-error-handler|install|blog-deleted|blog-inactive|blog-suspended)\\.php$',
    '^wp-includes/(?!ms-files\\.php$|js/tinymce/wp-tinymce\\.php$)',
    '^wp-admin/includes/',
    '^wp-admin/(?:install|setup-config|install-helper)\\.php$',
    '^wp-(?:config|cron|settings)\\.php$',
  ].join('|'),
  'i',
)

/** True when the PHP file of this path may be run for a visitor. */
export const mayRun = (parts: readonly string[]): boolean => {
  const name = parts.at(-1) ?? ''
  return name.endsWith('.php') && !NOT_RUN.test(parts.join('/'))
}
