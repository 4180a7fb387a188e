/** One sample of each type of background work: what it is given, what must hold when it is done, and what is left when not. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { dayOf } from '../../src/platform/log-store/days.ts'
import type { EnqueueOptions } from '../../src/platform/operations/enqueue.ts'
import { sourceOfRequest } from '../../src/resources/collaborators/batch.job.ts'
import { COLLABORATOR_PASSWORD_PURPOSE } from '../../src/resources/collaborators/reset-collaborator-password.job.ts'
import { PASSWORD_PURPOSE } from '../../src/resources/sites/reset-admin-password.job.ts'
import { changeSite, findSite, markDeleted, writtenAddressOf } from '../../src/resources/sites/site.store.ts'
import { stagingAddress, switchSetting } from '../../src/resources/sites/site.ts'
import type { Person, TestApi } from '../support/api.ts'
import type { FakeHost } from '../support/fake-host.ts'

/** Of each run anew. */
export interface World {
  readonly api: TestApi
  readonly host: FakeHost
  readonly owner: Person
  readonly mate: Person
  /** Live in the records, and nowhere else. */
  readonly site: number
  /** Ids of mails that the mail server has. */
  readonly mails: Set<string>
  /** Times at which the logs were looked after. */
  readonly maintained: number[]
}

export interface JobSample {
  /** Makes what the work is about. @returns its input, and more than the options that each is enqueued with */
  prepare(world: World): Promise<{ input: object; options?: EnqueueOptions }>
  /** What must hold when it has succeeded, however often it was cut off. */
  done(world: World): Promise<void>
  /** Needed where a step has an undo: what must hold when it was given up. */
  left?(world: World): Promise<void>
}

const SECRET = 'correct horse battery'
const OLD = 1_000_000

const rows = async (
  { api }: World,
  table: 'activity' | 'events' | 'operations',
  column: 'action' | 'type',
  value: string,
  site: number,
) => {
  const found = await api.database.read.selectFrom(table).selectAll().where('site_id', '=', site).execute()
  return found.filter((row) => (row as unknown as Record<string, unknown>)[column] === value).length
}
const aboutSite = async ({ site }: World) => ({ input: { siteId: site } })
const change = (world: World, work: Parameters<TestApi['database']['transaction']>[0]) =>
  world.api.database.transaction(work)
const homeOf = ({ host, site }: World) => host.services.homes.ofSite(site)
const usage = ({ api, site }: World) =>
  api.database.read
    .selectFrom('site_statistics')
    .select('database_bytes')
    .where('site_id', '=', site)
    .executeTakeFirst()

/** Work that deletes old rows: `insert` puts one there, `count` tells how many there are. */
const forgets = (
  insert: (world: World) => Promise<unknown>,
  count: (world: World) => Promise<unknown[]>,
): JobSample => ({
  async prepare(world) {
    await insert(world)
    expect(await count(world)).toHaveLength(1)
    return { input: {} }
  },
  async done(world) {
    expect(await count(world)).toHaveLength(0)
  },
})

