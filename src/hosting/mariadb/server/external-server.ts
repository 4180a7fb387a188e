import { randomBytes } from 'node:crypto'
import type { Connection } from 'mysql2/promise'
import { OperatorError } from '../../../platform/operator-error.ts'
import { inGrant } from '../database-names.ts'
import { SITE_RIGHTS } from '../site-rights.ts'
import { connect, type Login, named, rowsOf, type ServerAddress } from './connect.ts'
import { type DatabaseServer, PHP_HOST } from './database-server.ts'
import { versionIn } from './programs.ts'
import { openSocketForwarder } from './socket-forwarder.ts'

/**
 * Connects to a server that the operator runs. Tries everything that Stead needs in advance, so that problems do not
 * appear with a site's database.
 * @param url `mariadb://user:password@host:3306`, with `?ssl=true`, or `?socket=/run/…` instead of the host
 * @param forwarderFolder folder for a socket that forwards sites to the server; without it, they cannot connect
 * @throws OperatorError when it does not answer, is not supported, or lacks permissions
 */
export async function openExternalServer(
  url: string,
  prefix: string,
  forwarderFolder?: string,
): Promise<DatabaseServer> {
  const { address, administrator } = parse(url)
  const server = new ExternalServer(address, administrator)
  const connection = await server.connect().catch((error: Error) => {
    throw new OperatorError(`Stead cannot use the server at STEAD_MARIADB_URL: ${error.message}`, {
      cause: error,
      exitCode: 1,
    })
  })
  try {
    const [row] = await rowsOf(connection, 'SELECT VERSION()')
    server.version = versionIn(row?.[0] ?? '')
    await tryRights(connection, server.accountHost, prefix)
    if (forwarderFolder !== undefined) await server.openSocketForwarder(forwarderFolder)
  } finally {
    connection.destroy()
  }
  return server
}

function parse(text: string): { address: ServerAddress; administrator: Login } {
  const url = new URL(text)
  const socketPath = url.searchParams.get('socket')
  const address: ServerAddress = socketPath
    ? { socketPath }
    : { host: url.hostname, port: Number(url.port || 3306), isEncrypted: url.searchParams.get('ssl') === 'true' }
  return {
    address,
    administrator: { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) },
  }
}

class ExternalServer implements DatabaseServer {
  version = ''
  readonly address: ServerAddress
  isUp = false
  fault: string | undefined
  readonly restarts = 0
  readonly dataFolder = undefined
  readonly temporaryFolder = undefined
  readonly pid = undefined
  readonly accountHost: string
  readonly phpHost = PHP_HOST
  socketFolder: string | undefined
  #way: { close(): void } | undefined
  readonly #administrator: Login

  constructor(address: ServerAddress, administrator: Login) {
    this.address = address
    this.#administrator = administrator
    const isLocal = 'socketPath' in address
    this.accountHost = isLocal ? 'localhost' : '%'
  }

  async connect(login?: Login): Promise<Connection> {
    try {
      const connection = await connect(this.address, login ?? this.#administrator)
      this.isUp = true
      this.fault = undefined
      return connection
    } catch (error) {
      // A rejected site account says nothing about the server.
      if (!login) {
        this.isUp = false
        this.fault = (error as Error).message
      }
      throw error
    }
  }

  /** Lets sites connect through a socket in this folder. Not possible with TLS, which the client must start. */
  async openSocketForwarder(folder: string): Promise<void> {
    if ('isEncrypted' in this.address && this.address.isEncrypted) return
    this.#way = await openSocketForwarder(folder, this.address)
    this.socketFolder = folder
  }

  async stop(): Promise<void> {
    this.#way?.close()
  }
}

/** Tries everything that Stead does with sites, once, under unused names. */
async function tryRights(connection: Connection, accountHost: string, prefix: string): Promise<void> {
  const name = `${prefix}try_${randomBytes(4).toString('hex')}`
  const account = `'${name}'@'${accountHost}'`
  const password = randomBytes(16).toString('hex')
  try {
    for (const statement of [
      `CREATE DATABASE ${named(name)} COMMENT = 'try'`,
      `CREATE USER ${account} IDENTIFIED BY '${password}' WITH MAX_USER_CONNECTIONS 1 MAX_STATEMENT_TIME 1`,
      `GRANT ${SITE_RIGHTS} ON ${inGrant(name)}.* TO ${account}`,
      `REVOKE INSERT ON ${inGrant(name)}.* FROM ${account}`,
      'SELECT COUNT(*) FROM mysql.db',
      'SELECT COUNT(*) FROM mysql.tables_priv',
      `ALTER USER ${account} ACCOUNT LOCK`,
      `KILL HARD USER '${name}'`,
      `CREATE TABLE ${named(name)}.t (a int) ENGINE = InnoDB`,
      'SELECT COUNT(*) FROM information_schema.INNODB_SYS_TABLESPACES',
    ])
      await connection.query(statement).catch((error: Error) => {
        throw new OperatorError(
          `The account of STEAD_MARIADB_URL lacks rights that Stead needs: ${error.message} (${statement.replace(password, '…')}). ` +
            'It must create databases and accounts of sites. Run GRANT ALL ON *.* TO … WITH GRANT OPTION.',
          { cause: error },
        )
      })
  } finally {
    await connection.query(`DROP USER IF EXISTS ${account}`).catch(() => {})
    await connection.query(`DROP DATABASE IF EXISTS ${named(name)}`).catch(() => {})
  }
}
