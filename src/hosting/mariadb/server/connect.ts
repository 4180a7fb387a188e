import type { Connection } from 'mysql2/promise'

/** Login data and server addresses. */
export interface Login {
  readonly user: string
  readonly password: string
  readonly database?: string
}

export type ServerAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly isEncrypted: boolean }

const CONNECT_MS = 10_000

/**
 * Settings for the host's own sessions on any server: nothing ends them while a slow client reads a dump, and they do
 * not wait for locks forever.
 */
const SESSION = [
  'SET NAMES utf8mb4',
  "SET time_zone = '+00:00'",
  'SET SESSION max_statement_time = 0, SESSION wait_timeout = 28800, SESSION net_read_timeout = 600, SESSION net_write_timeout = 3600, SESSION lock_wait_timeout = 60',
] as const

/**
 * Opens a connection for the host itself. Statements and results are bytes, one per character: the client treats
 * everything as latin1, and the server as UTF-8. This way all bytes pass unchanged.
 */
export async function connect(address: ServerAddress, login: Login): Promise<Connection> {
  // Loaded on demand, so that a host without MariaDB does not load it.
  const { createConnection } = await import('mysql2/promise')
  const where =
    'socketPath' in address
      ? { socketPath: address.socketPath }
      : { host: address.host, port: address.port, ...(address.isEncrypted && { ssl: {} }) }
  const connection = await createConnection({
    ...where,
    ...login,
    charset: 'LATIN1_SWEDISH_CI',
    connectTimeout: CONNECT_MS,
    multipleStatements: false,
    // The server cannot request files of this machine, and does not report its real charset to the client.
    flags: ['-LOCAL_FILES', '-SESSION_TRACK'],
    rowsAsArray: true,
    typeCast: (field: { buffer(): Buffer | null }) => field.buffer(),
    enableKeepAlive: true,
  })
  // An idle connection that breaks has no caller to report to. The next query fails instead.
  connection.on('error', () => {})
  try {
    for (const statement of SESSION) await connection.query(statement)
  } catch (error) {
    connection.destroy()
    throw error
  }
  return connection
}

/** Returns the rows of a statement as text, with an empty text for NULL. */
export async function rowsOf(connection: Connection, sql: string, values: readonly string[] = []): Promise<string[][]> {
  const [rows] = await connection.query(sql, [...values])
  // A statement without rows returns another type.
  if (!Array.isArray(rows)) return []
  return (rows as unknown[][]).map((row) => row.map((value) => (value === null ? '' : String(value))))
}

/** Encodes text for statements: one byte per character. */
export const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/** Quotes a name in backticks for statements. */
export const named = (name: string): string => bytesOf(`\`${name.replaceAll('`', '``')}\``)

/** Returns the server's error with its number, or the client's code when the server did not answer. */
export const errorOf = (error: unknown): { errno?: number; code?: string; message: string } =>
  error as { errno?: number; code?: string; message: string }
