import { createReadStream, existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { Connection } from 'mysql2/promise'
import { syncFolder } from '../../platform/files/write-file.ts'
import { databaseConstantsOf } from '../php/wp-config.ts'
import { addressRewriter } from '../site-database/rewrite-addresses.ts'
import type { DirectoryDatabases } from '../site-directories/directory-databases.ts'
import { type Template, templateDump } from '../site-directories/template.ts'
import { loadDump } from './content/load.ts'
import { LoadStatements } from './content/load-statements.ts'
import { makeAnew } from './content/switching.ts'
import { directoryOfName } from './database-names.ts'
import { loginFile, nextLoginFile } from './on-mariadb.ts'
import { bytesOf, named, rowsOf } from './server/connect.ts'
import { asAdministrator } from './server/database-server.ts'
import type { SiteDatabases } from './site-databases.ts'

type Place = { readonly path: string }

const siteDirectoryOf = ({ path }: Place) => ({ siteDirectory: path })

/** Creates access to the databases of site directories on a MariaDB server. */
export function createDirectoryDatabases(databases: SiteDatabases): DirectoryDatabases {
  const { server } = databases
  const asWorker = async (directory: Place, work: (connection: Connection, current: string) => Promise<void>) => {
    const { current } = databases.namesOf(siteDirectoryOf(directory))
    const connection = await server.connect(await databases.worker(siteDirectoryOf(directory)))
    try {
      await work(connection, current)
    } finally {
      connection.destroy()
    }
  }
  return {
    async make(directory: Place, { path: templatePath }: Template) {
      await databases.create(siteDirectoryOf(directory))
      const { current } = databases.namesOf(siteDirectoryOf(directory))
      await asAdministrator(server, (connection) => makeAnew(connection, current))
      await asWorker(directory, async (connection) => {
        await loadDump({ connection, database: current, checkRoom }, createReadStream(templateDump(templatePath)))
      })
    },
    async ensure(directory) {
      await databases.create(siteDirectoryOf(directory))
    },
    async prepareNext(directory) {
      await databases.create(siteDirectoryOf(directory), nextLoginFile(directory.path))
    },
    async turn({ path }, isOn) {
      const [from, to] = isOn ? [nextLoginFile(path), loginFile(path)] : [loginFile(path), nextLoginFile(path)]
      if (existsSync(from)) await rename(from, to)
      await syncFolder(path)
    },
    // Replaces only rows, in one transaction. Creating tables takes a hundred times as long and cannot be rolled back.
    fill: (directory, templatePath, edits) =>
      asWorker(directory, async (connection, current) => {
        const statements = new RefillStatements(addressRewriter([]))
        await connection.query('START TRANSACTION')
        await loadDump(
          { connection, database: current, checkRoom, statements },
          createReadStream(templateDump(templatePath)),
        )
        for (const [statement, ...values] of edits) await connection.query(bytesOf(statement), values.map(bytesOf))
        await connection.query('COMMIT')
      }),
    drop: (directory) => databases.drop(siteDirectoryOf(directory)),
    constants: async (directory) => databaseConstantsOf(await databases.loginOf(siteDirectoryOf(directory))),
    async numbers() {
      const names = await asAdministrator(server, (connection) =>
        rowsOf(
          connection,
          'SELECT SCHEMA_NAME FROM information_schema.SCHEMATA UNION SELECT User FROM mysql.global_priv',
        ),
      )
      const numbers = names.map(([name]) => directoryOfName(databases.prefix, (name as string).replace(/_[a-z]+$/, '')))
      return [...new Set(numbers.filter((number) => number !== undefined))]
    },
    quarantine: (directory) =>
      asAdministrator(server, (connection) => databases.keepOut(connection, siteDirectoryOf(directory))),
    recover: (directory) =>
      asAdministrator(server, (connection) => databases.letIn(connection, siteDirectoryOf(directory))),
  }
}

/** The template is small, and its site directory had room. */
const checkRoom = async () => {}

/** Replaces the rows of existing tables. */
class RefillStatements extends LoadStatements {
  override drop(name: string): void {
    this.say(`DELETE FROM ${named(name)}`)
  }

  override create(): void {}
}
