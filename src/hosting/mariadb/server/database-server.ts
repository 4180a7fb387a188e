import type { Connection } from 'mysql2/promise'
import type { Login, ServerAddress } from './connect.ts'

/** Folder in which sites see the socket, named `socket`. Their `wp-config.php` contains it, so it never changes. */
export const SITES_SOCKET_FOLDER = '/run/mariadb'

/** `DB_HOST` of every site, wherever the server is. */
export const PHP_HOST = `localhost:${SITES_SOCKET_FOLDER}/socket`

/** A MariaDB server, whether Stead or an operator runs it. */
export interface DatabaseServer {
  /** `10.11.19`. */
  readonly version: string
  /** Address for the host itself. */
  readonly address: ServerAddress
  /** Host part of accounts: `localhost` for a socket, `%` for a network. */
  readonly accountHost: string
  /** Address for PHP: `DB_HOST` of WordPress. */
  readonly phpHost: string
  /** Folder that contains only the socket for sites. Undefined when sites cannot connect. */
  readonly socketFolder: string | undefined
  /** Folder with the data, if it is on this machine. */
  readonly dataFolder: string | undefined
  /** Folder with its temporary files, if it is on this machine. */
  readonly temporaryFolder: string | undefined
  /** Its process, if it runs on this machine. */
  readonly pid: number | undefined
  /** Whether the last connection succeeded. */
  readonly isUp: boolean
  /** Why it does not answer, for people, if known. */
  readonly fault: string | undefined
  /** How often the host has restarted it. */
  readonly restarts: number
  /** @param login default: the administrator @throws when the server does not answer */
  connect(login?: Login): Promise<Connection>
  /** Resolves when it has ended, or was left running. */
  stop(graceMs: number): Promise<void>
}

/** Runs work as administrator, on a separate connection. */
export async function asAdministrator<Result>(
  server: Pick<DatabaseServer, 'connect'>,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await server.connect()
  try {
    return await work(connection)
  } finally {
    connection.destroy()
  }
}
