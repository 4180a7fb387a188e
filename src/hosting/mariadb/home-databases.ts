import { createReadStream, existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { Connection } from 'mysql2/promise'
import { syncFolder } from '../../platform/files/write-file.ts'
import type { HomeDatabases } from '../homes/home-databases.ts'
import { type Template, templateDump } from '../homes/template.ts'
import { databaseConstantsOf } from '../php/wp-config.ts'
import { addressRewriter } from '../site-database/rewrite.ts'
import { bytesOf, named, rowsOf } from './connect.ts'
import { asAdministrator } from './database-server.ts'
import { loadDump } from './load.ts'
import { LoadStatements } from './load-statements.ts'
import { homeOfName } from './names.ts'
import { loginFile, nextLoginFile } from './on-mariadb.ts'
import type { SiteDatabases } from './site-databases.ts'
import { makeAnew } from './switching.ts'

type Place = { readonly path: string }

const homePathOf = ({ path }: Place) => ({ homePath: path })

/** The databases of homes on a server of MariaDB. */
export function createHomeDatabases(databases: SiteDatabases): HomeDatabases {
  const { server } = databases
  const asWorker = async (home: Place, work: (connection: Connection, current: string) => Promise<void>) => {
    const { current } = databases.namesOf(homePathOf(home))
    const connection = await server.connect(await databases.worker(homePathOf(home)))
    try {
      await work(connection, current)
    } finally {
      connection.destroy()
    }
  }
  return {
    async make(home: Place, { path: templatePath }: Template) {
      await databases.create(homePathOf(home))
      const { current } = databases.namesOf(homePathOf(home))
      await asAdministrator(server, (connection) => makeAnew(connection, current))
      await asWorker(home, async (connection) => {
        await loadDump({ connection, database: current, checkRoom }, createReadStream(templateDump(templatePath)))
      })
    },
    async ensure(home) {
      await databases.create(homePathOf(home))
    },
    async prepareNext(home) {
      await databases.create(homePathOf(home), nextLoginFile(home.path))
    },
    async turn({ path }, isOn) {
      const [from, to] = isOn ? [nextLoginFile(path), loginFile(path)] : [loginFile(path), nextLoginFile(path)]
      if (existsSync(from)) await rename(from, to)
      await syncFolder(path)
    },
    // rows alone, in one transaction: making tables takes a hundred times as long, and cannot be taken back
    fill: (home, templatePath, edits) =>
      asWorker(home, async (connection, current) => {
        const statements = new RefillStatements(addressRewriter([]))
        await connection.query('START TRANSACTION')
        await loadDump(
          { connection, database: current, checkRoom, statements },
          createReadStream(templateDump(templatePath)),
        )
        for (const [statement, ...values] of edits) await connection.query(bytesOf(statement), values.map(bytesOf))
        await connection.query('COMMIT')
      }),
    drop: (home) => databases.drop(homePathOf(home)),
    constants: async (home) => databaseConstantsOf(await databases.loginOf(homePathOf(home))),
    async numbers() {
      const names = await asAdministrator(server, (connection) =>
        rowsOf(
          connection,
          'SELECT SCHEMA_NAME FROM information_schema.SCHEMATA UNION SELECT User FROM mysql.global_priv',
        ),
      )
      const numbers = names.map(([name]) => homeOfName(databases.prefix, (name as string).replace(/_[a-z]+$/, '')))
      return [...new Set(numbers.filter((number) => number !== undefined))]
    },
    setAside: (home) => asAdministrator(server, (connection) => databases.keepOut(connection, homePathOf(home))),
    bringBack: (home) => asAdministrator(server, (connection) => databases.letIn(connection, homePathOf(home))),
  }
}

/** The template is small, and its home had room. */
const checkRoom = async () => {}

/** Puts rows in place of those of tables that are there. */
class RefillStatements extends LoadStatements {
  override drop(name: string): void {
    this.say(`DELETE FROM ${named(name)}`)
  }

  override create(): void {}
}
