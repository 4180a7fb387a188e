/**
 * Decides what a path of a site's address may lead to: the rules of a careful nginx for WordPress, as pure functions.
 * Names are compared without case, for file systems that ignore it.
 */

/** A request target, decoded once. */
export type PathReading =
  | {
      readonly kind: 'path'
      /** Decoded; no part is empty, `.`, or `..`, and none contains NUL or a backslash. */
      readonly parts: readonly string[]
      readonly trailingSlash: boolean
    }
  /** Percent escapes that are not UTF-8. They name no file of ours, but WordPress may know them. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'malformed' }

const FOREIGN: PathReading = { kind: 'foreign' }
const MALFORMED: PathReading = { kind: 'malformed' }

/** Reads the path of an origin-form target (`/path?query`). Repeated slashes count as one, as in nginx. */
export function readPath(target: string): PathReading {
  const path = pathOf(target)
  if (!path.startsWith('/') || /%(?![0-9a-fA-F]{2})/.test(path)) return MALFORMED
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch {
    // `..` and NUL are ASCII, so they cannot hide in a path that does not decode. Such a path names no file anyway.
    return FOREIGN
  }
  // Raw bytes above ASCII arrive as Latin-1, and file names are UTF-8.
  if (/[\x80-\xff]/.test(path)) return FOREIGN
  if (decoded.includes('\0') || decoded.includes('\\')) return MALFORMED
  const parts = decoded.split('/').filter((part) => part !== '')
  if (parts.includes('..')) return MALFORMED
  return { kind: 'path', parts, trailingSlash: decoded.endsWith('/') }
}

/** Returns the path of a target, as written. */
export const pathOf = (target: string): string => {
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}

/** Returns the query of a target with its `?`, or `''`. */
export const queryOf = (target: string): string => target.slice(pathOf(target).length)

/** Backups, dumps, logs, databases, editor leftovers, configuration: never pages, often secrets. */
const HIDDEN_NAME = new RegExp(
  [
    String.raw`\.(?:sql|sqlite3?|sqlite3?-(?:wal|shm|journal)|db|log|bak|bkp|backup|old|orig|save|swp|swo|swn|tmp|dist|ini|conf|cnf|sh|bash|inc|pem|phps|wpress|daf)$`,
    String.raw`\.sql\.(?:gz|bz2|xz|zst|zip|7z)$`,
    '~$',
    String.raw`^(?:composer\.(?:json|lock)|package-lock\.json|yarn\.lock|auth\.json)$`,
    String.raw`^(?:error_log|php_errorlog|debug\.log)$`,
    // wp-config.php itself, and any copy of it.
    '^wp-config',
  ].join('|'),
  'i',
)

/** In the web root only: they reveal the exact version. */
const HIDDEN_ROOT_FILES = new Set(['readme.html', 'license.txt', 'liesmich.html', 'licens.html'])

/**
 * Returns true for a path through a dotfile (except `/.well-known/`). WordPress has no page there, so no disk access is
 * needed.
 */
export const isDotPath = (parts: readonly string[]): boolean =>
  parts.some((part, index) => part.startsWith('.') && !(index === 0 && part === '.well-known'))

/**
 * Returns true for files that must look as if they did not exist: secrets and leftovers. Pages may have such names too.
 */
export function isHiddenFile(parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? ''
  return HIDDEN_NAME.test(last) || (parts.length === 1 && HIDDEN_ROOT_FILES.has(last.toLowerCase()))
}

/** Returns true for names that no post, page, or category of WordPress has: slugs contain neither dots nor tildes. */
export const isNoSlug = (name: string): boolean => /[.~]/.test(name)

/**
 * Folders in which plugins keep sold files, and backups of the whole site. Each plugin protects them with an
 * `.htaccess` that it writes once, and that may have been lost.
 */
const NEVER_PUBLIC = new RegExp(
  [
    '^wp-content/uploads/(?:sites/\\d+/)?woocommerce_uploads(?:/|$)',
    // UpdraftPlus.
    '^wp-content/updraft(?:/|$)',
    // Duplicator.
    '^(?:wp-snapshots|wp-content/backups-dup-(?:lite|pro))(?:/|$)',
    // BackWPup.
    '^wp-content/(?:uploads/)?backwpup-[^/]+(?:/|$)',
    '^wp-content/uploads/backwpup(?:/|$)',
    // All-in-One WP Migration.
    '^wp-content/(?:ai1wm-backups|plugins/all-in-one-wp-migration/storage)(?:/|$)',
  ].join('|'),
  'i',
)

/** Returns true for files that no visitor gets by their address, whatever the site's own rules say. */
export const isNeverServed = (parts: readonly string[]): boolean => NEVER_PUBLIC.test(parts.join('/'))

/** Extensions that some PHP setups run. Here they are neither run nor shown, except `.php` itself. */
const SCRIPT_LIKE = /\.(?:php\d?|phtml|pht|phar|shtml)$/i

/** Returns true for names that must never be sent as a file. */
export const isScriptLike = (name: string): boolean => SCRIPT_LIKE.test(name)

/**
 * PHP files that are not run when their address is requested:
 * - files in folders that visitors' uploads and unpacked archives reach: a hole in a plugin must not become a shell;
 * - WordPress' libraries and drop-ins, which are not entry points (the WordPress hardening guide agrees);
 * - the installer and the setup: on a site with an empty database they would hand the site to the first visitor;
 * - wp-cron.php: Stead runs due events on its own schedule, so from outside it only creates load.
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

/** Returns true when the PHP file at this path may be run for a visitor. */
export const mayRun = (parts: readonly string[]): boolean => {
  const name = parts.at(-1) ?? ''
  return name.endsWith('.php') && !NOT_RUN.test(parts.join('/'))
}
