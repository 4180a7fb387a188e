/** Samples and refusals of the jobs that move a site between hosts, for `installation.contract.ts`. */
import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import type { JobRefusal, JobSample, JobWorld } from '../../../../test/support/contract.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { change, deleteSite, loseBackups, rows, sendAway } from '../../../../test/support/job-worlds.ts'
import { unique } from '../../../../test/support/samples.ts'
import { insertCopy } from '../../../hosting/site-directories/directory.store.ts'
import { startWorker, until } from '../../../platform/operations/harness.ts'
import { takeBackup } from '../../backups/take/take-backup.ts'
import { changeSite, findSite } from '../../sites/site.store.ts'
import { receiveFiles, receiveSite } from './receive-site.job.ts'
import { relocateSiteJob } from './relocate-site.job.ts'
import { removeCopy } from './remove-copy.job.ts'

/** The other host of each world. */
const others = new WeakMap<JobWorld, FakeHost>()
const otherOf = (world: JobWorld) => others.get(world) as FakeHost

/** Adds a host that gets no new sites. */
async function addHost(world: JobWorld): Promise<FakeHost> {
  const values = { address: '', datacenters: '', max_sites: 0, facts: '{}', seen_at: Date.UTC(2100, 0) }
  const { id } = await world.api.database.transaction((tx) =>
    tx
      .insertInto('hosts')
      .values({ name: `other-${unique()}`, ...values })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  const other = await fakeHost(world.api, { asked: id })
  world.leftovers.push(other.close)
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
  for (const { hostId, services } of [other, world.host]) {
    const definitions = [relocateSiteJob, receiveFiles, receiveSite, removeCopy]
    const worker = startWorker(world.api.database, definitions, {
      ...{ runner: 'host', hostId, services, lookEveryMs: 20 },
    })
    world.leftovers.unshift(() => worker.stop(5000))
  }
  const hosts = world.api.database.read.selectFrom('hosts').select(['id', 'name'])
  const [here, there] = await hosts.where('id', 'in', [world.host.hostId, other.hostId]).orderBy('id').execute()
  return { other, here: here?.name as string, there: there?.name as string }
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
      const other = await addHost(world)
      await settle(world, world.host)
      const worker = startWorker(world.api.database, [receiveFiles, receiveSite, removeCopy], {
        ...{ runner: 'host', hostId: other.hostId, services: other.services, lookEveryMs: 20 },
      })
      world.leftovers.unshift(() => worker.stop(5000))
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
  { type: 'site.receive_files', says: 'The copy of the site was removed', wrong: forgetCopy },
  { type: 'site.receive_files', says: 'The new host cannot read the backup storage', wrong: loseBackups },
  { type: 'site.receive', says: 'The site was deleted', after: 'content', wrong: (world) => deleteSite(world) },
]
