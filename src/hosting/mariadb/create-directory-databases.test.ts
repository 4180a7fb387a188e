/** Databases of site directories on a real server: created from a template, reset to it, and dropped. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb, testPrefix } from '../../../test/support/own-mariadb.ts'
import type { DirectoryDatabases } from '../site-directories/directory-databases.ts'
import { templateDump } from '../site-directories/template.ts'
import { createDirectoryDatabases } from './create-directory-databases.ts'
import { isOnMariaDb } from './on-mariadb.ts'
import { rowsOf } from './server/connect.ts'

const dump = `
  CREATE TABLE wp_options (option_id int PRIMARY KEY AUTO_INCREMENT, option_name varchar(191) UNIQUE, option_value longtext) CHARSET utf8mb4;
  INSERT INTO wp_options VALUES (1, 'blogname', 'of the template'), (2, 'siteurl', 'http://template.invalid');
  -- Dump completed
`

describe.skipIf(!hasMariaDb)('databases of site directories', () => {
  let maria: OwnMariaDb
  let databases: DirectoryDatabases
  let directory: { path: string }
  let count = 0
  beforeAll(async () => {
    maria = await startOwnMariaDb()
    databases = createDirectoryDatabases(maria.databases)
    await writeFile(templateDump(maria.folder), dump)
  })
  afterAll(() => maria?.stop())
  beforeEach(async () => {
    directory = { path: (await maria.home(++count)).siteDirectory }
    await databases.make(directory, { path: maria.folder, coreVersion: '', corePath: '', install: '' })
  })

  /** Runs a statement as the site's PHP would, through the server's socket. */
  async function asSite(sql: string, values: string[] = []): Promise<string[][]> {
    const { user, password, database } = await maria.databases.loginOf({ siteDirectory: directory.path })
    const connection = await maria.server.connect({ user, password, database })
    try {
      return await rowsOf(connection, sql, values)
    } finally {
      connection.destroy()
    }
  }
  const options = () => asSite('select option_name, option_value from wp_options order by option_id')

  test('contain what the template does, for the account that wp-config.php names', async () => {
    expect(await options()).toEqual([
      ['blogname', 'of the template'],
      ['siteurl', 'http://template.invalid'],
    ])
    const name = `${testPrefix}${basename(directory.path)}`
    expect(await databases.constants(directory)).toMatchObject({
      ...{ DB_NAME: name, DB_USER: name, DB_HOST: 'localhost:/run/mariadb/socket' },
      ...{ DB_DIR: null, DB_FILE: null },
    })
  })

  test('lose leftovers of dry runs when their host starts, but nothing else', async () => {
    const [own, another] = [`${testPrefix}h${count}`, `${testPrefix}h${count + 1000}`]
    const left = ['_scratch', '_next'].flatMap((part) => [own + part, another + part])
    for (const name of [...left, 'stead_0ther_h1_scratch']) await maria.ask(`create database ${name}`)
    await maria.databases.dropScratch((number) => number === count)
    const names = await maria.ask(
      "select schema_name from information_schema.schemata where schema_name like '%h%\\_%'",
    )
    const there = names.flat()
    expect(left.filter((name) => !there.includes(name))).toEqual([`${own}_scratch`])
    expect(there).toContain('stead_0ther_h1_scratch')
    expect(await options()).toHaveLength(2)
    for (const name of [...left, 'stead_0ther_h1_scratch']) await maria.ask(`drop database if exists ${name}`)
  })

  test('keep nothing of their warm-up, and get all edits or stay unchanged', async () => {
    await asSite("insert into wp_options (option_name, option_value) values ('_transient_x', 'warm')")
    await asSite("update wp_options set option_value = 'warm' where option_id = 1")
    const name = "Größe's 🙂 \\'; drop table wp_options"
    await databases.fill(directory, maria.folder, [
      ['update wp_options set option_value = ? where option_name = ?', name, 'blogname'],
    ])
    expect(await options()).toEqual([
      ['blogname', name],
      ['siteurl', 'http://template.invalid'],
    ])
    await expect(
      databases.fill(directory, maria.folder, [
        ['update wp_options set option_value = ? where option_name = ?', 'half', 'blogname'],
        ['update no_such_table set x = ?', 'y'],
      ]),
    ).rejects.toThrow('no_such_table')
    expect((await options())[0]).toEqual(['blogname', name])
  })

  test('are recreated from whatever is left, and dropped with their accounts', async () => {
    await asSite('drop table wp_options')
    await asSite('create table mine (id int)')
    await databases.make(directory, { path: maria.folder, coreVersion: '', corePath: '', install: '' })
    expect(await asSite('show tables')).toEqual([['wp_options']])
    expect(await databases.numbers()).toContain(count)
    await databases.drop(directory)
    expect(await databases.numbers()).not.toContain(count)
    expect(isOnMariaDb(directory.path)).toBe(false)
    await databases.drop(directory)
  })

  test('admit nobody while quarantined, and lose nothing', async () => {
    await databases.quarantine(directory)
    await expect(options()).rejects.toThrow(/locked/)
    await databases.recover(directory)
    expect(await options()).toHaveLength(2)
  })

  test('are not used before a site directory that moves to a server is switched to them', async () => {
    await databases.drop(directory)
    await databases.prepareNext(directory)
    expect(isOnMariaDb(directory.path)).toBe(false)
    await databases.turn(directory, true)
    await databases.turn(directory, true)
    expect(isOnMariaDb(directory.path)).toBe(true)
    await databases.turn(directory, false)
    expect(isOnMariaDb(directory.path)).toBe(false)
    await databases.drop(directory)
    expect(existsSync(`${directory.path}/mariadb.next.json`)).toBe(false)
  })
})
