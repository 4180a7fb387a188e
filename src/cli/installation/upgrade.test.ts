import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdDecompress } from 'node:zlib'
import { extract } from 'tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { dialects, testDatabase } from '../../../test/support/database.ts'
import { identifyInstallation } from '../../hosting/identity/identity.store.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { measureMigrations } from '../../platform/db/measure-migrations.ts'
import { appliedMigrations } from '../../platform/db/migrate.ts'
import { setBackedUp } from '../../resources/installation/installation.store.ts'
import { launch } from '../launcher.fixture.ts'
import { OLDEST_TESTED, requireTested } from './upgrade.ts'

const foldersDir = join(import.meta.dirname, '../../../test/upgrades/folders')
const all = Object.keys(migrations)
let folder: string
let files: string[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-upgrade-'))
  files = (await readdir(foldersDir)).sort()
})
afterAll(() => rm(folder, { recursive: true }))

/** Unpacks the control database and the identity of a data folder that an older version made. */
async function unpack(file: string): Promise<string> {
  const dataDir = await mkdtemp(join(folder, 'data-'))
  const wanted = /^(\.\/)?(stead\.db|identity\.json|host-name|master\.key)$/
  await pipeline(
    createReadStream(join(foldersDir, file)),
    createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 26 } }),
    extract({ cwd: dataDir, filter: (path) => wanted.test(path) }),
  )
  return dataDir
}

async function appliedIn(dataDir: string): Promise<string[]> {
  const database = await openDatabase({ file: join(dataDir, 'stead.db') })
  const applied = await appliedMigrations(database.read)
  await database.close()
  return applied
}

const check = async (dataDir: string) => launch('upgrade --check --json', { STEAD_DATA_DIR: dataDir })

test('lists and measures what databases of older versions lack, and changes nothing', async () => {
  for (const file of [files[0] as string, files.at(-1) as string]) {
    const dataDir = await unpack(file)
    const applied = await appliedIn(dataDir)
    const before = await readFile(join(dataDir, 'stead.db'))
    const names = await readdir(dataDir)
    const { code, out, error } = await check(dataDir)
    const found = JSON.parse(out)
    const lacking = all.filter((name) => !applied.includes(name))
    expect(found.changes.map(({ name }: { name: string }) => name)).toEqual(lacking)
    for (const { about, ms } of found.changes) expect([about, ms > 0]).toEqual([expect.stringMatching(/\w/), true])
    expect(found).toMatchObject({ records: applied.at(-1), records_after: all.at(-1), backed_up: null })
    expect([code, error]).toEqual([1, expect.stringContaining('has no backup of the last day')])
    expect((await readFile(join(dataDir, 'stead.db'))).equals(before)).toBe(true)
    expect((await readdir(dataDir)).filter((name) => !name.startsWith('stead.db-'))).toEqual(
      names.filter((name) => !name.startsWith('stead.db-')),
    )
  }
})

test('the oldest data folder of the tests is the oldest version whose upgrade is tested', async () => {
  expect((await appliedIn(await unpack(files[0] as string))).at(-1)).toBe(OLDEST_TESTED)
})

test('refuses gaps that are not tested, and names them', () => {
  expect(() => requireTested(all)).not.toThrow()
  expect(() => requireTested(all.slice(0, all.indexOf(OLDEST_TESTED) + 1))).not.toThrow()
  expect(() => requireTested(all.slice(0, 3))).toThrow(
    `ends at ${all[2]}. Upgrades are tested from ${OLDEST_TESTED} on`,
  )
  expect(() => requireTested(all.toSpliced(10, 2))).toThrow(
    `lacks ${all[10]}, ${all[11]}, although it has later changes`,
  )
})

describe.each(dialects.filter(({ skip }) => !skip))('migrations that are measured, $dialect,', ({ dialect }) => {
  test('leave the database as it was, and a backup of the last day is enough', async () => {
    const older = Object.fromEntries(Object.entries(migrations).slice(0, -3))
    const { database, connection, drop } = await testDatabase(dialect, older)
    try {
      const measured = await measureMigrations(database, connection.file, migrations)
      expect(measured.map(({ name }) => name)).toEqual(all.slice(-3))
      expect(await appliedMigrations(database.read)).toEqual(all.slice(0, -3))
      const dataDir = dirname(connection.file)
      const settings = { STEAD_DATA_DIR: dataDir, ...(connection.url && { STEAD_DATABASE_URL: connection.url }) }
      await database.transaction((tx) => identifyInstallation(tx, undefined, Date.now()))
      await database.transaction((tx) => setBackedUp(tx, Date.now()))
      const { code, out, error } = await launch('upgrade --check', settings)
      expect([code, error]).toEqual([0, ''])
      expect(out).toContain('The next start makes these 3 changes.')
    } finally {
      await drop()
    }
  })
})

test('upgrades nothing without --check', async () => {
  const { code, error } = await launch('upgrade', { STEAD_DATA_DIR: await unpack(files.at(-1) as string) })
  expect([code, error]).toEqual([2, expect.stringContaining('stead upgrade --check')])
})
