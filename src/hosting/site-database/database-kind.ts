/** The kind of a site's database: a file in its site directory, or a database on a server. */
export type DatabaseKind = 'sqlite' | 'mariadb'
