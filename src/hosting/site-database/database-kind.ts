/** What a site's database is: a file in its site directory, or a part of a server. */
export type DatabaseKind = 'sqlite' | 'mariadb'
