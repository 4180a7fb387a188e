/** The SQLite plugin, and what has WordPress load it: they are Stead's, and fit the database that the site has on this host. */
export const sqlitePlugin = 'wp-content/mu-plugins/sqlite-database-integration'
export const databaseDropIn = 'wp-content/db.php'

/** What Stead itself has put into a site's web root, and no backup of another day replaces. */
export const platformFiles: readonly string[] = [databaseDropIn, sqlitePlugin]
