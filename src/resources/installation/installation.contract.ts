import { readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { change, directoryOf, isPurged, loseBackups, rows } from '../../../test/support/job-worlds.ts'
import { at, type Examples, type Sample, type Scene, unique, type World } from '../../../test/support/samples.ts'
import { EMPTY_DATACENTER, siteIs, write } from '../../../test/support/scenes.ts'
import type { HostState } from '../../hosting/host-state.ts'
import { jobs as definitions } from '../../jobs.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { requestCancel } from '../../platform/operations/control.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { firstAccount, setSuspended } from '../account/account.store.ts'
import { ensureAccount } from '../account/account.ts'
import { deleteRemoval, insertRemoval, setRemovalOperation } from '../account/removal.store.ts'
import { completeBackup, insertBackup } from '../backups/backup.store.ts'
import { nameInRepository } from '../backups/backup.ts'
import { backupIn } from '../backups/backups.fixture.ts'
import { takeBackup } from '../backups/take/take-backup.ts'
import { putAccountAccess } from '../collaborators/account-access.store.ts'
import { zoneIn } from '../dns/dns.fixture.ts'
import { findSite } from '../sites/site.store.ts'
import { removeAccountJob } from './accounts/remove-account.job.ts'
import { drainHostJob } from './hosts/drain-host.job.ts'
import { rebalanceHostsJob } from './hosts/rebalance-hosts.job.ts'
import { replaceHostJob } from './hosts/replace-host.job.ts'
import { listRecordsBackups, recordsRepository, verifyRecords } from './records-backup.ts'
import { relocateSiteJob } from './relocate/relocate-site.job.ts'
import { relocationJobs, relocationRefusals } from './relocate/relocation.fixture.ts'

/** The friend's zone has a record of the owner's site, as only a fault can make it. */
async function withSharedZone({ api, friend: { accountId }, siteId }: Scene): Promise<number> {
  await zoneIn(api, { accountId, siteId })
  return accountId
}

/** A worker has taken up the removal of the friend. */
async function withRunningRemoval({ api, friend }: Scene): Promise<number> {
  const { accountId, email } = friend
  await api.database.transaction(async (tx) => {
    const asked = { accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt: 1 }
    const removalId = await insertRemoval(tx, asked)
    const id = await enqueue(tx, removeAccountJob, { accountId, removalId, email }, { afterMs: 86_400_000 })
    await tx.updateTable('operation_steps').set({ started_at: 1 }).where('operation_id', '=', id).execute()
    await setRemovalOperation(tx, removalId, id)
  })
  return accountId
}

/** Changes the only host, and restores it after the case. */
async function lostHost(scene: Scene): Promise<() => Promise<unknown>> {
  const set = (state: HostState) => write(scene, (tx) => tx.updateTable('hosts').set({ state }).execute())
  await set('lost')
  return () => set('active')
}

/** Cordons all hosts, and restores them after the case. */
async function aloneHost(scene: Scene): Promise<() => Promise<unknown>> {
  const set = (state: HostState) => write(scene, (tx) => tx.updateTable('hosts').set({ state }).execute())
  await set('cordoned')
  return () => set('active')
}

/** A backup of files and database, complete in the control database. */
async function backUpSite({ api, host, site: siteId }: JobWorld): Promise<void> {
  const directory = await host.services.siteDirectories.ofSite(siteId)
  const core = host.services.siteDirectories.corePath(directory as NonNullable<typeof directory>)
  for (const folder of ['wp-admin', 'wp-includes']) await mkdir(join(core, folder), { recursive: true })
  for (const kind of ['fs', 'db'] as const) {
    const now = Date.now()
    const backup = await api.database.transaction((tx) =>
      insertBackup(tx, { siteId, kind, origin: 'scheduled', createdBy: null, deleteAt: now + 1e9, now }),
    )
    const order = { siteId, name: nameInRepository(backup), kind, signal: AbortSignal.timeout(60_000) }
    const taken = await takeBackup(host.services, order)
    await api.database.transaction((tx) => completeBackup(tx, backup, taken, now))
  }
}

const onAccount = (verb: string) => (world: World) => `/v1/installation/accounts/${world.stranger.accountId}/${verb}`

/** Creates an account that nothing else uses. */
const another = async (scene: Scene) => (await scene.api.person(emailIn(scene))).accountId

const emailIn = ({ number }: Scene) => `suspended-${number}@example.com`

/** Creates an account whose removal waits. */
async function leavingIn(scene: Scene, begunAt: number | null = null): Promise<number> {
  const accountId = await another(scene)
  await scene.api.database.transaction(async (tx) => {
    // Some scenes have several examples.
    await tx.deleteFrom('account_removals').where('account_id', '=', accountId).execute()
    await insertRemoval(tx, { accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt })
    await setSuspended(tx, accountId, 1)
  })
  return accountId
}

/** Asks to drain a host, while all hosts use one backup storage. */
function drain({ api }: Scene, name: string, body: Record<string, unknown> = {}) {
  Object.assign(api.config, { backupDir: '/backups' })
  return { params: { name }, body }
}

/** Asks to rebalance hosts, of which one has all visits, and another one half as many places. */
async function imbalance({ api, owner }: Scene) {
  Object.assign(api.config, { backupDir: '/backups' })
  const { read } = api.database
  const { id } = await read.selectFrom('hosts').select('id').where('name', '=', 'h').executeTakeFirstOrThrow()
  const sites = [
    { id: await api.site(owner, `busy-${unique()}`), views: 9 },
    { id: await api.site(owner, `quiet-${unique()}`), views: 1 },
  ]
  const { datacenterCode: datacenters = '' } = (await findSite(read, sites[0]?.id as number)) ?? {}
  const values = { name: `half-${unique()}`, address: '', datacenters, max_sites: 5e5, facts: '{}', seen_at: HEARD }
  const home = { host_id: id, core_version: '6.8', install: 'wordpress', created_at: 1, state: 'taken' } as const
  await api.database.transaction(async (tx) => {
    // Of an earlier example.
    const open = tx.updateTable('operations').set({ state: 'canceled', finished_at: Date.now() })
    await open.where('type', '=', rebalanceHostsJob.name).where('finished_at', 'is', null).execute()
    await tx.insertInto('hosts').values(values).execute()
    for (const { id: site_id, views } of sites) {
      await tx.updateTable('sites').set({ host_id: id }).where('id', '=', site_id).execute()
      await tx
        .insertInto('site_homes')
        .values({ ...home, site_id })
        .execute()
      const day = { site_id, day: dayOf(Date.now()), views, people: 1 }
      await tx.insertInto('page_view_days').values(day).execute()
    }
  })
  return {}
}

/** Hosts are being rebalanced. */
async function withRebalance({ api }: Scene) {
  Object.assign(api.config, { backupDir: '/backups' })
  await api.database.transaction((tx) => enqueue(tx, rebalanceHostsJob, { moves: [] }, { afterMs: 86_400_000 }))
  return {}
}

/** Asks to move the site of the scene, while all hosts use one backup storage. */
function moveTo({ api, siteId: id }: Scene, host?: string) {
  Object.assign(api.config, { backupDir: '/backups' })
  return { params: { id }, body: { ...(host && { host }) } }
}

/**
 * Creates a host for sites of the scene's datacenter, which has less room than the usual one.
 * @returns its name
 */
async function roomyHost({ api, siteId }: Scene): Promise<string> {
  const name = `roomy-${unique()}`
  const { datacenterCode: datacenters = '' } = (await findSite(api.database.read, siteId)) ?? {}
  const values = { name, address: '', datacenters, max_sites: 9, facts: '{}', seen_at: Date.UTC(2100, 0) }
  await api.database.transaction((tx) => tx.insertInto('hosts').values(values).execute())
  return name
}

/** The move of the site waits. */
const withRelocation = ({ api, owner: { accountId }, siteId }: Scene) =>
  api.database.transaction(async (tx) => {
    const hostId = (await findSite(tx, siteId))?.hostId ?? null
    await enqueue(tx, relocateSiteJob, { siteId, toHostId: 0 }, { siteId, accountId, hostId, afterMs: 86_400_000 })
  })

/**
 * Creates a host that gets no sites in any state.
 * @returns its name
 */
async function hostIn({ api }: Scene, state: HostState, seenAt = 0): Promise<string> {
  const name = `${state}-${unique()}`
  const values = { name, state, address: '', datacenters: '', max_sites: 0, facts: '{}', seen_at: seenAt }
  await api.database.transaction((tx) => tx.insertInto('hosts').values(values).execute())
  return name
}

/**
 * Creates a host whose sites are being moved.
 * @returns its name
 */
async function beingMoved(scene: Scene, job: typeof drainHostJob | typeof replaceHostJob): Promise<string> {
  const name = await hostIn(scene, 'cordoned')
  await scene.api.database.transaction((tx) =>
    enqueue(tx, job as typeof replaceHostJob, { host: name, to: 'elsewhere' }, { afterMs: 86_400_000 }),
  )
  return name
}

/** A time at which a host reported, however long the walk takes. */
const HEARD = Date.UTC(2100, 0)

/** Asks to lose a host that reports. */
async function loseRunning(scene: Scene) {
  const name = await hostIn(scene, 'active', HEARD)
  return { params: { name }, body: { confirm: name } }
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getInstallation', path: at('/v1/installation') },
  { endpoint: 'listInstallationAccounts', path: at('/v1/installation/accounts') },
  { endpoint: 'checkInstallation', path: at('/v1/installation/checks') },
  { endpoint: 'suspendAccount', path: onAccount('suspend'), isOfOperator: true },
  { endpoint: 'resumeAccount', path: onAccount('resume'), isOfOperator: true },
  { endpoint: 'getAccountRemoval', path: onAccount('removal'), isOfOperator: true },
  { endpoint: 'removeAccount', path: onAccount('removal'), body: ({ stranger }) => ({ email: stranger.email }), isOfOperator: true },
  { endpoint: 'cancelAccountRemoval', path: onAccount('removal'), isOfOperator: true },
  { endpoint: 'cordonHost', path: at('/v1/installation/hosts/h/cordon'), isOfOperator: true },
  { endpoint: 'uncordonHost', path: at('/v1/installation/hosts/h/uncordon'), isOfOperator: true },
  // Its hosts share no storage.
  { endpoint: 'drainHost', path: at('/v1/installation/hosts/h/drain'), body: () => ({}), isOfOperator: true, status: 400 },
  { endpoint: 'replaceHost', path: at('/v1/installation/hosts/h/replace'), body: () => ({ to: 'h' }), isOfOperator: true, status: 400 },
  // The only host.
  { endpoint: 'rebalanceHosts', path: at('/v1/installation/hosts/rebalance'), body: () => ({}), isOfOperator: true, status: 400 },
  { endpoint: 'loseHost', path: at('/v1/installation/hosts/h/lost'), body: () => ({ confirm: 'h' }), isOfOperator: true, status: 400 },
  { endpoint: 'returnHost', path: at('/v1/installation/hosts/h/return'), isOfOperator: true, status: 400 },
  { endpoint: 'removeHost', path: at('/v1/installation/hosts/h'), isOfOperator: true, status: 400 },
  { endpoint: 'listSiteHosts', path: ({ site }) => `/v1/sites/${site}/hosts`, isOfOperator: true },
  { endpoint: 'relocateSite', path: ({ site }) => `/v1/sites/${site}/relocate`, body: () => ({}), isOfOperator: true, status: 400 },
]

const examples: Examples = {
  suspendAccount: async (scene) => ({ params: { id: await another(scene) } }),
  async resumeAccount(scene) {
    const id = await another(scene)
    await scene.api.database.transaction((tx) => setSuspended(tx, id, 1))
    return { params: { id } }
  },
  getAccountRemoval: async (scene) => ({ params: { id: await another(scene) } }),
  removeAccount: async (scene) => ({ params: { id: await another(scene) }, body: { email: emailIn(scene) } }),
  cancelAccountRemoval: async (scene) => ({ params: { id: await leavingIn(scene) } }),
  cordonHost: async (scene) => ({ params: { name: await hostIn(scene, 'active') } }),
  drainHost: async (scene) => drain(scene, await hostIn(scene, 'active'), { to: 'h' }),
  replaceHost: async (scene) => drain(scene, await hostIn(scene, 'active'), { to: 'h' }),
  rebalanceHosts: imbalance,
  relocateSite: async (scene) => moveTo(scene, await roomyHost(scene)),
  // Repeated: on SQLite, no host is silent.
  async loseHost(scene) {
    const name = await hostIn(scene, 'lost')
    return { params: { name }, body: { confirm: name } }
  },
  returnHost: async (scene) => ({ params: { name: await hostIn(scene, 'lost') } }),
  removeHost: async (scene) => ({ params: { name: await hostIn(scene, 'lost') } }),
  uncordonHost: async (scene) => ({ params: { name: await hostIn(scene, 'cordoned') } }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['suspendAccount'], code: 'operator_account', example: async ({ api }) => ({ params: { id: (await firstAccount(api.database.read))?.id ?? 0 } }) },
  { of: ['removeAccount'], code: 'operator_account', example: async ({ api }) => ({ params: { id: (await firstAccount(api.database.read))?.id ?? 0 }, body: { email: 'x' } }) },
  { of: ['removeAccount'], code: 'account_name_differs', example: ({ owner }) => ({ params: { id: owner.accountId }, body: { email: 'nobody@example.com' } }) },
  { of: ['removeAccount'], code: 'account_zone_shared', example: async (scene) => ({ params: { id: await withSharedZone(scene) }, body: { email: scene.friend.email } }) },
  { of: ['removeAccount', 'cancelAccountRemoval'], code: 'account_removal_begun', example: async (scene) => ({ params: { id: await withRunningRemoval(scene) }, body: { email: scene.friend.email } }) },
  { of: ['resumeAccount'], code: 'account_removal_waits', example: async (scene) => ({ params: { id: await leavingIn(scene) } }) },
  { of: ['cordonHost', 'uncordonHost'], code: 'host_lost', prepare: lostHost },
  { of: ['drainHost'], code: 'host_lost', example: (scene) => drain(scene, 'h'), prepare: lostHost },
  { of: ['loseHost'], code: 'host_name_differs', example: async (scene) => ({ params: { name: await hostIn(scene, 'active') }, body: { confirm: 'h' } }) },
  { of: ['loseHost'], code: 'host_alone', example: () => ({ params: { name: 'h' }, body: { confirm: 'h' } }), prepare: aloneHost },
  { of: ['loseHost'], code: 'host_running', example: loseRunning },
  { of: ['returnHost'], code: 'host_not_lost', example: () => ({ params: { name: 'h' } }) },
  { of: ['removeHost'], code: 'host_running', example: async (scene) => ({ params: { name: await hostIn(scene, 'active', HEARD) } }) },
  { of: ['removeHost'], code: 'host_has_sites', example: () => ({ params: { name: 'h' } }), prepare: lostHost },
  { of: ['drainHost'], code: 'host_unknown', example: async (scene) => drain(scene, 'h', { to: 'nobody' }) },
  { of: ['drainHost'], code: 'drain_window', example: async (scene) => drain(scene, 'h', { window: '01:00-01:00' }) },
  { of: ['drainHost'], code: 'drain_deadline', example: async (scene) => drain(scene, 'h', { deadline: '2020-01-01T05:00:00Z' }) },
  { of: ['replaceHost'], code: 'host_lost', example: async (scene) => drain(scene, await hostIn(scene, 'lost'), { to: 'h' }) },
  { of: ['replaceHost'], code: 'replacement_unfit', example: async (scene) => drain(scene, 'h', { to: await hostIn(scene, 'cordoned') }) },
  { of: ['replaceHost'], code: 'drain_window', example: async (scene) => drain(scene, 'h', { to: 'h', window: '01:00-01:00' }) },
  { of: ['replaceHost'], code: 'drain_deadline', example: async (scene) => drain(scene, 'h', { to: 'h', deadline: '2020-01-01T05:00:00Z' }) },
  { of: ['replaceHost'], code: 'host_draining', example: async (scene) => drain(scene, await beingMoved(scene, drainHostJob), { to: 'h' }) },
  { of: ['drainHost'], code: 'host_draining', example: async (scene) => drain(scene, await beingMoved(scene, replaceHostJob)) },
  { of: ['rebalanceHosts'], code: 'rebalance_open', example: withRebalance },
  { of: ['relocateSite', 'drainHost', 'replaceHost', 'rebalanceHosts'], code: 'storage_not_shared', prepare: async ({ api }) => Object.assign(api.config, { backupDir: undefined }) },
  { of: ['relocateSite'], code: 'host_unknown', example: (scene) => moveTo(scene, 'nobody') },
  { of: ['relocateSite'], code: 'host_unfit', example: async (scene) => moveTo(scene, await hostIn(scene, 'cordoned')) },
  { of: ['relocateSite'], code: 'site_on_host', example: (scene) => moveTo(scene, 'h') },
  { of: ['relocateSite'], code: 'relocation_open', prepare: withRelocation },
  { of: ['relocateSite'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['relocateSite'], code: 'no_host', example: (scene) => moveTo(scene), prepare: siteIs({ datacenter_code: EMPTY_DATACENTER }) },
]

const jobs: Record<string, JobSample> = {
  ...relocationJobs,

  'account.remove': {
    // without sites: their hosts remove them, as remove-account.test.ts sees
    async prepare(world) {
      const { api, mate, owner, site } = world
      await api.collaborate(mate, site, ['wp_access'])
      await mate.call('POST', '/v1/webhooks', { url: 'https://hooks.example.com' })
      await zoneIn(api, { accountId: mate.accountId, siteId: site })
      const removalId = await change(world, async (tx) => {
        const { account } = await ensureAccount(tx, `helper-of-${mate.email}`, 1)
        const access = { ownerAccountId: mate.accountId, accountId: account.id, addToAllNew: true, createSite: true }
        await putAccountAccess(tx, { ...access, roles: [] })
        const asked = { accountId: mate.accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt: null }
        return insertRemoval(tx, asked)
      })
      const input = { accountId: mate.accountId, removalId, email: mate.email }
      return { input, options: { siteId: null, accountId: owner.accountId } }
    },
    async done({ api, mate, owner }) {
      const { read } = api.database
      const left = read.selectFrom('accounts').select('email').where('email', 'like', `%${mate.email}`)
      expect(await left.execute()).toEqual([])
      const log = read.selectFrom('activity').select(['message', 'account_id']).orderBy('id')
      const entries = (await log.where('message', 'like', `Removed the account %`).execute()).slice(-2)
      expect(entries).toEqual([
        {
          message: `Removed the account helper-of-${mate.email}, which only had access to ${mate.email}`,
          account_id: owner.accountId,
        },
        { message: `Removed the account ${mate.email}`, account_id: owner.accountId },
      ])
    },
  },

  'hosts.evacuate': {
    async prepare(world) {
      const { api, site } = world
      for (const kind of ['fs', 'db'] as const) await backupIn(api, site, { kind })
      await change(world, async (tx) => {
        const values = { address: '', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0, state: 'lost' } as const
        const host = tx.insertInto('hosts').values({ name: `lost-with-${site}`, ...values })
        const { id } = await host.returning('id').executeTakeFirstOrThrow()
        await tx.updateTable('sites').set({ host_id: id }).where('id', '=', site).execute()
        const directory = { host_id: id, core_version: '6.8', install: 'wordpress', created_at: 1 }
        await tx
          .insertInto('site_homes')
          .values({ ...directory, site_id: site, state: 'taken' })
          .execute()
      })
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      const site = await findSite(world.api.database.read, world.site)
      expect(site?.hostId).toBe(world.host.hostId)
      expect(await rows(world, 'operations', 'type', 'site.bring_back', world.site)).toBe(1)
      // The recovery keeps the site closed until it ends, which it does not do here.
      const { closed_by } = await world.api.database.read
        .selectFrom('sites')
        .select('closed_by')
        .where('id', '=', world.site)
        .executeTakeFirstOrThrow()
      await change(world, (tx) => requestCancel(tx, closed_by as number, Date.now(), definitions))
    },
  },

  'records.back_up': {
    async prepare() {
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done({ api }) {
      const repository = recordsRepository(api.backups)
      const [newest] = await listRecordsBackups(repository)
      expect(await verifyRecords(repository, newest?.name as string)).toBeGreaterThan(0)
    },
  },

  'site.bring_back': {
    async prepare(world) {
      const { host, site } = world
      const directory = await host.services.siteDirectories.claim(site, await host.services.template(), [])
      host.setTitle(directory.path, 'Kept')
      await backUpSite(world)
      await rm(directory.path, { recursive: true })
      return { input: { siteId: site } }
    },
    async done(world) {
      const path = (await directoryOf(world))?.path as string
      expect(world.host.title(path)).toBe('Kept')
      expect(readFileSync(join(path, 'web/wp-config.php'), 'utf8')).toBe('<?php')
      expect(await rows(world, 'activity', 'action', 'site.brought_back', world.site)).toBe(1)
      expect(await isPurged(world)).toBe(true)
      expect(world.host.held.has(world.site)).toBe(false)
    },
    async left({ host, site }) {
      expect(host.held.has(site)).toBe(false)
    },
  },
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'account.remove', says: 'The removal was canceled', wrong: (world, { removalId }) => change(world, (tx) => deleteRemoval(tx, removalId)) },
  { type: 'site.bring_back', says: "The site has no usable backup of its files", wrong: loseBackups },
  ...relocationRefusals,
]

const causes: Contract['causes'] = { site_relocated: { cause: 'site.relocate' } }

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
