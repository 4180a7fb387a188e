import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { answer, change, deleteSite, refuse, rows, SECRET } from '../../../test/support/job-worlds.ts'
import { at, type Examples, ofMate, onSite, type Sample, type Scene, unique } from '../../../test/support/samples.ts'
import { fillOperations, friend, friendHas, siteIs, write } from '../../../test/support/scenes.ts'
import { sourceOfRequest } from '../kit/source-of-request.ts'
import { changeSite } from '../sites/site.store.ts'
import { COLLABORATOR_PASSWORD_PURPOSE } from './reset-collaborator-password.job.ts'

const newAddress = ({ number }: Scene) => `nobody-${number}@example.com`

function fillMails(scene: Scene): Promise<unknown> {
  return write(scene, (tx) => {
    const mails = Array.from({ length: 200 }, (_, index) => ({
      account_id: scene.owner.accountId,
      address: `${index}@example.com`,
      subject_hash: `${index}`,
      created_at: Date.now(),
    }))
    return tx.insertInto('mail_counts').values(mails).execute()
  })
}

/** Of the site and of the account. */
function fillCollaborators(scene: Scene): Promise<unknown> {
  return write(scene, async (tx) => {
    const common = { name: '', organization: '', phone_number: '', plan: 'Personal', default_php_version: '8.3' }
    const accounts = Array.from({ length: 200 }, (_, index) => ({
      ...common,
      email: `many-${index}-${scene.number}@example.com`,
      default_datacenter: null,
      created_at: 0,
    }))
    const made = await tx.insertInto('accounts').values(accounts).returning('id').execute()
    const owner_account_id = scene.owner.accountId
    const members = made.map(({ id }) => ({
      ...{ site_id: scene.siteId, account_id: id, owner_account_id, state: 'active' as const },
      ...{ wp_username: `many${id}`, roles: '[]', created_at: 0, updated_at: 0 },
    }))
    await tx.insertInto('collaborators').values(members).execute()
    const access = made.map(({ id }) => ({ owner_account_id, account_id: id, add_to_all_new: 1 as const }))
    await tx
      .insertInto('account_access')
      .values(access.map((row) => ({ ...row, create_site: 0, roles: '[]' })))
      .execute()
  })
}

async function hasLogin({ api, mate, site }: JobWorld, login: string): Promise<void> {
  const members = api.database.read.selectFrom('collaborators').select(['account_id', 'wp_username'])
  const member = await members.where('site_id', '=', site).executeTakeFirst()
  expect(member).toEqual({ account_id: mate.accountId, wp_username: login })
}

const membersOf = async ({ api, site }: JobWorld) => {
  const members = api.database.read.selectFrom('collaborators').select('account_id').where('site_id', '=', site)
  return (await members.execute()).map(({ account_id }) => account_id)
}

/** The newest operation on many sites. */
const outcomes = async ({ api }: JobWorld) => {
  const all = await api.database.read.selectFrom('operation_results').selectAll().execute()
  const newest = Math.max(...all.map(({ operation_id }) => operation_id))
  return all
    .filter(({ operation_id }) => operation_id === newest)
    .map(({ outcome }) => outcome)
    .sort()
}

const source = ({ owner }: JobWorld) =>
  sourceOfRequest(
    { applicationId: owner.applicationId, accountId: owner.accountId, accountEmail: owner.email, isOwner: true },
    { id: 'r', ipAddress: '127.0.0.1', userAgent: 'test', headers: {} },
  )

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listCollaborators', path: at('/v1/collaborators') },
  { endpoint: 'getCollaborator', path: ofMate(''), isPrivate: true },
  { endpoint: 'updateAccountLevelAccess', path: at('/v1/collaborators/update-account-level-access'), body: () => ({ email: 'x@example.com', create_site: true }), scope: true },
  { endpoint: 'batchCreateCollaborators', path: at('/v1/collaborators/batch_create'), body: ({ site }) => ({ email: 'x@example.com', siteIds: [site] }), roles: ['create_collaborator', 'execute_bulk_operations'] },
  { endpoint: 'batchDestroyCollaborators', path: at('/v1/collaborators/batch_destroy'), body: ({ site, mate }) => ({ email: mate.email, siteIds: [site] }), roles: ['delete_collaborator', 'execute_bulk_operations'] },
  { endpoint: 'listSiteCollaborators', path: onSite('/collaborators'), roles: [] },
  { endpoint: 'addSiteCollaborator', path: onSite('/collaborators'), body: () => ({ email: `x${unique()}@example.com` }), roles: ['create_collaborator'] },
  { endpoint: 'getSiteCollaborator', path: (world) => onSite(`/collaborators/${world.mateId}`)(world), roles: [] },
  { endpoint: 'removeSiteCollaborator', path: (world) => onSite(`/collaborators/${world.mateId}`)(world), roles: ['delete_collaborator'] },
  { endpoint: 'resetCollaboratorPassword', path: (world) => onSite(`/collaborators/${world.mateId}/wp-password-reset`)(world), roles: ['reset_collaborator_password'] },
  { endpoint: 'listSiteRights', path: onSite('/rights'), roles: [] },
]

