/** The kinds of a site's database: a file in its site directory, or a database on a server. */
export const databaseKinds = {
  sqlite: { label: 'SQLite', isOnServer: false },
  mariadb: { label: 'MariaDB', isOnServer: true },
} as const satisfies Record<string, { readonly label: string; readonly isOnServer: boolean }>
export type DatabaseKind = keyof typeof databaseKinds

/** The kind that needs nothing but the site directory. Site directories have it unless something else is known. */
export const embeddedKind: DatabaseKind = 'sqlite'

/** Returns whether a kind, which may come from a host of another version, is a database on a server. */
export const isOnServer = (kind: string | undefined): boolean =>
  kind !== undefined && kind in databaseKinds && databaseKinds[kind as DatabaseKind].isOnServer
