/** Samples and refusals of the jobs that move a site between hosts, for `installation.contract.ts`. */
import { existsSync } from 'node:fs'
import type { TSchema } from 'typebox'
import { expect } from 'vitest'
import type { JobRefusal, JobSample, JobWorld } from '../../../../test/support/contract.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { openAsHost } from '../../../../test/support/host-login.ts'
import { change, deleteSite, loseBackups, rows, sendAway } from '../../../../test/support/job-worlds.ts'
import { unique } from '../../../../test/support/samples.ts'
import { insertCopy } from '../../../hosting/site-directories/directory.store.ts'
import type { Definition } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { startWorker, until } from '../../../platform/operations/harness.ts'
import { takeBackup } from '../../backups/take/take-backup.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { purgeSite } from '../../sites/remove/remove-site.job.ts'
import { changeSite, findSite, markDeleted, unmarkDeleted } from '../../sites/site.store.ts'
import { receiveFiles, receiveSite } from './receive-site.job.ts'
import { relocateSiteJob } from './relocate-site.job.ts'
import { removeCopy } from './remove-copy.job.ts'

/** The other host of each world. */
const others = new WeakMap<JobWorld, FakeHost>()
const otherOf = (world: JobWorld) => others.get(world) as FakeHost

/** Adds a host that gets no new sites. It has a login of its own if the host of the world has one. */
async function addHost(world: JobWorld): Promise<FakeHost> {
  const name = `other-${unique()}`
  const values = { name, address: '', datacenters: '', max_sites: 0, facts: '{}', seen_at: Date.UTC(2100, 0) }
  const { id } = await world.api.database.transaction((tx) =>
    tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow(),
  )
  const hasLogin = world.host.services.database !== world.api.database
  const database = hasLogin ? await openAsHost(world.api, name) : world.api.database
  const other = await fakeHost(world.api, { asked: id, database })
  world.leftovers.push(other.close)
  if (hasLogin) world.leftovers.push(() => database.close())
  others.set(world, other)
  return other
}

/** Gives the site to a host. */
async function settle(world: JobWorld, host: FakeHost): Promise<void> {
  const { site } = world
  await change(world, async (tx) => {
    await tx.updateTable('sites').set({ host_id: host.hostId }).where('id', '=', site).execute()
    await changeSite(tx, site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1)
  })
  host.setTitle(await host.giveDirectory(site), 'mine')
}

/** Puts the site on another host, with backups and a copy on the host of the world. */
async function copied(world: JobWorld) {
  const other = await addHost(world)
  await settle(world, other)
  const { site: siteId, host } = world
  for (const kind of ['fs', 'db'] as const)
    await takeBackup(other.services, { siteId, name: kind, kind, signal: AbortSignal.timeout(60_000) })
  const { id } = await world.api.database.transaction((tx) => insertCopy(tx, siteId, { hostId: host.hostId, now: 1 }))
  copies.set(world, id)
  const name = (await findSite(world.api.database.read, siteId))?.name as string
  return { directoryId: id, siteId, siteName: name, files: 'fs' }
}

const ofCopy = { siteId: null, accountId: null }
/** The number of the copy in each world. */
const copies = new WeakMap<JobWorld, number>()
/** Returns the folder of the copy, or `undefined` if its record is gone. */
const copyOf = async (world: JobWorld) =>
  (await world.host.services.siteDirectories.copy(copies.get(world) as number).catch(() => undefined))?.path
const isElsewhere = async (world: JobWorld) =>
  expect((await findSite(world.api.database.read, world.site))?.hostId).toBe(otherOf(world).hostId)

/**
 * Puts the site on another host, and lets both hosts work.
 * @returns the other host, and the name of that of the world
 */
async function awayFromWorld(world: JobWorld) {
  const other = await addHost(world)
  await settle(world, other)
  Object.assign(world.host.services.config, { backupDir: '/backups' })
  for (const each of [other, world.host]) workOn(world, each, [relocateSiteJob, receiveFiles, receiveSite, removeCopy])
  const hosts = world.api.database.read.selectFrom('hosts').select(['id', 'name'])
  const [here, there] = await hosts.where('id', 'in', [world.host.hostId, other.hostId]).orderBy('id').execute()
  return { other, here: here?.name as string, there: there?.name as string }
}

/** Adds a host that works, for the move of the site. */
async function moveOf(world: JobWorld) {
  const other = await addHost(world)
  await settle(world, world.host)
  workOn(world, other, [receiveFiles, receiveSite, removeCopy])
  return { other }
}

