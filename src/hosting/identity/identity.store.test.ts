import { afterEach, describe, expect, test } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { type Database, openDatabase } from '../../platform/db/database.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { lastGivenId, raiseIds } from '../../platform/db/sequences.ts'
import {
  claimKeyMark,
  databaseFacts,
  giveHostIdentity,
  identifyInstallation,
  installationOf,
  raiseNumbers,
} from './identity.store.ts'

describe.each(dialects)('facts from a database on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase | undefined
  let database: Database
  afterEach(async () => {
    await database?.close()
    await made?.drop()
  })

  test.skipIf(skip)('has no hosts when it is empty, and hosts by name from before identities', async () => {
    made = await testDatabase(dialect, {})
    database = await openDatabase(made.connection)
    expect(await databaseFacts(database)).toMatchObject({ installation: null, hosts: [] })
    await migrate(database, Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0008')))
    await database.transaction((tx) =>
      tx
        .insertInto('hosts')
        .values({ name: 'one', address: '', datacenters: '', max_sites: 1, facts: '{}', seen_at: 5 })
        .execute(),
    )
    const host = { id: 1, name: 'one', identity: null, epoch: 0, seenAt: 5 }
    expect(await databaseFacts(database)).toMatchObject({ installation: null, hosts: [host] })
    await migrate(database, migrations)
    expect(await databaseFacts(database)).toMatchObject({ installation: null, hosts: [host] })
  })

  test.skipIf(skip)('keeps the first identity and the first mark of a key', async () => {
    made = await testDatabase(dialect)
    database = await openDatabase(made.connection)
    await Promise.all(
      ['one', 'other'].map((wanted) => database.transaction((tx) => identifyInstallation(tx, wanted, 1))),
    )
    const first = (await installationOf(database.read))?.identity
    await database.transaction((tx) => identifyInstallation(tx, undefined, 2))
    expect((await installationOf(database.read))?.identity).toBe(first)
    expect(await database.transaction((tx) => claimKeyMark(tx, 'a'))).toBe('a')
    expect(await database.transaction((tx) => claimKeyMark(tx, 'b'))).toBe('a')
    const { id } = await database.transaction((tx) =>
      tx
        .insertInto('hosts')
        .values({ name: 'one', address: '', datacenters: '', max_sites: 1, facts: '{}', seen_at: 5 })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    await database.transaction((tx) => giveHostIdentity(tx, id, 'me'))
    expect((await databaseFacts(database)).hosts).toMatchObject([{ name: 'one', identity: 'me', epoch: 0 }])
  })

  test.skipIf(skip)('increases ids and never decreases them', async () => {
    made = await testDatabase(dialect)
    database = await openDatabase(made.connection)
    expect(await lastGivenId(database.read, 'site_homes')).toBe(0)
    await database.transaction((tx) => raiseIds(tx, 'site_homes', 20))
    await database.transaction((tx) => raiseIds(tx, 'site_homes', 7))
    expect(await lastGivenId(database.read, 'site_homes')).toBe(20)
    await raiseNumbers(database, 19)
    expect(await lastGivenId(database.read, 'sites')).toBe(0)
    await raiseNumbers(database, 25)
    expect(await lastGivenId(database.read, 'site_homes')).toBe(25)
    expect(await lastGivenId(database.read, 'sites')).toBeGreaterThan(5)
  })
})
