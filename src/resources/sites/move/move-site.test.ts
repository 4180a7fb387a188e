/** Tests of moving a site between the two runtimes, and of what stops a move. */
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { PhpUnavailable, runtimesOf } from '../../../hosting/php/runtime.ts'
import { PhpTaskError } from '../../../hosting/php/task-error.ts'
import type { DatabaseContent, SitePlace } from '../../../hosting/site-database/database-content.ts'
import { DatabasesOfDirectories } from '../../../hosting/site-directories/databases-of-directories.ts'
import type { DirectoryDatabases } from '../../../hosting/site-directories/directory-databases.ts'
import type { SiteDirectories } from '../../../hosting/site-directories/site-directories.ts'
import { type Log, noLog } from '../../../platform/log/log.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, gate, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { changeSite, findSite } from '../site.store.ts'
import { moveSiteJob } from './move-site.job.ts'

let api: TestApi
let owner: Person
let host: FakeHost
/** Services that the host gives to jobs. */
let usual: HostServices
let worker: Worker | undefined
let site: number
let directory: string
let count = 0
/** Calls to the server. */
let told: string[]
/** Front pages that the site serves, the last one repeatedly. Default: one that names the site's database. */
let pages: ({ status?: number; text?: string } | Error)[]

beforeAll(async () => {
  api = await testApi('sqlite')
  owner = await api.person('owner@example.com')
})
afterAll(() => api.close())
beforeEach(async () => {
  host = await fakeHost(api)
  usual = host.services
  told = []
  pages = [{ text: '<html>\n<p>one\n<p>two\n</html>' }]
  site = await api.site(owner, `moved-${++count}`)
  directory = await host.giveDirectory(site)
  await api.database.transaction((tx) =>
    changeSite(tx, site, { writtenAddress: 'old.example.com', phpVersion: '8.2' }, 1),
  )
  host.setTitle(directory, 'mine')
})
afterEach(async () => {
  await worker?.stop(5000)
  await host.close()
})

const fileOf = (path: string) => join(path, 'private/database/site.sqlite')
/** Returns where the "server" keeps the database of a site directory: another folder of the same kind. */
const onServer = (path: string) => join(path, 'private/server')
const server: DirectoryDatabases = {
  make: async () => {},
  ensure: async () => {},
  async prepareNext({ path }) {
    told.push('prepared')
    await mkdir(join(onServer(path), 'private/database'), { recursive: true })
  },
  turn: async (_directory, isOn) => void told.push(isOn ? 'turned to the server' : 'turned to the file'),
  fill: async () => {},
  drop: async () => {},
  constants: async () => ({ DB_NAME: 'stead_h1' }),
  numbers: async () => [],
  quarantine: async () => {},
  recover: async () => {},
}

/** Returns the content of a site directory on the server. */
function serverContent(content: DatabaseContent): DatabaseContent {
  const there = (place: SitePlace) => ({ ...place, siteDirectory: onServer(place.siteDirectory) })
  return {
    size: (place) => content.size(there(place)),
    snapshot: (place) => content.snapshot(there(place)),
    load: (place, ...rest) => content.load(there(place), ...rest),
    tryOut: (place, ...rest) => content.tryOut(there(place), ...rest),
    state: (place) => content.state(there(place)),
    switch: (place) => content.switch(there(place)),
    switchBack: (place) => content.switchBack(there(place)),
    cleanUp: (place) => content.cleanUp(there(place)),
    totals: (place) => content.totals(there(place)),
    bringLevel: (place, ...rest) => content.bringLevel(there(place), ...rest),
    async drop(place) {
      told.push('dropped on the server')
      await content.drop(there(place))
    },
  }
}

interface Given {
  readonly services?: Partial<HostServices>
  /** Content on the server after the database was loaded. */
  readonly otherTitle?: string
  readonly turnTo?: DatabasesOfDirectories['turnTo']
  readonly log?: Log
}