/** Lets a host run operations of some types. */
function workOn(
  world: JobWorld,
  { hostId, services }: FakeHost,
  definitions: readonly Definition<TSchema, HostServices>[],
): void {
  const worker = startWorker(services.database, definitions, {
    ...{ runner: 'host', hostId, services, lookEveryMs: 20 },
  })
  world.leftovers.unshift(() => worker.stop(5000))
}

async function hasCome(world: JobWorld) {
  expect((await findSite(world.api.database.read, world.site))?.hostId).toBe(world.host.hostId)
  const path = (await world.host.services.siteDirectories.ofSite(world.site))?.path as string
  expect(world.host.title(path)).toBe('mine')
}

export const relocationJobs: Record<string, JobSample> = {
  'host.drain': {
    async prepare(world) {
      const { other, here, there } = await awayFromWorld(world)
      await change(world, (tx) =>
        tx.updateTable('hosts').set({ state: 'cordoned' }).where('id', '=', other.hostId).execute(),
      )
      return { input: { host: there, to: here }, options: { siteId: null, hostId: null } }
    },
    done: hasCome,
  },

  'host.replace': {
    async prepare(world) {
      const { other, here, there } = await awayFromWorld(world)
      await change(world, (tx) =>
        tx.updateTable('hosts').set({ state: 'cordoned' }).where('id', '=', other.hostId).execute(),
      )
      return { input: { host: there, to: here }, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      await hasCome(world)
      const { hostId } = otherOf(world)
      const hosts = world.api.database.read.selectFrom('hosts').select('state').where('id', '=', hostId)
      expect(await hosts.execute()).toEqual([{ state: 'removed' }])
      const homes = world.api.database.read.selectFrom('site_homes').select('id').where('host_id', '=', hostId)
      expect(await homes.execute()).toEqual([])
      expect(otherOf(world).directoriesOnDisk()).toEqual([])
    },
  },

  'hosts.rebalance': {
    async prepare(world) {
      const { other, here } = await awayFromWorld(world)
      const moves = [{ siteId: world.site, fromHostId: other.hostId, to: here }]
      return { input: { moves }, options: { siteId: null, hostId: null } }
    },
    done: hasCome,
  },

  'site.relocate': {
    async prepare(world) {
      const { other } = await moveOf(world)
      return { input: { siteId: world.site, toHostId: other.hostId } }
    },
    async done(world) {
      const other = otherOf(world)
      await isElsewhere(world)
      const path = (await other.services.siteDirectories.ofSite(world.site))?.path as string
      expect([other.title(path), other.held.size]).toEqual(['mine', 0])
      expect(await rows(world, 'activity', 'action', 'site.relocated', world.site)).toBe(1)
      expect(await rows(world, 'events', 'type', 'site_relocated', world.site)).toBe(1)
      // The copies of failed attempts go, and the directory that was left stays for a day.
      await until(() => other.directoriesOnDisk().length === 1)
      expect(world.host.directoriesOnDisk()).toHaveLength(1)
    },
    async left(world) {
      const site = await findSite(world.api.database.read, world.site)
      const host = site?.hostId === world.host.hostId ? world.host : otherOf(world)
      const path = (await host.services.siteDirectories.ofSite(world.site))?.path as string
      expect([host.title(path), host.held.size]).toEqual(['mine', 0])
    },
  },

  'site.relocate_deleted': {
    async prepare(world) {
      const { other } = await moveOf(world)
      workOn(world, world.host, [removeCopy])
      // It waits for the end of its time in the trash.
      await change(world, async (tx) => {
        await markDeleted(tx, world.site, 1)
        const target = { siteId: world.site, hostId: world.host.hostId }
        await enqueue(tx, purgeSite, { siteId: world.site }, { ...target, runAt: Date.UTC(2100, 0) })
      })
      return { input: { siteId: world.site, toHostId: other.hostId } }
    },
    async done(world) {
      const other = otherOf(world)
      const { read } = world.api.database
      const site = read.selectFrom('sites').select(['host_id', 'deleted_at']).where('id', '=', world.site)
      expect(await site.execute()).toEqual([{ host_id: other.hostId, deleted_at: 1 }])
      const path = (await other.services.siteDirectories.ofSite(world.site))?.path as string
      expect(other.title(path)).toBe('mine')
      const purge = read.selectFrom('operations').select('host_id').where('type', '=', purgeSite.name)
      expect(await purge.where('site_id', '=', world.site).execute()).toEqual([{ host_id: other.hostId }])
      await until(() => other.directoriesOnDisk().length === 1 && world.host.directoriesOnDisk().length === 0)
    },
    async left(world) {
      const { read } = world.api.database
      const site = await read.selectFrom('sites').select('host_id').where('id', '=', world.site).executeTakeFirst()
      const host = site?.host_id === world.host.hostId ? world.host : otherOf(world)
      const path = (await host.services.siteDirectories.ofSite(world.site))?.path as string
      expect(host.title(path)).toBe('mine')
    },
  },

  'site.receive_files': {
    prepare: async (world) => ({ input: await copied(world), options: ofCopy }),
    async done(world) {
      await isElsewhere(world)
      expect(existsSync((await copyOf(world)) as string)).toBe(true)
    },
  },

  'site.receive': {
    async prepare(world) {
      const input = { ...(await copied(world)), database: 'db', fromHostId: otherOf(world).hostId, page: null }
      return { input, options: ofCopy }
    },
    async done(world) {
      await isElsewhere(world)
      expect(world.host.title((await copyOf(world)) as string)).toBe('mine')
    },
  },

  'site.remove_copy': {
    async prepare(world) {
      const { files: _, ...copy } = await copied(world)
      await world.host.services.siteDirectories.makeCopy(copy)
      return { input: copy, options: ofCopy }
    },
    async done(world) {
      await isElsewhere(world)
      expect([await copyOf(world), world.host.directoriesOnDisk()]).toEqual([undefined, []])
    },
  },
}

/** A copy that no operation removes. */
const leaveCopy = (world: JobWorld) =>
  change(world, (tx) => insertCopy(tx, world.site, { hostId: otherOf(world).hostId, now: 1 }))
const stateOfOther = (state: 'active') => (world: JobWorld) =>
  change(world, (tx) => tx.updateTable('hosts').set({ state }).where('id', '=', otherOf(world).hostId).execute())

const forgetCopy = (world: JobWorld) =>
  change(world, (tx) => tx.deleteFrom('site_homes').where('state', '=', 'apart').execute())

// biome-ignore format: a table
export const relocationRefusals: readonly JobRefusal[] = [
  { type: 'host.replace', says: 'The host is kept. Sites that stay where they are', wrong: (_world, input) => { input.deadline = '2020-01-01T00:00:00Z' } },
  { type: 'host.replace', says: 'The host is kept: it is active', wrong: stateOfOther('active') },
  { type: 'host.replace', says: 'The host is kept, because copies of sites are left on it: 1', after: 'moves', wrong: leaveCopy },
  { type: 'host.replace', says: 'The host is kept: it has copies of sites', after: 'copies', wrong: leaveCopy },
  { type: 'site.relocate', says: 'The new host does not report', wrong: (world) => change(world, (tx) => tx.updateTable('hosts').set({ state: 'lost' }).where('id', '=', otherOf(world).hostId).execute()) },
  { type: 'site.relocate', says: 'The site is on', wrong: ({ host }, input) => { input.toHostId = host.hostId } },
  { type: 'site.relocate', says: 'The site was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.relocate', says: 'The site is on another host', wrong: (world) => sendAway(world) },
  { type: 'site.relocate', says: 'The copy of the site was removed', after: 'receive_content', wrong: forgetCopy },
  { type: 'site.relocate_deleted', says: 'The site is not in the trash', wrong: (world) => change(world, (tx) => unmarkDeleted(tx, world.site, 1)) },
  { type: 'site.relocate_deleted', says: 'The site is not in the trash', after: 'receive', wrong: (world) => change(world, (tx) => unmarkDeleted(tx, world.site, 1)) },
  { type: 'site.relocate_deleted', says: 'The site is on another host', wrong: (world) => sendAway(world) },
  { type: 'site.relocate_deleted', says: 'The new host does not report', wrong: (world) => change(world, (tx) => tx.updateTable('hosts').set({ state: 'lost' }).where('id', '=', otherOf(world).hostId).execute()) },
  { type: 'site.relocate_deleted', says: 'The copy of the site was removed', after: 'receive', wrong: forgetCopy },
  { type: 'site.receive_files', says: 'The copy of the site was removed', wrong: forgetCopy },
  { type: 'site.receive_files', says: 'The new host cannot read the backup storage', wrong: loseBackups },
  { type: 'site.receive', says: 'The site was deleted', after: 'content', wrong: (world) => deleteSite(world) },
]