export const jobSamples: Record<string, JobSample> = {
  'site.provision': {
    async prepare(world) {
      await change(world, (tx) =>
        tx.updateTable('sites').set({ state: 'deploying', core_version: null }).where('id', '=', world.site).execute(),
      )
      return aboutSite(world)
    },
    async done(world) {
      const site = await findSite(world.api.database.read, world.site)
      expect(site).toMatchObject({ state: 'live', coreVersion: '6.8', deployError: null })
      expect(world.host.title((await homeOf(world))?.path as string)).toBe(site?.displayName)
      expect(await rows(world, 'activity', 'action', 'site.deployed', world.site)).toBe(1)
      expect(await rows(world, 'events', 'type', 'site_created', world.site)).toBe(1)
    },
    async left(world) {
      expect(await homeOf(world)).toBeUndefined()
      expect(world.host.homeFolders()).toEqual([])
      expect(world.host.running.has(world.site)).toBe(false)
      const site = await findSite(world.api.database.read, world.site)
      expect(site).toMatchObject({ state: 'deploying', deployError: expect.stringContaining('/retry') })
      expect(await rows(world, 'activity', 'action', 'site.deployed', world.site)).toBe(0)
      expect(await rows(world, 'events', 'type', 'site_created', world.site)).toBe(0)
    },
  },

  'site.configure': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      await change(world, async (tx) => {
        await changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1)
        await tx.updateTable('sites').set({ multisite: 1 }).where('id', '=', world.site).execute()
      })
      return aboutSite(world)
    },
    async done(world) {
      const site = await findSite(world.api.database.read, world.site)
      const address = stagingAddress(site?.name as string, world.api.config)
      expect(await writtenAddressOf(world.api.database.read, world.site)).toBe(address)
      expect(world.host.wordpress(world.site).movedTo).toBe(address)
      const config = readFileSync(join((await homeOf(world))?.path as string, 'web/wp-config.php'), 'utf8')
      expect(config.match(/define\('MULTISITE', true\)/g)).toHaveLength(1)
      expect(config).toContain(`define('DOMAIN_CURRENT_SITE', '${address}');`)
    },
  },

  'site.remove': {
    async prepare(world) {
      world.host.running.add(world.site)
      await change(world, (tx) => markDeleted(tx, world.site, Date.now()))
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.running.has(world.site)).toBe(false)
      expect(await rows(world, 'operations', 'type', 'site.purge', world.site)).toBe(1)
    },
  },

  'site.purge': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      world.host.running.add(world.site)
      await change(world, (tx) => markDeleted(tx, world.site, Date.now()))
      return aboutSite(world)
    },
    async done(world) {
      expect(await homeOf(world)).toBeUndefined()
      expect(world.host.homeFolders()).toEqual([])
      expect(world.host.running.has(world.site)).toBe(false)
      const routes = world.api.database.read.selectFrom('routes').select('host_name')
      expect(await routes.where('site_id', '=', world.site).execute()).toEqual([])
    },
  },

  'site.reset_admin_password': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      world.host.wordpress(world.site).hasDropIn = true
      const passwordSealed = world.host.services.sealer.seal(SECRET, PASSWORD_PURPOSE)
      return { input: { siteId: world.site, passwordSealed } }
    },
    async done(world) {
      expect([...world.host.wordpress(world.site).passwords]).toEqual([['admin', SECRET]])
      // it would know the old password
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
      expect(await rows(world, 'events', 'type', 'wp_admin_password_reset', world.site)).toBe(1)
    },
  },

  'site.switch_safe_mode': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      world.host.running.add(world.site)
      await change(world, async (tx) => {
        await changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1)
        await switchSetting(tx, world.site, 'safe_mode', true, 1)
      })
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.running.has(world.site)).toBe(false)
      const purges = world.api.database.read.selectFrom('cache_purges').select('page_epoch')
      expect(await purges.where('site_id', '=', world.site).execute()).toEqual([{ page_epoch: 2 }])
    },
  },

  'collaborator.sync_wp_user': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      await world.api.collaborate(world.mate, world.site, ['wp_access'])
      world.host.wordpress(world.site).users.set(world.mate.email, 'another-login')
      return { input: { siteId: world.site, accountId: world.mate.accountId, reassign: 'keep' } }
    },
    done: (world) => hasLogin(world, 'another-login'),
  },

  'collaborator.reset_password': {
    async prepare(world) {
      const { site, mate, host } = world
      const { input } = await (jobSamples['collaborator.sync_wp_user'] as JobSample).prepare(world)
      expect(input).toMatchObject({ siteId: site })
      const passwordSealed = host.services.sealer.seal(SECRET, COLLABORATOR_PASSWORD_PURPOSE)
      return { input: { siteId: site, accountId: mate.accountId, passwordSealed } }
    },
    async done(world) {
      await hasLogin(world, 'another-login')
      expect([...world.host.wordpress(world.site).passwords.values()]).toEqual([SECRET])
      expect(await rows(world, 'events', 'type', 'wp_admin_password_reset', world.site)).toBe(1)
    },
  },

  'statistics.measure_site': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      return aboutSite(world)
    },
    async done(world) {
      expect((await usage(world))?.database_bytes).toBeGreaterThan(1000)
    },
  },

  'statistics.measure': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect((await usage(world))?.database_bytes).toBeGreaterThan(1000)
    },
  },

  'site.flush_object_cache': {
    async prepare(world) {
      await world.host.giveHome(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
    },
  },

  'collaborator.batch_create': {
    async prepare(world) {
      const { mate, site } = world
      const input = { accountId: mate.accountId, siteIds: [site], roles: ['wp_access'], isInvited: false }
      return { input, options: { siteId: null, source: source(world) } }
    },
    async done(world) {
      expect(await membersOf(world)).toEqual([world.mate.accountId])
      expect(await rows(world, 'events', 'type', 'collaborator_added', world.site)).toBe(1)
      expect(await outcomes(world)).toEqual(['added'])
    },
  },

  'collaborator.batch_destroy': {
    async prepare(world) {
      const { mate, site, api } = world
      await api.collaborate(mate, site, ['wp_access'])
      const other = await api.site(world.owner, `other-${site}`)
      const about = { email: mate.email, accountId: mate.accountId, siteIds: [site, other], deletesWpUser: true }
      return { input: about, options: { siteId: null, source: source(world) } }
    },
    async done(world) {
      expect(await membersOf(world)).toEqual([])
      expect(await rows(world, 'events', 'type', 'collaborator_deleted', world.site)).toBe(1)
      expect(await outcomes(world)).toEqual(['absent', 'removed'])
    },
  },

  'site.maintenance': {
    // whichever state is not there: done twice, it would be back
    prepare: async ({ site }) => ({ input: { siteId: site, enabled: null } }),
    async done(world) {
      const sites = world.api.database.read.selectFrom('sites').select('maintenance')
      expect(await sites.where('id', '=', world.site).executeTakeFirst()).toEqual({ maintenance: 1 })
      expect(await rows(world, 'events', 'type', 'site_maintenance_mode_toggled', world.site)).toBe(1)
    },
  },

  'mail.send': {
    prepare: async ({ mate }) => ({
      input: { to: mate.email, subject: 's', text: 't', html: 'h', writtenAt: 1, key: 'k' },
      options: { siteId: null },
    }),
    async done({ mails }) {
      // sent again with the same Message-ID, at most
      expect(mails.size).toBe(1)
    },
  },

  'tokens.forget': forgets(
    ({ api, owner }) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('tokens')
          .values({
            hash: `old-${owner.applicationId}`,
            application_id: owner.applicationId,
            created_at: 1,
            expires_at: OLD,
            revoked_at: null,
          })
          .execute(),
      ),
    ({ api }) => api.database.read.selectFrom('tokens').select('hash').where('expires_at', '=', OLD).execute(),
  ),

  'idempotency_keys.forget': forgets(
    ({ api, owner }) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('idempotency_keys')
          .values({
            application_id: owner.applicationId,
            key: 'old',
            fingerprint: 'f',
            response_sealed: null,
            status: 200,
            locked_until: OLD,
            created_at: OLD,
          })
          .execute(),
      ),
    ({ api }) => api.database.read.selectFrom('idempotency_keys').select('key').execute(),
  ),

  'activity.forget': forgets(
    ({ api, owner }) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('activity')
          .values({
            account_id: owner.accountId,
            site_id: null,
            action: 'note.created',
            description: 'd',
            message: 'm',
            source: 'systems',
            actor_email: null,
            ip_address: null,
            user_agent: '',
            created_at: OLD,
          })
          .execute(),
      ),
    ({ api }) => api.database.read.selectFrom('activity').select('id').where('created_at', '=', OLD).execute(),
  ),

  'events.forget': forgets(
    ({ api, owner }) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('events')
          .values({ account_id: owner.accountId, site_id: null, type: 't', data: '{}', created_at: OLD })
          .execute(),
      ),
    ({ api }) => api.database.read.selectFrom('events').select('id').where('created_at', '=', OLD).execute(),
  ),

  'operations.forget': forgets(
    ({ api, owner }) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('operations')
          .values({
            ...({ type: 'test.old', runner: 'control', state: 'failed', input: '{}', cancel_requested: 0 } as const),
            ...{
              account_id: owner.accountId,
              attempts: 1,
              progress: 0,
              run_at: OLD,
              created_at: OLD,
              finished_at: OLD,
            },
          })
          .execute(),
      ),
    ({ api }) => api.database.read.selectFrom('operations').select('id').where('type', '=', 'test.old').execute(),
  ),

  'mail_counts.forget': forgets(
    ({ api, owner }) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('mail_counts')
          .values({ account_id: owner.accountId, address: 'a@example.com', subject_hash: 'h', created_at: OLD })
          .execute(),
      ),
    ({ api }) => api.database.read.selectFrom('mail_counts').select('id').where('created_at', '=', OLD).execute(),
  ),

  'logs.drop': {
    prepare: async () => ({ input: {}, options: { siteId: null } }),
    async done({ maintained }) {
      expect(maintained.length).toBeGreaterThan(0)
      expect(Math.min(...maintained)).toBeGreaterThan(OLD)
    },
  },

  'statistics.refresh': {
    async prepare(world) {
      await countViews(world)
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect(await viewsOf(world)).toContain('11')
      const measures = world.api.database.read.selectFrom('operations').select('id')
      expect(
        await measures.where('type', '=', 'statistics.measure').where('state', '=', 'queued').execute(),
      ).toHaveLength(1)
    },
  },

  'statistics.refresh_open': {
    async prepare(world) {
      await countViews(world)
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect(await viewsOf(world)).toContain('11')
    },
  },
}