function work({ services, otherTitle, turnTo, log = noLog }: Given = {}): void {
  const { pool, siteDatabase, siteDirectories } = usual
  ;(siteDirectories as { databases: SiteDirectories['databases'] }).databases = new DatabasesOfDirectories(
    server,
    noLog,
  )
  if (turnTo) siteDirectories.databases.turnTo = turnTo
  const far = serverContent(siteDatabase)
  const mariadb = {
    ...far,
    async cleanUp(place: SitePlace) {
      if (otherTitle) host.setTitle(onServer(directory), otherTitle)
      await far.cleanUp(place)
    },
  }
  let asked = 0
  const given = {
    ...usual,
    databaseKindFor: () => 'mariadb',
    databaseContent: (kind: 'sqlite' | 'mariadb') => ({ sqlite: siteDatabase, mariadb })[kind],
    pool: {
      ...pool,
      async handle() {
        const page = pages[Math.min(asked++, pages.length - 1)]
        if (page instanceof Error) throw page
        const { status = 200, text = '<html></html>' } = page ?? {}
        return { status, headers: [], body: Readable.from([Buffer.from(text)]) }
      },
    },
    ...services,
  } as unknown as HostServices
  worker = startWorker(api.database, [{ ...moveSiteJob, backoff: { firstMs: 5, mostMs: 5 } }], {
    ...{ runner: 'host', hostId: host.hostId, services: given, lookEveryMs: 20, log },
  })
}

const order = (input: object = {}) =>
  api.database.transaction((tx) =>
    enqueue(tx, moveSiteJob, { siteId: site, runtime: 'native', phpVersion: '8.3', ...input } as never, {
      siteId: site,
      accountId: owner.accountId,
      hostId: host.hostId,
    }),
  )
const move = async (input?: object) => ended(api.database, await order(input))
const directoryOf = () => host.services.siteDirectories.ofSite(site)
const log = async () =>
  (await api.database.read.selectFrom('activity').select(['action', 'message']).where('site_id', '=', site).execute())
    .filter(({ action }) => action.startsWith('site.move'))
    .map(({ message }) => message)
const events = async () =>
  (await api.database.read.selectFrom('events').select(['type', 'data']).where('site_id', '=', site).execute())
    .filter(({ type }) => type === 'php_version_changed')
    .map(({ data }) => JSON.parse(data))
const closedBy = async () =>
  (await api.database.read.selectFrom('sites').select('closed_by').where('id', '=', site).executeTakeFirst())?.closed_by
const purges = async () =>
  (await api.database.read.selectFrom('cache_purges').select('site_id').where('site_id', '=', site).execute()).length

test('to native PHP and back: database, record, configuration and log follow, and the unused database is dropped', async () => {
  work()
  expect(await move()).toMatchObject({ state: 'succeeded', error: null })
  expect(await directoryOf()).toMatchObject({ database: 'mariadb' })
  expect(told).toEqual(['prepared', 'turned to the server'])
  expect([host.title(onServer(directory)), existsSync(fileOf(directory))]).toEqual(['mine', false])
  expect(await readFile(join(directory, 'web/wp-config.php'), 'utf8')).toContain("define('DB_NAME', 'stead_h1');")
  expect((await findSite(api.database.read, site))?.phpVersion).toBe('8.3')
  expect(await events()).toEqual([{ version: '8.3' }])
  expect([await closedBy(), host.held.has(site), await purges()]).toEqual([null, false, 1])
  expect(host.disconnected).toContain(site)
  expect(host.wordpress(site).flushes).toBe(1)
  host.setTitle(onServer(directory), 'ours')
  // WordPress in these tests reads the file.
  const tasks = { ...host.services.pool, runTask: async () => ({ flushed: true, dropIn: false, home: '' }) as never }
  await worker?.stop(5000)
  const handle = async () => ({ status: 200, headers: [], body: Readable.from([Buffer.from('<html></html>')]) })
  work({ services: { pool: { ...tasks, handle } as never } })
  expect(await move({ runtime: 'wasm' })).toMatchObject({ state: 'succeeded', error: null })
  expect(await directoryOf()).toMatchObject({ database: 'sqlite' })
  expect(told.slice(2)).toEqual(['turned to the file', 'dropped on the server'])
  expect([host.title(directory), existsSync(fileOf(onServer(directory)))]).toEqual(['ours', false])
  // The version is unchanged, so no change is reported.
  expect(await events()).toHaveLength(1)
  expect(await log()).toEqual([
    'Moved the site to native PHP 8.3 with its database on MariaDB. Its homepage is unchanged.',
    'Moved the site to PHP in WebAssembly 8.3 with its database on SQLite. Its homepage is unchanged.',
  ])
})

