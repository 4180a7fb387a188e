/** A server that an operator runs: checks that Stead makes before it stores any site's database there. */
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb } from '../../../../test/support/own-mariadb.ts'
import type { DatabaseContent, SitePlace } from '../../site-database/database-content.ts'
import { SiteUnavailable } from '../../site-database/site-database.ts'
import { createMariaDbContent } from '../content/mariadb-content.ts'
import { anyDatabase, contentByDirectory } from '../content-by-directory.ts'
import { loginFile } from '../on-mariadb.ts'
import { SiteDatabases } from '../site-databases.ts'
import { rowsOf } from './connect.ts'
import { openExternalServer } from './external-server.ts'

const prefix = 'stead_12345678_'
const pool = { between: async <Result>(_siteId: number, work: () => Promise<Result>) => work() }

describe.skipIf(!hasMariaDb)('a server that an operator runs', () => {
  let maria: OwnMariaDb
  const url = (user: string, password = 'p%40ss') =>
    `mariadb://${user}:${password}@localhost?socket=${encodeURIComponent(join(maria.folder, 'mariadb/run/socket'))}`
  const sites = () =>
    maria.ask("select schema_name from information_schema.schemata where schema_name like 'stead\\_12345678%'")
  beforeAll(async () => {
    maria = await startOwnMariaDb()
    await maria.ask("create user operator@localhost identified by 'p@ss'")
    await maria.ask('grant all on *.* to operator@localhost with grant option')
    await maria.ask("create user weak@localhost identified by 'p@ss'")
    await maria.ask('grant create, drop on *.* to weak@localhost')
  })
  afterAll(() => maria?.stop())

  test('stores databases of sites like a host’s own server', async () => {
    const server = await openExternalServer(url('operator'), prefix)
    expect([server.isUp, server.version]).toEqual([true, maria.server.version])
    // The trial database is gone.
    expect(await sites()).toEqual([])
    const databases = new SiteDatabases(server, prefix)
    const directory = await maria.home(1)
    const login = await databases.create(directory)
    const content = createMariaDbContent({ databases, pool })
    async function* dump() {
      yield Buffer.from('CREATE TABLE t (a int);\nINSERT INTO t VALUES (7);\n-- Dump completed')
    }
    await content.load(directory, dump())
    await content.switch(directory)
    const site = await server.connect(login)
    expect(await rowsOf(site, 'select a from t')).toEqual([['7']])
    site.destroy()
    await content.drop(directory)
    expect(await sites()).toEqual([])
    await server.stop(0)
    expect(await maria.ask('select 1')).toEqual([['1']])
  })

  test.each([
    ['whose password is wrong', () => url('operator', 'wrong'), 'Access denied'],
    ['where nobody listens', () => 'mariadb://operator:x@127.0.0.1:9', 'Stead cannot use the server'],
    ['whose account may too little', () => url('weak'), /lacks rights that Stead needs: .*CREATE USER/],
  ])('rejects one %s, and leaves nothing on it', async (_name, address, message) => {
    await expect(openExternalServer(address(), prefix)).rejects.toThrow(message)
    expect(await sites()).toEqual([])
  })

  test('chooses the database by a file in the site directory', async () => {
    const asked: string[] = []
    const kind = (name: string) => ({ size: async () => asked.push(name) }) as unknown as DatabaseContent
    const directory: SitePlace = await maria.home(2)
    const both = contentByDirectory(kind('sqlite'), kind('mariadb'))
    await both.size(directory)
    expect(anyDatabase.glance(directory.siteDirectory)).toContain('missing')
    await writeFile(loginFile(directory.siteDirectory), '{"password":"x"}')
    await both.size(directory)
    expect(asked).toEqual(['sqlite', 'mariadb'])
    expect([anyDatabase.glance(directory.siteDirectory), anyDatabase.inspect(directory.siteDirectory)]).toEqual([
      undefined,
      undefined,
    ])
    await expect(contentByDirectory(kind('sqlite'), undefined).size(directory)).rejects.toThrow(SiteUnavailable)
    await rm(directory.siteDirectory, { recursive: true })
    expect(existsSync(loginFile(directory.siteDirectory))).toBe(false)
    expect(anyDatabase.glance(directory.siteDirectory)).toBe('its folder is missing')
  })
})
