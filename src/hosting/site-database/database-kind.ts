/** What a site's database is: a file in its home, or a part of a server. */
export type DatabaseKind = 'sqlite' | 'mariadb'