test('to where it already runs: changes and reports nothing', async () => {
  work()
  expect(await move({ runtime: 'wasm' })).toMatchObject({ state: 'succeeded' })
  expect([told, await log(), await purges(), host.disconnected]).toEqual([[], [], 0, []])
  expect((await findSite(api.database.read, site))?.phpVersion).toBe('8.2')
})

test('counts lines of its front page that differ, except those that differ each time', async () => {
  pages = [
    { text: '<html>\n<p>one\n<p>two\n<p>at 9:30\n</html>' },
    { text: '<html>\n<p>one\n<p>two\n<p>at 9:31\n</html>' },
    { text: '<html>\n<p>one\n<p>drei\n<p>at 9:32\n</html>' },
  ]
  work()
  expect((await move()).state).toBe('succeeded')
  expect(await log()).toEqual([
    'Moved the site to native PHP 8.3 with its database on MariaDB. On its homepage, 1 of 4 lines differ. Check the homepage.',
  ])
})

test('moves a site whose PHP is gone, because the move is the solution', async () => {
  pages = [new PhpUnavailable('no php-fpm 8.2'), { text: '<html></html>' }]
  work()
  expect((await move()).state).toBe('succeeded')
  expect(await log()).toEqual(['Moved the site to native PHP 8.3 with its database on MariaDB.'])
})

test('only logs leftovers of the earlier database', async () => {
  const warnings: { msg: string; siteId: number }[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line)) }) as Log
  const { siteDatabase } = host.services
  const drop = async () => {
    throw new Error('the disk is away')
  }
  usual = { ...usual, siteDatabase: { ...siteDatabase, drop } } as never
  work({ log })
  expect((await move()).state).toBe('succeeded')
  const msg = 'could not remove the leftovers of a content change'
  expect(warnings).toMatchObject([{ siteId: site, msg }])
})

test('a cancel after the move does not load the old database over the new one', async () => {
  const { siteDatabase } = host.services
  const begun = gate()
  const drop = async () => {
    begun.open()
    await new Promise(() => {})
  }
  usual = { ...usual, siteDatabase: { ...siteDatabase, drop } } as never
  work()
  const id = await order()
  await begun.opened
  await api.database.transaction((tx) => requestCancel(tx, id, Date.now()))
  // The process dies when only the old database is left to drop.
  await worker?.stop(0)
  host.held.clear()
  await api.database.transaction((tx) =>
    tx.updateTable('operations').set({ lease_until: 0 }).where('id', '=', id).execute(),
  )
  const { drop: _blocked, ...others } = siteDatabase
  usual = { ...usual, siteDatabase: { ...others, drop: async () => {} } } as never
  host.setTitle(onServer(directory), 'written since')
  told = []
  work()
  expect((await ended(api.database, id)).state).toBe('succeeded')
  expect([told, host.title(onServer(directory)), await closedBy()]).toEqual([[], 'written since', null])
  expect(await log()).toHaveLength(1)
})

test('a site that cannot be switched back keeps the new database, and its owner is told', async () => {
  pages = [{}, {}, { status: 500 }]
  const databases = new DatabasesOfDirectories(server, noLog)
  const turnTo: typeof databases.turnTo = async (row, ...rest) => {
    if (row.database === 'sqlite') throw new PermanentFailure('the disk is away')
    await databases.turnTo(row, ...rest)
  }
  work({ turnTo })
  expect((await move()).state).toBe('failed')
  expect(told).toEqual(['prepared', 'turned to the server'])
  expect([host.title(onServer(directory)), await closedBy()]).toEqual(['mine', null])
  expect((await log())[0]).toContain('Stead could not roll back the change: try again')
})

