/** Tests the checks that need the control database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { identifyInstallation } from '../../hosting/identity/identity.store.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { setBackedUp } from '../../resources/installation/installation.store.ts'
import { noteFeed } from '../../resources/vulnerabilities/vulnerability.store.ts'
import type { CheckContext } from './check.ts'
import { clockCheck } from './clock.ts'
import { contextOf } from './context.fixture.ts'
import { databaseCheck } from './database.ts'
import { mariaDbCheck } from './mariadb.ts'
import { phpCheck } from './php.ts'
import { vulnerabilityFeedCheck } from './vulnerability-feed.ts'

const running = new Set(['control', 'host'])
const HOUR_MS = 3_600_000

describe.each(dialects.filter(({ skip }) => !skip))('on $dialect', ({ dialect }) => {
  let made: TestDatabase
  beforeEach(async () => {
    made = await testDatabase(dialect)
    await made.database.transaction((tx) => identifyInstallation(tx, 'inst', 1))
  })
  afterEach(() => made.drop())

  const context = (more: Partial<CheckContext> = {}, settings: Record<string, string> = {}) =>
    contextOf(settings, { database: made.database, running, ...more })
  const host = (seenAt: number, facts: object = {}) =>
    made.database.transaction((tx) =>
      tx
        .insertInto('hosts')
        .values({
          ...{ name: 'h1', address: 'http://127.0.0.1:1', datacenters: '', identity: 'x', epoch: 1, max_sites: 1 },
          ...{ facts: JSON.stringify(facts), seen_at: seenAt },
        })
        .execute(),
    )

  test('reports a silent host as a problem while Stead runs', async () => {
    await host(Date.now() - HOUR_MS)
    expect(await databaseCheck.run(context())).toMatchObject([
      { state: 'ok' },
      { state: 'problem', area: 'php', text: expect.stringContaining('The host h1 was last heard of at') },
    ])
    expect(await databaseCheck.run(context({ running: 'stopped' }))).toMatchObject([{ state: 'ok' }])
  })

  test('warns of a late backup of the control database', async () => {
    const backUp = (at: number) => made.database.transaction((tx) => setBackedUp(tx, at))
    await backUp(Date.now() - HOUR_MS)
    expect(await databaseCheck.run(context())).toHaveLength(1)
    await backUp(Date.now() - 4 * HOUR_MS)
    expect(await databaseCheck.run(context())).toMatchObject([{ state: 'ok' }, { state: 'warning', area: 'storage' }])
  })

  test('warns of a feed of vulnerabilities that could not be read', async () => {
    const settings = { STEAD_VULNERABILITY_FEED: '/feed.json' }
    const states = async () => vulnerabilityFeedCheck.run(context({}, settings))
    expect(await vulnerabilityFeedCheck.run(context())).toEqual([])
    expect(await states()).toMatchObject([{ state: 'skipped' }])
    const note = (fault: string | null) =>
      made.database.transaction((tx) => noteFeed(tx, { address: '/feed.json', tried_at: 1, fault }))
    await note('its end is missing.')
    expect(await states()).toMatchObject([
      { state: 'warning', text: 'The feed of vulnerabilities cannot be read: its end is missing.' },
    ])
    await note(null)
    expect(await states()).toMatchObject([{ state: 'ok' }])
  })

  test('reports a clock that was set back as a problem', async () => {
    await host(Date.now() + HOUR_MS)
    expect(await clockCheck.run(context())).toMatchObject([
      { state: 'problem', text: expect.stringContaining('still to come') },
    ])
  })

  test.runIf(dialect === 'postgres')(
    "reports a clock that differs from the database server's as a problem",
    async () => {
      const late = { now: () => Date.now() + HOUR_MS }
      expect(await clockCheck.run(context(late))).toMatchObject([
        {
          state: 'problem',
          text: expect.stringMatching(/differs from that of the database server by 3[56]\d\d seconds/),
        },
      ])
    },
  )

  test('reports MariaDB that is down, and a host without WordPress, as problems', async () => {
    await host(Date.now(), { preparing: false, wordpress: null, reason: 'no source', mariaDb: { isUp: false } })
    const [down] = await mariaDbCheck.run(context({}, { STEAD_MARIADB: 'own' })).catch(() => [])
    // Without MariaDB installed, the check reports that first.
    if (down) expect(down).toMatchObject({ state: 'problem', text: expect.stringContaining('MariaDB on the host h1') })
    const found = await phpCheck.run(context())
    expect(found.at(-1)).toMatchObject({ state: 'problem', text: 'The host h1 cannot create sites: no source' })
  })
})

test('reports the error of an unusable control database as the problem', async () => {
  const error = new OperatorError('The database is away. See STEAD_DATABASE_URL.')
  expect(await databaseCheck.run(contextOf({}, { records: { kind: 'fault', error } }))).toEqual([
    { state: 'problem', text: 'The database is away.', remedy: 'See STEAD_DATABASE_URL.' },
  ])
  expect(await databaseCheck.run(contextOf({}))).toMatchObject([{ state: 'skipped', text: 'not started' }])
})