const examples: Examples = {
  addSiteCollaborator: ({ number }) => ({ body: { email: `new-${number}@example.com`, roles: ['wp_access'] } }),
  getSiteCollaborator: ({ collaboratorId }) => ({ params: { id: collaboratorId } }),
  removeSiteCollaborator: ({ collaboratorId }) => ({
    params: { id: collaboratorId },
    query: { delete_wp_user: 'true' },
  }),
  resetCollaboratorPassword: ({ collaboratorId }) => ({ params: { id: collaboratorId } }),
  getCollaborator: ({ collaboratorId }) => ({ params: { id: collaboratorId } }),
  updateAccountLevelAccess: ({ friend }) => ({ body: { email: friend.email, add_to_all_new: true } }),
  batchCreateCollaborators: ({ siteId, friend }) => ({ body: { email: friend.email, siteIds: [siteId], roles: [] } }),
  batchDestroyCollaborators: ({ siteId, friend }) => ({ body: { email: friend.email, siteIds: [siteId] } }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['resetCollaboratorPassword'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['resetCollaboratorPassword'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['resetCollaboratorPassword'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
  { of: ['addSiteCollaborator'], code: 'collaborator_exists', example: (scene) => ({ body: { email: scene.friend.email } }) },
  { of: ['addSiteCollaborator', 'updateAccountLevelAccess'], code: 'collaborator_is_owner', example: ({ owner }) => ({ body: { email: owner.email, add_to_all_new: true } }) },
  { of: ['addSiteCollaborator', 'updateAccountLevelAccess'], code: 'collaborator_limit_reached', prepare: fillCollaborators },
  { of: ['addSiteCollaborator', 'updateAccountLevelAccess'], code: 'mail_limit_reached', example: (scene) => ({ body: { email: newAddress(scene), add_to_all_new: true } }), prepare: fillMails },
  { of: ['batchCreateCollaborators'], code: 'collaborator_is_owner', example: ({ owner, siteId }) => ({ body: { email: owner.email, siteIds: [siteId] } }) },
  { of: ['batchCreateCollaborators'], code: 'own_collaboration', example: (scene) => ({ body: { email: scene.friend.email, siteIds: [scene.siteId] } }), by: friend },
  { of: ['batchCreateCollaborators'], code: 'mail_limit_reached', example: (scene) => ({ body: { email: newAddress(scene), siteIds: [scene.siteId] } }), prepare: fillMails },
  { of: ['resetCollaboratorPassword'], code: 'collaborator_lacks_wp_access', prepare: friendHas('[]') },
  { of: ['addSiteCollaborator'], code: 'operation_limit_reached', example: (scene) => ({ body: { email: newAddress(scene), roles: ['wp_access'] } }), prepare: fillOperations },
  { of: ['removeSiteCollaborator'], code: 'operation_limit_reached', example: ({ collaboratorId }) => ({ params: { id: collaboratorId }, query: { delete_wp_user: 'true' } }), prepare: fillOperations },
]

const unrecorded: Contract['unrecorded'] = {
  batchCreateCollaborators: 'its work records each site that it really changes',
  batchDestroyCollaborators: 'as batchCreateCollaborators',
}

const events: Contract['events'] = {
  addSiteCollaborator: ['collaborator_added'],
  removeSiteCollaborator: ['collaborator_deleted'],
}

const jobs: Record<string, JobSample> = {
  'collaborator.sync_wp_user': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
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
      const { input } = await (jobs['collaborator.sync_wp_user'] as JobSample).prepare(world)
      expect(input).toMatchObject({ siteId: site })
      host.wordpress(site).hasDropIn = true
      const passwordSealed = host.sealer.seal(SECRET, COLLABORATOR_PASSWORD_PURPOSE)
      return { input: { siteId: site, accountId: mate.accountId, passwordSealed } }
    },
    async done(world) {
      await hasLogin(world, 'another-login')
      expect([...world.host.wordpress(world.site).passwords.values()]).toEqual([SECRET])
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
      expect(await rows(world, 'events', 'type', 'wp_admin_password_reset', world.site)).toBe(1)
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
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'collaborator.reset_password', says: 'The collaborator no longer has access to WordPress', wrong: (world) => change(world, (tx) => tx.deleteFrom('collaborators').where('account_id', '=', world.mate.accountId).execute()) },
  { type: 'collaborator.reset_password', says: 'The collaborator no longer has access to WordPress', wrong: (world) => world.api.collaborate(world.mate, world.site, ['sftp_access']) },
  { type: 'collaborator.reset_password', says: 'The collaborator no longer has access to WordPress', wrong: (world) => deleteSite(world) },
  { type: 'collaborator.sync_wp_user', says: 'not today', wrong: (world) => answer(world, 'ensure-administrator', refuse) },
]

export const contract: Contract = { samples, examples, problems, unrecorded, events, jobs, jobRefusals }