const countViews = (world: World) =>
  change(world, (tx) =>
    tx
      .insertInto('page_view_days')
      .values({ site_id: world.site, day: dayOf(Date.now()), views: 11, people: 7 })
      .execute(),
  )

const viewsOf = async ({ api, site }: World) => {
  const stored = api.database.read.selectFrom('site_statistics').select('page_views').where('site_id', '=', site)
  return (await stored.executeTakeFirst())?.page_views ?? ''
}

async function hasLogin({ api, mate, site }: World, login: string): Promise<void> {
  const members = api.database.read.selectFrom('collaborators').select(['account_id', 'wp_username'])
  const member = await members.where('site_id', '=', site).executeTakeFirst()
  expect(member).toEqual({ account_id: mate.accountId, wp_username: login })
}

const membersOf = async ({ api, site }: World) => {
  const members = api.database.read.selectFrom('collaborators').select('account_id').where('site_id', '=', site)
  return (await members.execute()).map(({ account_id }) => account_id)
}

/** Of the newest operation over many sites. */
const outcomes = async ({ api }: World) => {
  const all = await api.database.read.selectFrom('operation_results').selectAll().execute()
  const newest = Math.max(...all.map(({ operation_id }) => operation_id))
  return all
    .filter(({ operation_id }) => operation_id === newest)
    .map(({ outcome }) => outcome)
    .sort()
}

const source = ({ owner }: World) =>
  sourceOfRequest(
    { applicationId: owner.applicationId, accountId: owner.accountId, accountEmail: owner.email, isOwner: true },
    { id: 'r', ipAddress: '127.0.0.1', userAgent: 'test', headers: {} },
  )
