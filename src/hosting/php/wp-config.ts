import { DATABASE_FOLDER, DATABASE_NAME } from '../site-database/sqlite-place.ts'

/** The differences between the `wp-config.php` files of two sites. */
export interface WpConfig {
  readonly environmentType: 'local' | 'development' | 'staging' | 'production'
  /** The location of the database. Default: in the site directory. */
  readonly database?: Readonly<Record<string, string | number | boolean | null>>
  /** Constants in addition to the usual ones (multisite and similar). They come before WordPress is loaded. */
  readonly extraConstants?: Readonly<Record<string, string | number | boolean>>
  /** The prefix of its table names. Default `wp_`. */
  readonly tablePrefix?: string
}

/** Where WordPress finds the site's database. The host decides this, whatever a site's file says. */
const databaseConstants = {
  DB_DIR: `/${DATABASE_FOLDER}/`,
  DB_FILE: DATABASE_NAME,
  // A WAL shared by two processes lost 5 of 5,500 writes; DELETE lost none.
  SQLITE_JOURNAL_MODE: 'DELETE',
} as const

/** The login with which WordPress reaches a database on a server. */
export interface ServerLogin {
  readonly host: string
  readonly database: string
  readonly user: string
  readonly password: string
}

/**
 * Returns the constants for a database on a server, or in the site directory. Constants that only the other kind has
 * are `null`.
 */
export const databaseConstantsOf = (login?: ServerLogin) => ({
  DB_NAME: login?.database ?? 'wordpress',
  DB_USER: login?.user ?? '',
  DB_PASSWORD: login?.password ?? '',
  DB_HOST: login?.host ?? '',
  ...(login ? { DB_DIR: null, DB_FILE: null, SQLITE_JOURNAL_MODE: null } : databaseConstants),
})

const saltNames = ['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY'].flatMap((name) => [
  name,
  name.replace('KEY', 'SALT'),
])

/** Returns eight salts of 64 random bytes each. Changing them logs every user out. @param random as for `wpConfig` */
export const newSalts = (random: (size: number) => Buffer): Record<string, string> =>
  Object.fromEntries(saltNames.map((name) => [name, random(64).toString('base64')]))

/**
 * Returns the text of a site's `wp-config.php`: eight salts of 64 random bytes each, database outside the web root,
 * updates and cron left to Stead. The site's address is not a constant: the database contains it, where its owner can
 * see it.
 * @param random returns that many random bytes (`randomBytes` of node:crypto)
 */
export function wpConfig(config: WpConfig, random: (size: number) => Buffer): string {
  const constants = Object.fromEntries([
    ...Object.entries(config.database ?? databaseConstantsOf()).flatMap(([name, value]) =>
      value === null ? [] : [[name, value] as const],
    ),
    ['DB_CHARSET', 'utf8mb4'],
    ['DB_COLLATE', ''],
    ...Object.entries(newSalts(random)),
    ['WP_ENVIRONMENT_TYPE', config.environmentType],
    ['WP_DEBUG', false],
    ['DISABLE_WP_CRON', true],
    ['FS_METHOD', 'direct'],
    ['AUTOMATIC_UPDATER_DISABLED', true],
    ['WP_AUTO_UPDATE_CORE', false],
    // Constants of this site only, such as multisite's.
    ...Object.entries(config.extraConstants ?? {}),
  ])
  const defines = Object.entries(constants).map(([name, value]) => `define(${phpLiteral(name)}, ${phpLiteral(value)});`)
  return [
    '<?php',
    ...defines,
    `$table_prefix = ${phpLiteral(config.tablePrefix ?? 'wp_')};`,
    // WP-CLI and plugins add their lines here: they look for exactly these comments.
    "/* That's all, stop editing! Happy publishing. */",
    '/** Absolute path to the WordPress directory. */',
    "if (!defined('ABSPATH')) {",
    "    define('ABSPATH', __DIR__ . '/');",
    '}',
    '/** Sets up WordPress vars and included files. */',
    "require_once ABSPATH . 'wp-settings.php';",
    '',
  ].join('\n')
}

/** Returns a PHP literal of a value. */
export function phpLiteral(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value)
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
