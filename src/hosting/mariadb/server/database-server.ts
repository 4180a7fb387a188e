import type { Connection } from 'mysql2/promise'
import type { Login, ServerAddress } from './connect.ts'

/** Where sites see the socket, as `socket` in this folder: it stands in their `wp-config.php`, so it never changes. */
export const SITES_SOCKET_FOLDER = '/run/mariadb'

/** `DB_HOST` of every site, wherever the server is. */
export const PHP_HOST = `localhost:${SITES_SOCKET_FOLDER}/socket`

/** A server of MariaDB, whoever runs it. */
export interface DatabaseServer {
  /** `10.11.19`. */
  readonly version: string
  /** Where the host itself reaches it. */
  readonly address: ServerAddress
  /** What an account is bound to: `localhost` behind a socket, `%` behind a network. */
  readonly accountHost: string
  /** How PHP reaches it: `DB_HOST` of WordPress. */
  readonly phpHost: string
  /** Folder with nothing but the socket by which sites come to it; undefined: they cannot. */
  readonly socketFolder: string | undefined
  /** Folder with the data, where it is on this machine. */
  readonly dataFolder: string | undefined
  /** Folder with its temporary files, where it is on this machine. */
  readonly temporaryFolder: string | undefined
  /** Its process, where that is on this machine and runs. */
  readonly pid: number | undefined
  /** It answered last. */
  readonly isUp: boolean
  /** Why it does not answer, in words, as far as that is known. */
  readonly fault: string | undefined
  /** How often it had to be started again. */
  readonly restarts: number
  /** @param login default: who administers it. @throws when it does not answer */
  connect(login?: Login): Promise<Connection>
  /** Resolves when it has ended, or was left to itself. */
  stop(graceMs: number): Promise<void>
}

/** Does something as administrator, on a connection of its own. */
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
