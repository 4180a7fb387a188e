/** Scheduled events of a site whose database is on a real server. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb } from '../../../test/support/own-mariadb.ts'
import { asAdministrator } from '../mariadb/server/database-server.ts'
import { installedTables } from './installed-tables.ts'
import { mariaDbEvents } from './mariadb-events.ts'

const AT = 1_900_000_000
const cron = `a:2:{i:${AT};a:1:{s:6:"a_hook";a:1:{s:1:"k";a:0:{}}}s:7:"version";i:2;}`

describe.skipIf(!hasMariaDb)('events on a MariaDB server', () => {
  let maria: OwnMariaDb
  let siteDirectory: string
  let isRunning = false
  let now = 0
  const events = () => mariaDbEvents({ databases: maria.databases, runs: () => isRunning, clock: () => now })
  beforeAll(async () => {
    maria = await startOwnMariaDb()
    siteDirectory = (await maria.home(1)).siteDirectory
    const { database } = await maria.databases.create({ siteDirectory })
    await mkdir(join(siteDirectory, 'web'))
    await writeFile(join(siteDirectory, 'web/wp-config.php'), "<?php\n$table_prefix = 'my_';\n")
    await asAdministrator(maria.server, async (connection) => {
      await connection.query(`CREATE TABLE ${database}.my_options (option_name varchar(191), option_value longtext)`)
      await connection.query(`INSERT INTO ${database}.my_options VALUES ('cron', '${cron}')`)
    })
  })
  afterAll(() => maria?.stop())
  const change = (value: string) =>
    maria.ask(`UPDATE ${maria.databases.namesOf({ siteDirectory }).current}.my_options SET option_value = ${value}`)

  test('reads events from the tables that wp-config.php names', async () => {
    expect(await events().read(siteDirectory)).toEqual({
      ...{ kind: 'read', settled: true },
      next: { urgentAt: AT * 1000, housekeepingAt: null },
    })
  })

  test('finds the prefixes and the network in the tables', async () => {
    const { current } = maria.databases.namesOf({ siteDirectory })
    await asAdministrator(maria.server, async (connection) => {
      for (const name of ['posts', 'postmeta']) await connection.query(`CREATE TABLE ${current}.my_${name} (id int)`)
      await connection.query(`CREATE TABLE ${current}.my_site (id int, domain text, path text)`)
      await connection.query(`INSERT INTO ${current}.my_site VALUES (1, 'network.example', '/blogs/')`)
      await connection.query(
        `CREATE TABLE ${current}.my_sitemeta (meta_id int, site_id int, meta_key text, meta_value text)`,
      )
      await connection.query(`INSERT INTO ${current}.my_sitemeta VALUES (1, 1, 'main_site', '3')`)
    })
    const network = { networkId: 1, domain: 'network.example', path: '/blogs/', blogId: 3, isSubdomainInstall: false }
    expect(await installedTables(siteDirectory, maria.databases)).toEqual({ prefixes: ['my_'], network })
    await expect(installedTables(siteDirectory, undefined)).rejects.toThrow('MariaDB')
  })

  test('leaves events that it cannot read to WordPress, whatever the site has stored', async () => {
    await change("'nonsense'")
    expect(await events().read(siteDirectory)).toMatchObject({ kind: 'unknown' })
    await change("REPEAT('x', 2000000)")
    expect(await events().read(siteDirectory)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('length'),
    })
    expect(await mariaDbEvents({ databases: undefined, runs: () => false }).read(siteDirectory)).toMatchObject({
      kind: 'unknown',
    })
  })

  test('checks every minute while PHP runs, and rarely otherwise', () => {
    const marks = (running: boolean) => {
      isRunning = running
      return [0, 1, 2, 3].map((minute) => {
        now = minute * 60_000
        return events().mark(siteDirectory)
      })
    }
    expect(new Set(marks(true)).size).toBe(4)
    expect(new Set(marks(false)).size).toBe(1)
  })
})
