import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { siteDraft } from '../../test/support/site-draft.ts'
import { recordNames } from '../edge/routing/route-changes.store.ts'
import { DatabaseSilent } from '../platform/db/postgres-silence.ts'
import { noLog } from '../platform/log/log.ts'
import { enqueue } from '../platform/operations/enqueue.ts'
import { makeAccount } from '../resources/account/account.ts'
import { firstPlan } from '../resources/account/plans.ts'
import { insertSite } from '../resources/sites/site.store.ts'
import { configureSite } from '../resources/sites/switches/configure-site.job.ts'
import { type HostedRecord, registerHost } from './host.store.ts'
import { HostedSites } from './hosted-sites.ts'
import { RunningIdentity } from './identity/folder.ts'
import { DirectoriesOnDisk } from './site-directories/directories-on-disk.ts'
import { SiteDirectories } from './site-directories/site-directories.ts'
import { HostStarting } from './web-server/web-server.ts'

const dataDir = '/data'
let made: TestDatabase
let place: { hostId: number; siteDirectories: SiteDirectories }
let siteId: number
beforeEach(async () => {
  made = await testDatabase('sqlite')
  const { database } = made
  const hostId = await database.transaction((tx) =>
    registerHost(tx, { name: 'one', address: '', datacenters: '', identity: 'me', epoch: 1, maxSites: 1000 }),
  )
  siteId = await database.transaction(async (tx) => {
    const account = await makeAccount(tx, { email: 'a@b.test', plan: firstPlan, now: 1 })
    return (await insertSite(tx, siteDraft('shop', { accountId: account.id, hostId }), 1)).id
  })
  const identity = new RunningIdentity(dataDir, {
    installation: 'i',
    host: 'me',
    epoch: 1,
    lastHome: 0,
    firstUser: 300_000,
  })
  const folders = new DirectoriesOnDisk({ dataDir, identity, isRoot: true, log: noLog })
  place = {
    hostId,
    siteDirectories: new SiteDirectories({ database, hostId, folders, identity, prepared: 0, log: noLog }),
  }
})
afterEach(async () => {
  vi.useRealTimers()
  await made.drop()
})

/**
 * Completes a site as provisioning does when the site has its content.
 * @returns the number of its site directory
 */
const settle = async (values: object = {}): Promise<number> =>
  made.database.transaction(async (tx) => {
    const directory = {
      host_id: place.hostId,
      state: 'taken',
      core_version: '6.8',
      install: 'wordpress',
      site_id: siteId,
    }
    const { id } = await tx
      .insertInto('site_homes')
      .values({ ...directory, created_at: 1 } as never)
      .returning('id')
      .executeTakeFirstOrThrow()
    await change(tx, { core_version: '6.8', written_address: 'shop.localhost', state: 'live', ...values })
    return id
  })
const change = async (tx: Parameters<typeof recordNames>[0], values: object): Promise<void> => {
  await tx.updateTable('sites').set(values).where('id', '=', siteId).execute()
  await recordNames(tx, ['shop.localhost'])
}

test('combines a site from its record and its site directory, for visitors and background work alike', async () => {
  const directoryId = await settle({ light_404: 1, multisite: 0 })
  const sites = new HostedSites(made.database)
  sites.open(place)
  const site = await sites.find(siteId)
  expect(site).toMatchObject({
    siteId,
    siteDirectory: join(dataDir, 'sites', `h${directoryId}`),
    corePath: join(dataDir, 'cores/6.8'),
    uid: 300_000 + directoryId,
    phpVersion: '8.3',
    address: 'shop.localhost',
    state: 'live',
    hasMultisite: false,
    hasLight404: true,
  })
  expect(await sites.all()).toEqual([site])
})

test('finds no site without content, and reads a changed site again', async () => {
  const sites = new HostedSites(made.database)
  sites.open(place)
  expect(await sites.find(siteId)).toBeUndefined()
  await settle()
  const site = await sites.find(siteId)
  expect(site?.state).toBe('live')
  expect(await sites.find(siteId)).toBe(site)
  await made.database.transaction((tx) => change(tx, { state: 'disabled' }))
  expect((await sites.find(siteId))?.state).toBe('disabled')
})

test('opens a closed site when its operation has ended, although no change announces that', async () => {
  await settle()
  const sites = new HostedSites(made.database)
  sites.open(place)
  const operation = await made.database.transaction(async (tx) => {
    const id = await enqueue(tx, configureSite, { siteId }, { siteId, hostId: place.hostId })
    await change(tx, { closed_by: id })
    return id
  })
  expect((await sites.find(siteId))?.isClosed).toBe(true)
  await made.database.transaction((tx) =>
    tx.updateTable('operations').set({ state: 'failed', finished_at: 1 }).where('id', '=', operation).execute(),
  )
  expect((await sites.find(siteId))?.isClosed).toBe(false)
})

