/**
 * The SQLite plugin and the file that makes WordPress load it. They belong to Stead, and fit the database that the site
 * has on this host.
 */
export const sqlitePlugin = 'wp-content/mu-plugins/sqlite-database-integration'
export const databaseDropIn = 'wp-content/db.php'

/** The files that Stead itself adds to a site's web root. No backup of another day replaces them. */
export const platformFiles: readonly string[] = [databaseDropIn, sqlitePlugin]