describe('a site stays in place', () => {
  /** Checks that it is unchanged and open, and that its activity log has the reason. */
  const stays = async (says: string, database = 'sqlite') => {
    expect(await directoryOf()).toMatchObject({ database })
    expect([await closedBy(), host.held.has(site), await purges()]).toEqual([null, false, 0])
    expect(await log()).toEqual([`The move failed, and the site runs as before: ${says}.`])
    expect((await findSite(api.database.read, site))?.phpVersion).toBe('8.2')
    expect(await events()).toEqual([])
  }
  const refused = async (says: string, given: Given & { input?: object } = {}) => {
    work(given)
    expect(await move(given.input)).toMatchObject({ state: 'failed', error: says })
    await stays(says)
    expect(host.title(directory)).toBe('mine')
  }

  test('if it is not installed', async () => {
    await refused('The site is not installed yet', { services: { hostedSite: async () => undefined } })
    expect(told).toEqual([])
  })

  test('on a host without MariaDB, or without PHP in WebAssembly', async () => {
    await refused('The host of the site does not have PHP 8.3 with MariaDB', {
      services: { databaseKindFor: () => 'sqlite' },
    })
    await worker?.stop(5000)
    const row = (await directoryOf()) as NonNullable<Awaited<ReturnType<typeof directoryOf>>>
    await api.database.transaction((tx) => host.services.siteDirectories.recordDatabase(tx, row, 'mariadb'))
    const runtimes = runtimesOf(() => 'native')
    work({ services: { hasWasm: false, containment: () => ({ runtimes }) as never } })
    const says = 'The host does not run PHP in WebAssembly (STEAD_RUNTIME), and PHP 8.3 is native'
    expect(await move({ runtime: 'wasm' })).toMatchObject({ state: 'failed', error: says })
    expect((await log()).at(-1)).toContain(says)
    expect([told, await directoryOf()]).toEqual([[], expect.objectContaining({ database: 'mariadb' })])
  })

  test('if the database differs there', async () => {
    const says = 'The database could not be moved exactly: rows of the table wp_options are not the same'
    await refused(says, { otherTitle: 'another' })
    // The new database is dropped, and the site was never switched to it.
    expect(told).toEqual(['prepared', 'dropped on the server'])
    expect(existsSync(fileOf(onServer(directory)))).toBe(false)
  })

  test.each([
    ['a page that is broken', [{}, {}, { status: 500 }], 'its homepage responds with status 500'],
    ['another status', [{}, {}, { status: 404 }], 'its homepage responds with status 404 there, but with 200 here'],
    ['no page before, and none there', [new PhpUnavailable('away'), { text: '' }], 'its homepage is empty'],
  ])('if it responds with %s there', async (_what, answers, says) => {
    pages = answers as typeof pages
    await refused(`WordPress does not respond in the new runtime: ${says}`)
    expect(told).toEqual(['prepared', 'turned to the server', 'turned to the file', 'dropped on the server'])
  })

  test.each(['flush-object-cache', 'check-copy'])('if its WordPress refuses the task %s there', async (task) => {
    const { pool } = host.services
    const runTask = async (...given: Parameters<typeof pool.runTask>) => {
      if (given[1] === task) throw new PhpTaskError('it cannot write')
      return pool.runTask(...given)
    }
    usual = { ...usual, pool: { ...pool, runTask } } as never
    await refused('WordPress does not respond in the new runtime: it cannot write')
    expect(told.at(-1)).toBe('dropped on the server')
  })

  test('if its page could not be requested for another reason', async () => {
    pages = [new Error('the socket is away')]
    work()
    expect(await move()).toMatchObject({ state: 'failed', error: 'the socket is away' })
    await stays('the socket is away')
  })

  test('if canceled, without a report', async () => {
    const begun = gate()
    const ensured = async () => {
      begun.open()
      await new Promise(() => {})
    }
    work({ services: { endSftp: ensured as never } })
    const id = await order()
    await begun.opened
    await api.database.transaction((tx) => requestCancel(tx, id, Date.now()))
    await worker?.stop(0)
    await api.database.transaction((tx) =>
      tx.updateTable('operations').set({ lease_until: 0 }).where('id', '=', id).execute(),
    )
    work()
    expect((await ended(api.database, id)).state).toBe('canceled')
    expect([await closedBy(), await log()]).toEqual([null, []])
  })

  test('if it was deleted meanwhile', async () => {
    await api.database.transaction((tx) => tx.deleteFrom('site_homes').where('site_id', '=', site).execute())
    work()
    expect(await move()).toMatchObject({ state: 'failed', error: 'The site has no site directory on this host' })
  })
})
