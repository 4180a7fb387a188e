import type { Connection } from 'mysql2/promise'

/** Who connects, and where a server is. */
export interface Login {
  readonly user: string
  readonly password: string
  readonly database?: string
}

export type ServerAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly isEncrypted: boolean }

const CONNECT_MS = 10_000

/** What the host's own sessions want of any server: nothing ends them while somebody slow reads a dump, and locks are not waited for without end. */
const SESSION = [
  'SET NAMES utf8mb4',
  "SET time_zone = '+00:00'",
  'SET SESSION max_statement_time = 0, SESSION wait_timeout = 28800, SESSION net_read_timeout = 600, SESSION net_write_timeout = 3600, SESSION lock_wait_timeout = 60',
] as const

/**
 * A connection of the host's own. In it a character of a statement is a byte, and answers are bytes: the client is told that all is latin1, the
 * server that all is UTF-8. So they go through as they are, whatever they are.
 */
export async function connect(address: ServerAddress, login: Login): Promise<Connection> {
  // a host without MariaDB does not load it
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
    // the server asks for no file of this machine, and does not tell the client of the one charset that it is not to know
    flags: ['-LOCAL_FILES', '-SESSION_TRACK'],
    rowsAsArray: true,
    typeCast: (field: { buffer(): Buffer | null }) => field.buffer(),
    enableKeepAlive: true,
  })
  // a connection that breaks while nothing is asked has nobody to tell; the next question is told
  connection.on('error', () => {})
  try {
    for (const statement of SESSION) await connection.query(statement)
  } catch (error) {
    connection.destroy()
    throw error
  }
  return connection
}

/** Answers of one statement as text; nothing for NULL. */
export async function rowsOf(connection: Connection, sql: string, values: readonly string[] = []): Promise<string[][]> {
  const [rows] = await connection.query(sql, [...values])
  // a statement that gives no rows answers with something else
  if (!Array.isArray(rows)) return []
  return (rows as unknown[][]).map((row) => row.map((value) => (value === null ? '' : String(value))))
}

/** Text as statements have it: bytes in characters. */
export const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/** A name in backticks, as statements have it. */
export const named = (name: string): string => bytesOf(`\`${name.replaceAll('`', '``')}\``)

/** What the server answered with: its number, or the client's word where it did not answer. */
export const errorOf = (error: unknown): { errno?: number; code?: string; message: string } =>
  error as { errno?: number; code?: string; message: string }
