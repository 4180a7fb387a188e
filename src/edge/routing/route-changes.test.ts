import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { registerHost } from '../../hosting/host.store.ts'
import { recordHost, recordNames } from './route-changes.store.ts'
import { routeChangesSince } from './routes.store.ts'

describe.each(dialects)('changes of routes on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async ({ skip: pass }) => {
    if (skip) pass()
    made = await testDatabase(dialect)
  })
  afterEach(() => made?.drop())

  const record = (names: string[]) => made.database.transaction((tx) => recordNames(tx, names))
  const since = (seq?: number) => routeChangesSince(made.database.read, seq)

  test('are numbered in the order of commits, without gaps, when several processes write at once', async () => {
    expect(await since()).toEqual({ newest: 0, changes: [] })
    let position = 0
    const seen: string[] = []
    const look = async () => {
      const { newest, changes } = await since(position)
      expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, n) => position + 1 + n))
      seen.push(...changes.map((change) => ('hostName' in change ? change.hostName : '')))
      position = newest
    }
    const writing = Promise.all(Array.from({ length: 40 }, (_, n) => record([`a${n}`, `b${n}`])))
    for (let n = 0; n < 20; n++) await look()
    await writing
    await look()
    expect(seen.sort()).toEqual(
      Array.from({ length: 40 }, (_, n) => [`a${n}`, `b${n}`])
        .flat()
        .sort(),
    )
  })

  test('a transaction that is rolled back leaves none', async () => {
    const failing = made.database.transaction(async (tx) => {
      await recordNames(tx, ['a'])
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await record(['b'])
    expect(await since(0)).toEqual({ newest: 1, changes: [{ seq: 1, hostName: 'b' }] })
  })

  test('the start of a host is one change, however many sites it serves, with its current address', async () => {
    const start = (port: number) =>
      made.database.transaction(async (tx) => {
        const host = {
          name: 'h',
          address: `http://127.0.0.1:${port}`,
          datacenters: '',
          identity: 'i',
          epoch: 1,
          maxSites: 1000,
        }
        const id = await registerHost(tx, host)
        await recordHost(tx, id)
        return id
      })
    const hostId = await start(1)
    expect(await start(2)).toBe(hostId)
    const { changes } = await since(1)
    expect(changes).toEqual([{ seq: 2, hostId, upstream: 'http://127.0.0.1:2' }])
  })
})