test('serves visitors what was known last while the database is away, and keeps closed sites closed', async () => {
  const directoryId = await settle()
  const { database } = made
  let away = false
  const read = () => {
    if (away) throw new DatabaseSilent()
    return database.read
  }
  const lost = { ...database, dialect: 'postgres' as const, changes: { ...database.changes, version: () => undefined } }
  const held = new Set<number>()
  const sites = new HostedSites(Object.defineProperty(lost, 'read', { get: read }), {
    isHeld: (id) => held.has(id),
  })
  sites.open(place)
  // No visitor has asked for it yet.
  const awayAfter = async () => {
    away = true
    const found = await sites.serve(siteId).catch(() => undefined)
    away = false
    return found
  }
  await expect.poll(async () => (await awayAfter())?.state).toBe('live')
  await made.database.transaction((tx) => change(tx, { light_404: 1 }))
  expect((await sites.serve(siteId))?.hasLight404).toBe(true)
  away = true
  expect(await sites.serve(siteId)).toMatchObject({ siteId, hasLight404: true, isClosed: false })
  // Operations do not work on what may have changed.
  await expect(sites.find(siteId)).rejects.toThrow('does not respond')
  await expect(sites.serve(siteId + 1)).rejects.toThrow('does not respond')
  // An edge that knows a newer place looks elsewhere, and one that knows this place gets the site.
  expect((await sites.serve(siteId, directoryId))?.siteId).toBe(siteId)
  expect(await sites.serve(siteId, directoryId + 1)).toBeUndefined()
  held.add(siteId)
  expect((await sites.serve(siteId))?.isClosed).toBe(true)
  sites.close()
})

test('keeps its sites for a start without the database, closed as long as their PHP is held', async () => {
  const directoryId = await settle()
  const database = { ...made.database, dialect: 'postgres' as const }
  const held = new Set<number>()
  const kept: (readonly HostedRecord[])[] = []
  const sites = new HostedSites(database, {
    isHeld: (id) => held.has(id),
    keep: async (records) => kept.push(records),
  })
  sites.open(place)
  await expect.poll(() => kept.at(-1)).toMatchObject([{ siteId, directoryId, state: 'live', closed: 0 }])
  held.add(siteId)
  await sites.keepClosed()
  expect(kept.at(-1)).toMatchObject([{ siteId, closed: 1 }])
  sites.close()
  // On SQLite, nothing is kept.
  const others: unknown[] = []
  const alone = new HostedSites(made.database, { keep: async (records) => others.push(records) })
  alone.open(place)
  await alone.keepClosed()
  expect(others).toEqual([])
})

test('serves kept sites in their place, closed as they were, and asks the database only when it is opened', async () => {
  const directoryId = await settle()
  let queries = 0
  const read = () => {
    queries++
    return made.database.read
  }
  const database = { ...made.database }
  const sites = new HostedSites(Object.defineProperty(database, 'read', { get: read }))
  const record = { siteId, directoryId, coreVersion: '6.8', phpVersion: '8.3', state: 'live', closed: 0 }
  sites.openKept(place.siteDirectories, [record, { ...record, siteId: 900, closed: 1 }] as never)
  expect(await sites.serve(siteId, directoryId)).toMatchObject({ siteId, isClosed: false })
  expect((await sites.serve(900))?.isClosed).toBe(true)
  expect(await sites.serve(siteId, directoryId + 1)).toBeUndefined()
  await expect(sites.serve(901)).rejects.toThrow(HostStarting)
  expect(queries).toBe(0)
  sites.open(place)
  expect((await sites.serve(siteId, directoryId))?.siteId).toBe(siteId)
  expect(await sites.serve(900)).toBeUndefined()
})

test('serves a site only in its place, and reads a place that it remembers wrongly again', async () => {
  const directoryId = await settle()
  const sites = new HostedSites(made.database)
  sites.open(place)
  expect((await sites.serve(siteId))?.siteId).toBe(siteId)
  expect((await sites.serve(siteId, directoryId))?.siteId).toBe(siteId)
  expect(await sites.serve(siteId, directoryId + 1)).toBeUndefined()
  // No change announces the new number.
  await made.database.transaction((tx) =>
    tx
      .updateTable('site_homes')
      .set({ id: directoryId + 1 })
      .where('id', '=', directoryId)
      .execute(),
  )
  expect((await sites.serve(siteId, directoryId + 1))?.siteDirectory).toContain(`h${directoryId + 1}`)
  expect(await sites.serve(siteId, directoryId)).toBeUndefined()
})

test('makes callers wait until the sites are open, and rejects after ten seconds', async () => {
  await settle()
  const sites = new HostedSites(made.database)
  const asked = sites.find(siteId)
  sites.open(place)
  expect((await asked)?.siteId).toBe(siteId)
  vi.useFakeTimers()
  const inVain = expect(new HostedSites(made.database).find(siteId)).rejects.toThrow(HostStarting)
  await vi.advanceTimersByTimeAsync(10_000)
  await inVain
})
