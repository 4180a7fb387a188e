/**
 * For each problem that an endpoint declares, a request that causes it. A problem of one endpoint needs a line in
 * `ownCases`. `commonCases` causes shared problems on every endpoint that declares them.
 */
import type { FastifyInstance } from 'fastify'
import type { InjectOptions, Response } from 'light-my-request'
import { CommitUnknown } from '../../src/platform/db/commit-unknown.ts'
import { announce, type Tx } from '../../src/platform/db/database.ts'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import { enqueue } from '../../src/platform/operations/enqueue.ts'
import { firstAccount, setFacts, setPlan, setSuspended } from '../../src/resources/account/account.store.ts'
import { insertRemoval, setOperation } from '../../src/resources/account/removal.store.ts'
import { withAllApplications } from '../../src/resources/applications/samples.fixture.ts'
import { MOST_ON_DEMAND } from '../../src/resources/backups/backup.ts'
import { restoredIn } from '../../src/resources/backups/restore/restore.fixture.ts'
import { backedUp, backupIn, storedFiles } from '../../src/resources/backups/samples.fixture.ts'
import { replaceReleases } from '../../src/resources/cms-version/release.store.ts'
import { madeOffer, withReleases } from '../../src/resources/cms-version/samples.fixture.ts'
import { MOST_RECORDS } from '../../src/resources/dns/records/record.ts'
import { zoneIn } from '../../src/resources/dns/samples.fixture.ts'
import { MOST_DOMAINS } from '../../src/resources/dns/site-hosts.ts'
import { insertRecords } from '../../src/resources/dns/zone.store.ts'
import { rolling, unsigned } from '../../src/resources/dnssec/samples.fixture.ts'
import { insertClaim } from '../../src/resources/domains/claim.store.ts'
import { MOST_CLAIMS } from '../../src/resources/domains/claim.ts'
import type { ImportState } from '../../src/resources/imports/import.ts'
import { importIn, madePlan, waiting } from '../../src/resources/imports/samples.fixture.ts'
import { removeAccountJob } from '../../src/resources/installation/accounts/remove-account.job.ts'
import { leavingIn } from '../../src/resources/installation/samples.fixture.ts'
import { insertMuPlugin } from '../../src/resources/must-use-plugins/mu-plugin.store.ts'
import { MOST_MU_PLUGINS } from '../../src/resources/must-use-plugins/mu-plugin.ts'
import { operationIn } from '../../src/resources/operations/samples.fixture.ts'
import { withPlugins } from '../../src/resources/plugins/samples.fixture.ts'
import { withSftpKey } from '../../src/resources/sftp-users/samples.fixture.ts'
import { MOST_KEYS } from '../../src/resources/sftp-users/sftp-user.ts'
import { countAttempt } from '../../src/resources/sign-in/attempts.ts'
import { newDevice } from '../../src/resources/sign-in/passkeys/authenticator.fixture.ts'
import { MOST_PASSKEYS } from '../../src/resources/sign-in/passkeys/passkey.ts'
import {
  newCredential,
  PASSWORD,
  usedCredential,
  withLink,
  withPasskey,
  withPassword,
  withTotp,
} from '../../src/resources/sign-in/samples.fixture.ts'
import { putRoute } from '../../src/resources/sites/addresses/route.store.ts'
import { cloneSiteJob } from '../../src/resources/sites/clone/clone-site.job.ts'
import { purgeSite } from '../../src/resources/sites/remove/remove-site.job.ts'
import type { SiteState } from '../../src/resources/sites/site.ts'
import { configureSite } from '../../src/resources/sites/switches/configure-site.job.ts'
import { withFullWebhook, withWebhook } from '../../src/resources/webhooks/samples.fixture.ts'
import { MOST_WEBHOOKS } from '../../src/resources/webhooks/webhook.ts'
import { ofBrowser, type Person } from '../support/api.ts'
import type { Example, Scene } from '../support/samples.ts'
import type { ProblemCode } from './problems.ts'
import { examples } from './samples.ts'
import { as, isOfOperator, isOfSession, type Walk } from './walk.ts'

/** Sends a part to an import that waits for one. */
async function uploadingIn(
  { api, siteId }: Scene,
  example: Example,
  state: ImportState = 'uploading',
): Promise<Example> {
  const importId = await importIn(api, siteId, { ...waiting, state })
  return { params: { import_id: importId, number: 1 }, query: { offset: '0' }, body: { bytes: 0 }, ...example }
}

/** The environment of the cases. */
export interface Stage {
  readonly tour: Walk
  /** Shared by cases that leave no trace. */
  readonly shared: Scene
  /**
   * An instance of the API on the same database that accepts no body, opens no stream, and accepts one request a minute
   * from each client.
   */
  readonly strict: FastifyInstance
  /** An instance without memory to hash passwords. */
  readonly busy: FastifyInstance
  /** An instance whose database only throws `failure`: always, or only in transactions. */
  readonly failing: FastifyInstance
  failure: { readonly error: unknown; readonly ofReads: boolean }
}

/** An instance without hosts. See `problems.test.ts`. */
export const EMPTY_DATACENTER = 'DFW'

export interface OwnCase {
  readonly of: readonly string[]
  readonly code: ProblemCode
  /** Default: the example of the endpoint. */
  example?(scene: Scene): Example | Promise<Example>
  readonly headers?: Record<string, string>
  /**
   * Runs after the example.
   * @returns optionally a function that restores shared things after the request
   */
  prepare?(scene: Scene, stage: Stage): Promise<unknown>
  /** Default: the owner. */
  by?(scene: Scene): Person
  readonly on?: 'strict' | 'busy'
}

const write = <Result>({ api }: Scene, work: (tx: Tx) => Promise<Result>) => api.database.transaction(work)
const plan = (name: string) => (scene: Scene) => write(scene, (tx) => setPlan(tx, scene.owner.accountId, name))
const siteIs =
  (values: { state?: SiteState; edge_cache?: 0; multisite?: 1; staging?: 1; host_id?: null }) => (scene: Scene) =>
    write(scene, (tx) => tx.updateTable('sites').set(values).where('id', '=', scene.siteId).execute())
const friendHas = (roles: string) => (scene: Scene) =>
  write(scene, (tx) => tx.updateTable('collaborators').set({ roles }).where('id', '=', scene.collaboratorId).execute())
const moreSites = (count: number) => async (scene: Scene) => {
  for (let index = 0; index < count; index++) await scene.api.site(scene.owner, `more-${scene.number}-${index}`)
}
const friend = (scene: Scene) => scene.friend
const newAddress = ({ number }: Scene) => `nobody-${number}@example.com`
const operationThatHas =
  (state: 'queued' | 'succeeded' | 'failed', type = configureSite) =>
  async (scene: Scene) => ({
    params: { id: await operationIn(state, scene, type) },
  })

const downloads = ['downloadOndemandBackup', 'downloadBackup']

const tooManyGuesses = ({ api, owner }: Scene) =>
  api.database.transaction(async (tx) => {
    await countAttempt(tx, { email: owner.email, ipAddress: '127.0.0.1' }, Date.now())
    await tx.updateTable('sign_in_attempts').set({ count: 50 }).execute()
    return async () => {
      await api.database.transaction((after) => after.deleteFrom('sign_in_attempts').execute())
    }
  })

async function withWrongCode({ api, owner, number }: Scene): Promise<Example> {
  await withPassword(api, owner.accountId)
  await withTotp(api, owner.accountId, true)
  const token = await withLink(api, owner.accountId, number)
  const credential = newCredential(api, owner.accountId)
  return { body: { email: owner.email, password: PASSWORD, token, code: '000000', name: 'x', credential } }
}

/** Creates a backup that a queued restore is about to read. */
async function neededBackup(scene: Scene): Promise<Example> {
  const { api, owner, siteId } = scene
  const example = await backedUp(scene)
  const more = { databaseId: Number(example.params?.id) }
  await restoredIn(api, { siteId, accountId: owner.accountId }, { kept: false, state: 'running', more })
  return example
}

/** The owner is being removed. Their token still works, unlike that of a suspended account. */
const leavingOwner = ({ api, owner: { accountId } }: Scene) =>
  api.database.transaction((tx) =>
    insertRemoval(tx, { accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt: null }),
  )

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
    await setOperation(tx, removalId, id)
  })
  return accountId
}

const beingCloned = ({ api, owner, siteId }: Scene) =>
  api.database.transaction(async (tx) => {
    const { host_id: hostId } = await tx
      .selectFrom('sites')
      .select('host_id')
      .where('id', '=', siteId)
      .executeTakeFirstOrThrow()
    const target = { siteId, accountId: owner.accountId, hostId, runAt: Date.now() + 86_400_000 }
    await enqueue(tx, cloneSiteJob, { siteId, sourceId: siteId }, target)
  })

// biome-ignore format: a table
export const ownCases: readonly OwnCase[] = [
  { of: ['suspendAccount'], code: 'operator_account', example: async ({ api }) => ({ params: { id: (await firstAccount(api.database.read))?.id ?? 0 } }) },
  { of: ['removeAccount'], code: 'operator_account', example: async ({ api }) => ({ params: { id: (await firstAccount(api.database.read))?.id ?? 0 }, body: { email: 'x' } }) },
  { of: ['removeAccount'], code: 'account_name_differs', example: ({ owner }) => ({ params: { id: owner.accountId }, body: { email: 'nobody@example.com' } }) },
  { of: ['removeAccount'], code: 'account_zone_shared', example: async (scene) => ({ params: { id: await withSharedZone(scene) }, body: { email: scene.friend.email } }) },
  { of: ['removeAccount', 'cancelAccountRemoval'], code: 'account_removal_begun', example: async (scene) => ({ params: { id: await withRunningRemoval(scene) }, body: { email: scene.friend.email } }) },
  { of: ['resumeAccount'], code: 'account_removal_waits', example: async (scene) => ({ params: { id: await leavingIn(scene) } }) },
  { of: ['createSite', 'cloneSite', 'convertSite'], code: 'account_leaving', prepare: leavingOwner },
  { of: ['cordonHost', 'uncordonHost'], code: 'host_lost', prepare: lostHost },
  { of: ['signIn', 'signInByPasskey', 'usePasswordLink', 'createPasskeyByLink'], code: 'account_suspended', prepare: suspendedOwner },
  { of: ['createApplication'], code: 'application_limit_reached', prepare: withAllApplications },
  { of: ['signIn', 'proveIdentity', 'changePassword'], code: 'wrong_password', example: () => ({ body: { email: 'nobody@example.com', password: 'not this one at all', current_password: 'not this one at all' } }) },
  { of: ['signIn', 'proveIdentity', 'changePassword', 'usePasswordLink', 'createPasskeyByLink'], code: 'too_many_guesses', prepare: tooManyGuesses },
  { of: ['signIn', 'proveIdentity', 'changePassword', 'usePasswordLink'], code: 'too_many_sign_ins', on: 'busy' },
  { of: ['signIn', 'usePasswordLink', 'createPasskeyByLink'], code: 'code_needed', prepare: ({ api, owner }) => withTotp(api, owner.accountId, true) },
  { of: ['signIn', 'usePasswordLink', 'createPasskeyByLink'], code: 'wrong_code', example: withWrongCode },
  { of: ['confirmTotp'], code: 'wrong_code', example: async ({ api, owner }) => { await withTotp(api, owner.accountId, false); return { body: { code: '000000' } } } },
  { of: ['usePasswordLink', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'link_spent', example: ({ api, owner }) => ({ body: { token: 'of-nobody', password: 'staple under the lamp', name: 'x', credential: newCredential(api, owner.accountId) } }) },
  { of: ['usePasswordLink'], code: 'weak_password', example: async ({ api, owner, number }) => ({ body: { token: await withLink(api, owner.accountId, number), password: 'short' } }) },
  { of: ['changePassword'], code: 'weak_password', example: () => ({ body: { current_password: PASSWORD, password: 'short' } }) },
  { of: ['beginTotp', 'confirmTotp'], code: 'totp_active', prepare: ({ api, owner }) => withTotp(api, owner.accountId, true) },
  { of: ['confirmTotp'], code: 'totp_not_begun', example: () => ({ body: { code: '123456' } }) },
  { of: ['beginPasskeySignIn', 'signInByPasskey', 'proveByPasskey', 'beginPasskey', 'createPasskey', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'passkey_needs_name', headers: { host: '127.0.0.1' }, prepare: sessionsAt('http://127.0.0.1') },
  { of: ['signInByPasskey', 'proveByPasskey'], code: 'wrong_passkey', example: ({ api }) => ({ body: { credential: usedCredential(api, newDevice()) } }) },
  { of: ['createPasskey', 'createPasskeyByLink'], code: 'passkey_not_taken', example: async ({ api, friend, owner, number }) => ({ body: { token: await withLink(api, owner.accountId, number), name: 'x', credential: newCredential(api, friend.accountId) } }) },
  { of: ['beginPasskey', 'createPasskey', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'passkey_limit_reached', prepare: async ({ api, owner }) => { for (let each = 0; each < MOST_PASSKEYS; each++) await withPasskey(api, owner.accountId) } },
  { of: ['signIn', 'beginPasskeySignIn', 'signInByPasskey', 'requestPasswordLink', 'usePasswordLink', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'cross_site', headers: { origin: 'https://elsewhere.example' } },
  { of: ['createSite'], code: 'name_taken', example: ({ number }) => ({ body: { name: `Scene-${number}` } }) },
  { of: ['createSite'], code: 'name_reserved', example: () => ({ body: { name: 'Panel' } }) },
  { of: ['createSite'], code: 'site_limit_reached', prepare: async (scene) => { await plan('Personal')(scene); await moreSites(2)(scene) } },
  { of: ['createSite'], code: 'plan_lacks_multisite', example: ({ number }) => ({ body: { name: `net-${number}`, multisite_support: true } }), prepare: plan('Business') },
  { of: ['createSite'], code: 'unknown_datacenter', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: 'XXX' } }) },
  { of: ['createSite'], code: 'php_version_not_there', example: ({ number }) => ({ body: { name: `old-${number}`, php_version: '8.1' } }), prepare: hostRefuses('8.1') },
  { of: ['updateSite'], code: 'php_version_not_there', example: () => ({ body: { php_version: '8.1' } }), prepare: hostRefuses('8.1') },
  { of: ['moveSite'], code: 'runtime_not_there', example: () => ({ body: { runtime: 'native' } }) },
  { of: ['createSite'], code: 'no_host', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: EMPTY_DATACENTER } }) },
  { of: ['deleteSite'], code: 'site_being_cloned', prepare: beingCloned },
  { of: ['cloneSite'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['cloneSite'], code: 'name_taken', example: ({ number }) => ({ body: { name: `Scene-${number}` } }) },
  { of: ['cloneSite'], code: 'name_reserved', example: () => ({ body: { name: 'Panel' } }) },
  { of: ['cloneSite'], code: 'site_limit_reached', prepare: async (scene) => { await plan('Personal')(scene); await moreSites(2)(scene) } },
  { of: ['cloneSite'], code: 'plan_lacks_multisite', prepare: async (scene) => { await plan('Business')(scene); await siteIs({ multisite: 1 })(scene) } },
  { of: ['cloneSite'], code: 'unknown_datacenter', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: 'XXX' } }) },
  { of: ['cloneSite'], code: 'clone_elsewhere', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: EMPTY_DATACENTER } }) },
  { of: ['cloneSite'], code: 'no_host', prepare: siteIs({ host_id: null }) },
  { of: ['installPlugins', 'updatePlugins'], code: 'plugins_refused', example: () => ({ body: { plugins: [{ path: 'forms' }, { path: 'no-such' }] } }) },
  { of: ['activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'plugins_refused', example: () => ({ body: { plugins: [{ path: '../forms' }] } }) },
  { of: ['installPlugins', 'updatePlugins'], code: 'plugin_directory_unavailable', example: async ({ api, siteId }) => { await withPlugins(api, siteId, 'unreachable'); return { body: { plugins: [{ path: 'unreachable' }] } } } },
  { of: ['updateCmsVersion'], code: 'no_beta_offered', example: () => ({ body: {} }), prepare: ({ api }) => withReleases(api, '6.9', '6.9-beta1') },
  { of: ['updateCmsVersion'], code: 'php_too_old', prepare: ({ api }) => api.database.transaction((tx) => replaceReleases(tx, [madeOffer('99.0', '9.9')], Date.now())) },
  { of: ['updateCmsVersion'], code: 'releases_unknown', prepare: ({ api }) => withReleases(api) },
  { of: ['getDatabaseAdminUrl'], code: 'no_database_admin', prepare: (scene) => write(scene, (tx) => tx.updateTable('hosts').set({ facts: '{}' }).execute()) },
  { of: ['orderPerformanceReport'], code: 'report_under_way', prepare: async ({ owner, siteId }, { tour }) => { tour.leaveWork(siteId); await owner.call('POST', `/v1/sites/${siteId}/reports/performance`) } },
  { of: ['updateAccount'], code: 'unknown_datacenter', example: () => ({ body: { datacenter_code: 'XXX' } }) },
  { of: ['updateAddons'], code: 'addon_in_use', example: () => ({ body: { addon_id: 1, quantity: 0 } }), prepare: withAddonInUse },
  { of: ['updateAddons'], code: 'addons_by_operator', prepare: withoutAddons },
  { of: ['convertSite'], code: 'domains_left', prepare: withDomain },
  { of: ['convertSite'], code: 'site_limit_reached', prepare: withAllStagingSites },
  { of: ['disableSite', 'convertSite'], code: 'site_not_live', prepare: siteIs({ state: 'disabled' }) },
  { of: ['enableSite'], code: 'site_not_disabled', prepare: siteIs({ state: 'live' }) },
  { of: ['resetAdminPassword', 'orderPerformanceReport', 'setSafeMode', 'moveSite', 'disconnectSsh', 'purgeObjectCache', 'resetCollaboratorPassword', 'issueExtensionLicense', 'revokeExtensionLicense', 'createOneTimeLogin', 'getDatabaseAdminUrl', 'updateCmsVersion', 'listPlugins', 'installPlugins', 'updatePlugins', 'activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['resetAdminPassword', 'setSafeMode', 'disconnectSsh', 'purgeObjectCache', 'resetCollaboratorPassword', 'issueExtensionLicense', 'revokeExtensionLicense', 'listPlugins', 'updatePlugins', 'activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['resetAdminPassword', 'setSafeMode', 'disconnectSsh', 'purgeObjectCache', 'resetCollaboratorPassword', 'issueExtensionLicense', 'revokeExtensionLicense', 'listPlugins', 'updatePlugins', 'activatePlugins', 'deactivatePlugins', 'deletePlugins'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
  { of: ['createOndemandBackup', 'syncSites'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['createOndemandBackup'], code: 'backup_limit_reached', prepare: fillBackups },
  { of: ['syncSites'], code: 'sync_needs_slot', prepare: fillBackups },
  { of: ['syncSites'], code: 'sync_unlike_sites', prepare: siteIs({ multisite: 1 }) },
  { of: ['syncSites'], code: 'forbidden', example: toFriendsSite, by: friend },
  { of: ['createOndemandBackup'], code: 'operation_limit_reached', prepare: fillOperations },
  { of: ['deleteOndemandBackup'], code: 'operation_limit_reached', prepare: fillOperations },
  { of: ['deleteOndemandBackup'], code: 'backup_in_use', example: neededBackup },
  { of: ['deleteOndemandBackup'], code: 'backup_not_completed', prepare: ({ api, siteId }) => api.database.transaction((tx) => tx.updateTable('backups').set({ state: 'creating' }).where('site_id', '=', siteId).execute()) },
  { of: ['toggleMultisite'], code: 'plan_lacks_multisite', prepare: plan('Business') },
  { of: ['setDefensiveMode'], code: 'edge_cache_off', example: () => ({ body: { duration: '2-days' } }), prepare: siteIs({ edge_cache: 0 }) },
  { of: ['createWebhook'], code: 'webhook_limit_reached', prepare: async (scene) => { for (let i = 0; i < MOST_WEBHOOKS; i++) await withWebhook(scene) } },
  { of: ['testWebhook', 'redeliver'], code: 'too_many_deliveries', example: withFullWebhook },
  { of: ['addSftpKey'], code: 'sftp_key_known', example: withSftpKey },
  { of: ['addSftpKey'], code: 'sftp_key_limit_reached', prepare: async (scene) => { for (let i = 0; i < MOST_KEYS; i++) await withSftpKey(scene) } },
  { of: ['getZone', 'createDnsRecord', 'deleteDnsRecord', 'applyMailProvider', 'exportZone', 'importZone', 'previewZoneFile', 'getSsl', 'retrySsl', 'getDnssec', 'changeDnssec', 'rollDnssecKey'], code: 'forbidden', prepare: friendHas('[]'), by: friend },
  { of: ['rollDnssecKey'], code: 'dnssec_off', example: unsigned },
  { of: ['rollDnssecKey'], code: 'key_roll_under_way', example: rolling },
  { of: ['createDnsRecord'], code: 'record_exists', example: (scene) => zoned(scene, { type: 'A', name: 'www', value: '127.0.0.1' }) },
  { of: ['createDnsRecord'], code: 'record_conflict', example: (scene) => zoned(scene, { type: 'CNAME', name: 'www', value: 'a.test' }) },
  { of: ['applyMailProvider'], code: 'record_conflict', example: (scene) => zoned(scene, { provider: 'rackspace_email' }, { name: 'autodiscover' }) },
  { of: ['createDnsRecord'], code: 'record_limit_reached', example: (scene) => zoned(scene, { type: 'TXT', value: 'x' }, { count: MOST_RECORDS }) },
  { of: ['applyMailProvider'], code: 'record_limit_reached', example: (scene) => zoned(scene, { provider: 'titan_mail' }, { count: MOST_RECORDS }) },
  { of: ['getSsl'], code: 'ssl_nothing_found', example: withZone },
  { of: ['getSsl'], code: 'ssl_only_a_records', example: withZone, prepare: recordIs({ type: 'TXT' }) },
  { of: ['retrySsl'], code: 'invalid_ssl_record', prepare: recordIs({ type: 'TXT' }) },
  { of: ['retrySsl'], code: 'ssl_record_of_no_site', prepare: recordIs({ site_id: null }) },
  { of: ['retrySsl'], code: 'ssl_not_certifiable', example: (scene) => withZone(scene, 'local') },
  { of: ['importZone', 'previewZoneFile'], code: 'record_limit_reached', example: (scene) => zoned(scene, { file: 'a 60 IN TXT x' }, { count: MOST_RECORDS }) },
  { of: ['createDnsRecord'], code: 'host_name_taken', example: (scene) => zoned(scene, { type: 'A', name: 'taken', site_id: scene.siteId }), prepare: takeHostName },
  { of: ['createDnsRecord'], code: 'staging_site_domains', example: (scene) => zoned(scene, { type: 'A', name: 'a', site_id: scene.siteId }), prepare: siteIs({ staging: 1 }) },
  { of: ['createDnsRecord'], code: 'zone_of_another_account', example: async (scene) => zoned(scene, { type: 'A', name: 'a', site_id: await sitesOfFriend(scene) }) },
  { of: ['createDnsRecord'], code: 'domain_limit_reached', example: (scene) => zoned(scene, { type: 'A', name: 'a', site_id: scene.siteId }), prepare: fillDomains },
  { of: ['addDomain'], code: 'domain_exists', prepare: (scene) => scene.owner.call('POST', `/v1/sites/${scene.siteId}/domains`, { name: `www.scene-${scene.number}.test` }), example: ({ number }) => ({ body: { name: `www.scene-${number}.test` } }) },
  { of: ['addDomain'], code: 'domain_elsewhere', example: async (scene) => { await zoned(scene, {}, { name: 'elsewhere', type: 'CNAME' }); return { body: { name: `elsewhere.scene-${scene.number}.test` } } } },
  { of: ['addDomain'], code: 'host_name_taken', example: ({ number }) => ({ body: { name: `taken.scene-${number}.test` } }), prepare: takeHostName },
  { of: ['addDomain'], code: 'reserved_name', example: () => ({ body: { name: 'www.ns1.localhost' } }) },
  { of: ['createDnsRecord', 'deleteDnsRecord', 'applyMailProvider', 'importZone', 'previewZoneFile', 'changeDnssec', 'rollDnssecKey'], code: 'reserved_name', prepare: zoneOfOperator },
  { of: ['addDomain'], code: 'staging_domain_name', example: ({ number }) => ({ body: { name: `any.scene-${number}.localhost` } }) },
  { of: ['createDnsRecord'], code: 'staging_domain_name', example: async (scene) => { const example = await zoned(scene, { type: 'A', name: 'a', site_id: scene.siteId }); await write(scene, (tx) => tx.updateTable('zones').set({ name: `scene-${scene.number}.localhost` }).where('name', '=', `scene-${scene.number}.test`).execute()); return example } },
  { of: ['addDomain'], code: 'staging_site_domains', prepare: siteIs({ staging: 1 }) },
  { of: ['addDomain'], code: 'zone_of_other_account', example: async (scene) => { await zoned({ ...scene, owner: scene.friend }, {}); return { body: { name: `a.scene-${scene.number}.test` } } } },
  { of: ['addDomain'], code: 'domain_limit_reached', prepare: fillDomains },
  { of: ['addDomain'], code: 'claim_limit_reached', prepare: fillClaims, example: async (scene) => { await zoned({ ...scene, owner: scene.friend }, {}); return { body: { name: `a.scene-${scene.number}.test` } } } },
  { of: ['setPrimaryDomain'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['createNote', 'updateNote'], code: 'note_limit_reached', prepare: fillNotes },
  { of: ['createMuPlugin'], code: 'mu_plugin_exists', example: (scene) => muPlugin(scene, 'a.php'), prepare: (scene) => scene.owner.call('POST', '/v1/mu-plugins', muPlugin(scene, 'A.php').body) },
  { of: ['createMuPlugin'], code: 'mu_plugin_name_reserved', example: (scene) => muPlugin(scene, 'stead-a.php') },
  { of: ['createMuPlugin', 'updateMuPlugin', 'deleteMuPlugin'], code: 'no_host_yet', prepare: withoutHosts },
  { of: ['createMuPlugin'], code: 'mu_plugin_limit_reached', prepare: fillMuPlugins },
  { of: ['addSiteTags', 'addCollaborationTags', 'addCollaboratorTags'], code: 'tag_limit_reached', prepare: fillTags },
  { of: ['addSiteCollaborator'], code: 'collaborator_exists', example: (scene) => ({ body: { email: scene.friend.email } }) },
  { of: ['addSiteCollaborator', 'updateAccountLevelAccess'], code: 'collaborator_is_owner', example: ({ owner }) => ({ body: { email: owner.email, add_to_all_new: true } }) },
  { of: ['addSiteCollaborator', 'updateAccountLevelAccess'], code: 'collaborator_limit_reached', prepare: fillCollaborators },
  { of: ['addSiteCollaborator', 'updateAccountLevelAccess'], code: 'mail_limit_reached', example: (scene) => ({ body: { email: newAddress(scene), add_to_all_new: true } }), prepare: fillMails },
  { of: ['batchCreateCollaborators'], code: 'collaborator_is_owner', example: ({ owner, siteId }) => ({ body: { email: owner.email, siteIds: [siteId] } }) },
  { of: ['batchCreateCollaborators'], code: 'own_collaboration', example: (scene) => ({ body: { email: scene.friend.email, siteIds: [scene.siteId] } }), by: friend },
  { of: ['batchCreateCollaborators'], code: 'mail_limit_reached', example: (scene) => ({ body: { email: newAddress(scene), siteIds: [scene.siteId] } }), prepare: fillMails },
  { of: ['resetCollaboratorPassword'], code: 'collaborator_lacks_wp_access', prepare: friendHas('[]') },
  { of: ['createOneTimeLogin'], code: 'one_time_login_stranger', example: () => ({ body: { email: 'nobody@example.com', user_agent: 'x' } }) },
  { of: ['createOneTimeLogin'], code: 'one_time_login_off', prepare: ({ api, owner }) => api.database.transaction((tx) => setFacts(tx, owner.accountId, { hasOneTimeLogin: false })) },
  { of: ['restoreSite'], code: 'restore_of_nothing', example: () => ({ body: { dry_run: true } }) },
  { of: ['restoreSite'], code: 'restore_unknown_backup', example: () => ({ body: { filesystem_id: 999_999 } }) },
  { of: ['restoreSite'], code: 'restore_parts_of_nothing', example: async ({ api, siteId }) => ({ body: { database_id: await backupIn(api, siteId), paths: ['wp-content'] } }) },
  { of: ['restoreSite'], code: 'restore_unlike_site', example: async (scene) => ({ body: { database_id: await backupIn(scene.api, scene.siteId), restore_on_site_id: await network(scene) } }) },
  { of: ['restoreSite', 'undoOperation'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['createImport'], code: 'import_url_refused', example: () => ({ body: { urls: ['ftp://example.com/a.zip'] } }) },
  { of: ['createImport'], code: 'import_too_large', example: () => ({ body: { files: [{ name: 'a.zip', bytes: 2 ** 40 }] } }) },
  { of: ['uploadImport'], code: 'import_part_elsewhere', example: (scene) => uploadingIn(scene, { query: { offset: '5' } }) },
  { of: ['uploadImport'], code: 'import_part_too_long', example: (scene) => uploadingIn(scene, { body: { bytes: 'more than is waited for' } }) },
  { of: ['uploadImport'], code: 'import_part_damaged', example: (scene) => uploadingIn(scene, { query: { offset: '0', sha256: 'f'.repeat(64) } }) },
  { of: ['uploadImport'], code: 'import_host_away', prepare: siteIs({ host_id: null }) },
  { of: ['createImport'], code: 'import_source_refused', example: () => ({ body: { source: { type: 'ssh', host: 'example.com', user: 'me', path: 'site' } } }) },
  { of: ['createImport'], code: 'import_exists', prepare: ({ api, siteId }) => importIn(api, siteId) },
  { of: ['createImport'], code: 'import_limit_reached', prepare: async ({ api, owner, number }) => { for (let index = 0; index < 5; index++) await importIn(api, await api.site(owner, `import-${number}-${index}`)) } },
  { of: ['uploadImport'], code: 'import_not_ready', example: (scene) => uploadingIn(scene, {}, 'inspecting') },
  { of: ['startImport', 'deleteImport', 'fetchImport'], code: 'import_not_ready', example: async ({ api, siteId }) => ({ params: { import_id: await importIn(api, siteId, { state: 'inspecting' }) } }) },
  { of: ['startImport'], code: 'import_blocked', example: async ({ api, siteId }) => ({ params: { import_id: await importIn(api, siteId, { plan: { ...madePlan, blockers: ['It is a network of sites.'] } }) } }) },
  { of: ['createImport', 'startImport'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['undoOperation'], code: 'operation_not_undoable', example: operationThatHas('succeeded') },
  { of: ['cancelOperation'], code: 'operation_must_end', example: operationThatHas('queued', purgeSite) },
  { of: ['cancelOperation'], code: 'operation_not_cancelable', example: operationThatHas('succeeded') },
  { of: ['retryOperation'], code: 'operation_not_retryable', example: operationThatHas('queued') },
  { of: ['cancelOperation', 'retryOperation', 'undoOperation'], code: 'forbidden', prepare: friendHas('[]'), by: friend },
  { of: ['cancelOperation', 'retryOperation', 'undoOperation'], code: 'operation_not_yours', prepare: isProvisioning, by: friend },
  { of: ['addSiteCollaborator'], code: 'operation_limit_reached', example: (scene) => ({ body: { email: newAddress(scene), roles: ['wp_access'] } }), prepare: fillOperations },
  { of: ['removeSiteCollaborator'], code: 'operation_limit_reached', example: ({ collaboratorId }) => ({ params: { id: collaboratorId }, query: { delete_wp_user: 'true' } }), prepare: fillOperations },
  { of: ['watchOperation'], code: 'too_many_streams', on: 'strict' },
  { of: ['listEvents', 'listRecentActivity'], code: 'too_many_streams', on: 'strict', headers: { accept: 'text/event-stream' } },
  { of: downloads, code: 'too_many_downloads', on: 'strict' },
  { of: downloads, code: 'range_not_satisfiable', headers: { range: 'bytes=99999-' } },
  { of: downloads, code: 'backup_damaged', example: backedUp },
  { of: downloads, code: 'archive_length_unknown', example: storedFiles, headers: { range: 'bytes=1-', prefer: 'wait=0' } },
]

function suspendedOwner(scene: Scene): Promise<unknown> {
  return write(scene, (tx) => setSuspended(tx, scene.owner.accountId, 1))
}

/** Changes the only host, and restores it after the case. */
async function lostHost(scene: Scene): Promise<() => Promise<unknown>> {
  const set = (state: 'lost' | 'active') => write(scene, (tx) => tx.updateTable('hosts').set({ state }).execute())
  await set('lost')
  return () => set('active')
}

/** An operation that only its account may change, whatever the roles of collaborators. */
async function isProvisioning(scene: Scene): Promise<void> {
  const ofSite = (tx: Tx) => tx.updateTable('operations').where('site_id', '=', scene.siteId)
  await write(scene, (tx) => ofSite(tx).set({ type: 'site.provision' }).execute())
}

/**
 * Creates another site of the owner, which is a network.
 * @returns its ID
 */
async function network({ api, owner, number }: Scene): Promise<number> {
  const id = await api.site(owner, `network-${number}`)
  await api.database.transaction((tx) => tx.updateTable('sites').set({ multisite: 1 }).where('id', '=', id).execute())
  return id
}

/** From a site on which the friend has no right. */
async function toFriendsSite({ api, owner, friend: to, siteId, number }: Scene): Promise<Example> {
  const source = await api.site(owner, `barred-${number}`)
  await api.collaborate(to, source, [])
  return { body: { from_site_id: source, to_site_id: siteId, database: true } }
}

async function withAllStagingSites(scene: Scene): Promise<void> {
  await moreSites(4)(scene)
  const others = (tx: Tx) => tx.updateTable('sites').where('name', 'like', `more-${scene.number}-%`)
  await write(scene, (tx) => others(tx).set({ staging: 1 }).execute())
  await plan('Personal')(scene)
}

function withDomain({ api, siteId, number }: Scene): Promise<unknown> {
  return api.database.transaction(async (tx) => {
    await putRoute(tx, siteId, `scene-${number}.localhost`, 0)
    await putRoute(tx, siteId, `domain-${number}.example.com`, 0, true)
  })
}

/** The owner of a scene is never the first account, which operates the installation. */
async function withoutAddons({ api }: Scene): Promise<() => unknown> {
  const set = (addons: 'operator' | 'all') => Object.assign(api.config, { addons })
  set('operator')
  return () => set('all')
}

async function withAddonInUse(scene: Scene): Promise<void> {
  await plan('Personal')(scene)
  expectDone(await scene.owner.call('PUT', '/v1/account/addons', { addon_id: 1, quantity: 1 }))
  await moreSites(3)(scene)
}

function expectDone({ status, body }: { status: number; body: unknown }): void {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
}

function fillNotes(scene: Scene): Promise<unknown> {
  return write(scene, (tx) => {
    const texts = { author: '', editor: '', subject: 'large', body: '' }
    const note = { ...texts, site_id: scene.siteId, created_at: 0, updated_at: 0, size_bytes: 10 << 20 }
    return tx.insertInto('notes').values(note).execute()
  })
}

const muPlugin = ({ number }: Scene, name: string) => ({
  body: { path: `https://plugins.example.com/${number}/${name}`, existing_sites: false, future_sites: false },
})

/**
 * Removes all hosts.
 * @returns a function that restores them
 */
/** Hosts that report something, until the case is over. */
function hostRefuses(version: string) {
  return async (scene: Scene): Promise<() => Promise<unknown>> => {
    const hosts = await scene.api.database.read.selectFrom('hosts').select(['id', 'facts']).execute()
    const facts = JSON.stringify({ containment: { runtimes: { [version]: 'refused' } } })
    await write(scene, (tx) => tx.updateTable('hosts').set({ facts }).execute())
    return () =>
      write(scene, async (tx) => {
        for (const { id, facts: before } of hosts)
          await tx.updateTable('hosts').set({ facts: before }).where('id', '=', id).execute()
      })
  }
}

async function withoutHosts(scene: Scene): Promise<() => Promise<unknown>> {
  const { read } = scene.api.database
  const hosts = await read.selectFrom('hosts').selectAll().execute()
  const siteDirectories = await read.selectFrom('site_homes').selectAll().execute()
  const sites = await read.selectFrom('sites').select(['id', 'host_id']).where('host_id', 'is not', null).execute()
  await write(scene, async (tx) => {
    await tx.deleteFrom('site_homes').execute()
    await tx.updateTable('sites').set({ host_id: null }).execute()
    await tx.deleteFrom('hosts').execute()
  })
  return () =>
    write(scene, async (tx) => {
      await tx.insertInto('hosts').values(hosts).execute()
      for (const { id, host_id } of sites) await tx.updateTable('sites').set({ host_id }).where('id', '=', id).execute()
      if (siteDirectories.length > 0) await tx.insertInto('site_homes').values(siteDirectories).execute()
    })
}

function fillMuPlugins(scene: Scene): Promise<unknown> {
  return write(scene, async (tx) => {
    const values = { accountId: scene.owner.accountId, path: 'x', existing: false, future: false, now: 1 }
    for (let index = 0; index < MOST_MU_PLUGINS; index++)
      await insertMuPlugin(tx, { ...values, slug: `filler-${index}.php` })
  })
}

async function fillTags(scene: Scene): Promise<void> {
  for (const { accountId } of [scene.owner, scene.friend]) {
    const tags = Array.from({ length: 2000 }, (_, index) => ({ account_id: accountId, name: `tag ${index}` }))
    await write(scene, (tx) => tx.insertInto('tags').values(tags).execute())
  }
}

async function fillBackups({ api, siteId }: Scene): Promise<void> {
  for (let index = 0; index < MOST_ON_DEMAND; index++) await backupIn(api, siteId, { kind: 'fs' })
}

/** A site on which the owner of the scene has all roles, but which another account owns. */
async function sitesOfFriend({ api, owner, friend: other, number }: Scene): Promise<number> {
  const site = await api.site(other, `friends-${number}`)
  await api.collaborate(owner, site, ['manage_dns'])
  return site
}

async function withZone({ api, owner: { accountId }, siteId, number }: Scene, end = 'test'): Promise<Example> {
  const { zone, record } = await zoneIn(api, { accountId, siteId, name: `scene-${number}.${end}` })
  return { params: { zone_id: zone, id: record } }
}

function recordIs(values: { type?: 'TXT'; site_id?: null }) {
  return (scene: Scene) =>
    write(scene, (tx) => tx.updateTable('dns_records').set(values).where('site_id', '=', scene.siteId).execute())
}

/** Creates a zone of the owner, named after the scene, with a record `www` and others. */
async function zoned(
  scene: Scene,
  body: Record<string, unknown>,
  { name = 'note', type = 'TXT', count = 1 }: { name?: string; type?: 'TXT' | 'CNAME'; count?: number } = {},
): Promise<Example> {
  const { accountId } = scene.owner
  const { zone } = await zoneIn(scene.api, { accountId, siteId: scene.siteId, name: `scene-${scene.number}.test` })
  const blank = { priority: null, weight: null, port: null, ttl: 3600, siteId: null }
  const drafts = Array.from({ length: count }, (_, at) => ({ ...blank, type, name, value: `text-${at}` }))
  await write(scene, (tx) => insertRecords(tx, zone, drafts, 1))
  return { params: { zone_id: zone }, body }
}

/** Their zone belongs to the installation. Its operator owns it, and they may read it. */
async function zoneOfOperator(scene: Scene): Promise<unknown> {
  const ofScene = await scene.api.database.read
    .selectFrom('zones')
    .select(['id', 'name'])
    .where('account_id', '=', scene.owner.accountId)
    .executeTakeFirstOrThrow()
  const operator = await firstAccount(scene.api.database.read)
  const named = (name: string) =>
    write(scene, (tx) => tx.updateTable('zones').set({ name }).where('id', '=', ofScene.id).execute())
  await named('ns1.localhost')
  await write(scene, (tx) =>
    tx.updateTable('zones').set({ account_id: operator?.id }).where('id', '=', ofScene.id).execute(),
  )
  // The next case needs the name.
  return () => named(ofScene.name)
}

/** The sessions of the scene began at another origin of the panel. */
function sessionsAt(origin: string) {
  return (scene: Scene) =>
    write(scene, (tx) =>
      tx.updateTable('sessions').set({ origin }).where('account_id', '=', scene.owner.accountId).execute(),
    )
}

async function takeHostName(scene: Scene): Promise<unknown> {
  const other = await scene.api.site(scene.owner, `other-${scene.number}`)
  return write(scene, (tx) => putRoute(tx, other, `taken.scene-${scene.number}.test`, 0, true))
}

function fillClaims(scene: Scene): Promise<unknown> {
  const { owner, friend, siteId } = scene
  const of = {
    accountId: owner.accountId,
    holderId: friend.accountId,
    siteId,
    hostName: 'a',
    value: 'a',
    movesAt: 1e15,
  }
  return write(scene, async (tx) => {
    for (let at = 0; at < MOST_CLAIMS; at++) await insertClaim(tx, { ...of, zone: `claim-${at}.test` })
  })
}

function fillDomains(scene: Scene): Promise<unknown> {
  const names = Array.from({ length: MOST_DOMAINS }, (_, at) => `of-${at}.scene-${scene.number}.example.com`)
  return write(scene, async (tx) => {
    for (const name of names) await putRoute(tx, scene.siteId, name, 0, true)
  })
}

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

/**
 * Of the site, of the account, and of the operator.
 * @returns a function that removes the operator's
 */
async function fillOperations(scene: Scene): Promise<() => Promise<unknown>> {
  const target = { accountId: scene.owner.accountId, hostId: 1, runAt: Date.now() + 86_400_000 }
  const input = { siteId: scene.siteId }
  const operator = await write(scene, async (tx) => {
    const accountId = (await firstAccount(tx))?.id ?? null
    // One more than the limit, because a removal that is put off does not count itself.
    for (let index = 0; index <= 100; index++) {
      await enqueue(tx, configureSite, input, { ...target, siteId: scene.siteId })
      await enqueue(tx, configureSite, input, target)
      await enqueue(tx, configureSite, input, { ...target, accountId })
    }
    return accountId
  })
  return () =>
    write(scene, (tx) =>
      tx.deleteFrom('operations').where('type', '=', configureSite.name).where('account_id', '=', operator).execute(),
    )
}

export async function provokeOwn(one: OwnCase, endpoint: Endpoint, stage: Stage): Promise<Provoked> {
  const scene = await stage.tour.scene()
  const example = (await (one.example ?? examples[endpoint.id])?.(scene)) ?? {}
  const after = (await one.prepare?.(scene, stage)) as Provoked['after'] | object
  const by = isOfOperator(endpoint) ? stage.tour.stranger : one.by?.(scene)
  const request = withHeader(stage.tour.requestFor(endpoint, scene, example, by), one.headers ?? {})
  return {
    scene,
    request,
    ...(one.on && { app: stage[one.on] }),
    ...(typeof after === 'function' && { after: after as () => Promise<unknown> }),
  }
}

/** A request that the API must refuse. */
export interface Provoked {
  readonly scene: Scene
  readonly request: InjectOptions
  /** Default: the usual instance. */
  readonly app?: FastifyInstance
  readonly after?: () => Promise<unknown>
}

export interface CommonCase {
  readonly code: ProblemCode
  /** Changes its scene. The others share one. */
  readonly isAlone?: true
  provoke(endpoint: Endpoint, scene: Scene, stage: Stage): Promise<Omit<Provoked, 'scene'>>
}

const asked = async (endpoint: Endpoint, scene: Scene, { tour }: Stage) => tour.requestOf(endpoint, scene)
const withHeader = (request: InjectOptions, headers: Record<string, string>): InjectOptions => ({
  ...request,
  headers: { ...(request.headers as Record<string, string>), ...headers },
})
const withBody = (request: InjectOptions, payload: string, type = 'application/json'): InjectOptions => ({
  ...withHeader(request, { 'content-type': type }),
  payload,
})
const body = (payload: string, type?: string): CommonCase['provoke'] => {
  return async (...where) => ({ request: withBody(await asked(...where), payload, type) })
}
const failure = (error: unknown): CommonCase['provoke'] => {
  return async (endpoint, scene, stage) => {
    stage.failure = { error, ofReads: !changes(endpoint) }
    return { request: await asked(endpoint, scene, stage), app: stage.failing }
  }
}
const firstKey = 'once'

export const commonCases: readonly CommonCase[] = [
  { code: 'unauthorized', provoke: async (...where) => ({ request: as(undefined, await asked(...where)) }) },
  {
    code: 'wrong_scheme',
    provoke: async (...where) => ({
      request: withHeader(await asked(...where), { authorization: 'Basic aWQ6c2VjcmV0' }),
    }),
  },
  {
    code: 'bare_token',
    provoke: async (...where) => ({
      request: withHeader(await asked(...where), { authorization: where[1].owner.token }),
    }),
  },
  {
    code: 'invalid_token',
    provoke: async (endpoint, scene, stage) => ({
      request: as({ ...scene.owner, token: 'unknown', sessionToken: 'unknown' }, await asked(endpoint, scene, stage)),
    }),
  },
  {
    code: 'cross_site',
    provoke: async (...where) => ({
      request: withHeader(as(undefined, await asked(...where)), {
        ...ofBrowser(where[1].owner.sessionToken),
        'sec-fetch-site': 'same-site',
      }),
    }),
  },
  {
    code: 'no_session',
    provoke: async (...where) => ({
      request: withHeader(as(undefined, await asked(...where)), { authorization: `Bearer ${where[1].owner.token}` }),
    }),
  },
  {
    code: 'proof_needed',
    isAlone: true,
    async provoke(endpoint, scene, stage) {
      const request = withHeader(
        as(undefined, await asked(endpoint, scene, stage)),
        ofBrowser(callerOf(endpoint, scene, stage).sessionToken),
      )
      await write(scene, async (tx) => {
        const long = { proven_at: Date.now() - 3_600_000 }
        const { accountId } = callerOf(endpoint, scene, stage)
        await tx.updateTable('sessions').set(long).where('account_id', '=', accountId).execute()
        await announce(tx, 'tokens')
      })
      return { request }
    },
  },
  {
    code: 'rate_limited',
    async provoke(endpoint, scene, stage) {
      const { payload: _, ...request } = await asked(endpoint, scene, stage)
      await stage.strict.inject({ ...request, method: 'GET', url: '/v1/account' })
      return { request: endpoint.rate === 'address' ? await twice(request, stage) : request, app: stage.strict }
    },
  },
  {
    code: 'forbidden',
    isAlone: true,
    async provoke(endpoint, scene, stage) {
      await friendHas('[]')(scene)
      return { request: as(scene.friend, await asked(endpoint, scene, stage)) }
    },
  },
  {
    code: 'insufficient_scope',
    async provoke(endpoint, scene, stage) {
      const plain = await scene.api.person(scene.owner.email, { isOwner: false })
      return { request: as(plain, await asked(endpoint, scene, stage)) }
    },
  },
  {
    code: 'operator_only',
    async provoke(endpoint, scene, stage) {
      return { request: as(scene.owner, await asked(endpoint, scene, stage)) }
    },
  },
  {
    code: 'not_found',
    async provoke(endpoint, scene, stage) {
      const request = await asked(endpoint, scene, stage)
      const url = endpoint.path.replace(/\{\w+\}/g, '999999999')
      if (endpoint.params) return { request: { ...request, url } }
      // Accounts and sites that a body names.
      const sent = JSON.parse(request.payload as string)
      const named =
        'siteIds' in sent
          ? { siteIds: [999_999_999] }
          : { [sent.from_site_id ? 'from_site_id' : 'account_id']: 999_999_999 }
      return { request: { ...request, payload: JSON.stringify({ ...sent, ...named }) } }
    },
  },
  { code: 'invalid_json', provoke: body('{') },
  { code: 'unsupported_media_type', provoke: body('<a/>', 'none') },
  {
    code: 'body_too_large',
    async provoke(endpoint, scene, stage) {
      if (!endpoint.upload) return body(JSON.stringify({ filler: 'x'.repeat(1 << 20) }))(endpoint, scene, stage)
      const { payload: _, ...request } = await asked(endpoint, scene, stage)
      return { request: withHeader(request, { 'content-length': String(endpoint.upload.mostBytes + 1) }) }
    },
  },
  { code: 'invalid_form', provoke: body('no part', 'multipart/form-data; boundary=none') },
  {
    code: 'too_many_bodies',
    provoke: async (...where) => ({ request: withBody(await asked(...where), '{}'), app: where[2].strict }),
  },
  {
    code: 'invalid_input',
    async provoke(endpoint, scene, stage) {
      const request = await asked(endpoint, scene, stage)
      // Half of a surrogate pair.
      if (endpoint.anyBody) return { request: withBody(request, '{"name":"\\ud800"}') }
      if (endpoint.body) return { request: withBody(request, '["no object"]') }
      const query = Object.keys(endpoint.query?.properties ?? {}).map((name) => `${name}=%00&${name}=x`)
      return { request: { ...request, url: `${String(request.url).split('?')[0]}?${query.join('&')}` } }
    },
  },
  {
    code: 'invalid_idempotency_key',
    provoke: async (...where) => ({ request: withHeader(await asked(...where), { 'idempotency-key': 'two words' }) }),
  },
  {
    code: 'idempotency_key_reused',
    isAlone: true,
    async provoke(...where) {
      const request = await keyed(...where)
      await changeKey(where, { fingerprint: 'another' })
      return { request }
    },
  },
  {
    code: 'idempotency_in_progress',
    isAlone: true,
    async provoke(...where) {
      const request = await keyed(...where)
      await changeKey(where, { response_sealed: null, locked_until: Date.now() + 30_000 })
      return { request }
    },
  },
  {
    code: 'idempotency_keys_exhausted',
    isAlone: true,
    async provoke(...where) {
      const [endpoint, { api }, { tour }] = where
      // The count of an application's stored keys is cached, and the operator's application has sent keys before.
      const operator = isOfOperator(endpoint) ? await api.person(tour.stranger.email) : undefined
      const request = operator ? as(operator, await asked(...where)) : await asked(...where)
      const row = { fingerprint: '', claim: '', response_sealed: '', status: 200, size_bytes: 256 << 20 }
      const applicationId = operator?.applicationId ?? applicationOf(...where)
      await write(where[1], (tx) =>
        tx
          .insertInto('idempotency_keys')
          .values({ ...row, application_id: applicationId, key: 'large', locked_until: 0, created_at: Date.now() })
          .execute(),
      )
      return { request: withHeader(request, { 'idempotency-key': firstKey }) }
    },
  },
  {
    code: 'operation_limit_reached',
    isAlone: true,
    async provoke(endpoint, scene, stage) {
      const after = await fillOperations(scene)
      return { request: await asked(endpoint, scene, stage), after }
    },
  },
  { code: 'internal', provoke: failure(new Error('anything')) },
  { code: 'unavailable', provoke: failure(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })) },
  { code: 'outcome_unknown', provoke: failure(new CommitUnknown(new Error('lost'))) },
  { code: 'disk_full', provoke: failure(Object.assign(new Error('full'), { code: 'ENOSPC' })) },
]

/** The request, which was sent once before. */
async function twice(request: InjectOptions, { strict }: Stage): Promise<InjectOptions> {
  await strict.inject(request)
  return request
}

/** A request with a used key, whose first answer is stored. */
async function keyed(endpoint: Endpoint, scene: Scene, stage: Stage): Promise<InjectOptions> {
  const request = withHeader(await asked(endpoint, scene, stage), { 'idempotency-key': firstKey })
  await forgetKeys(endpoint, scene, stage)
  const first: Response = await stage.tour.send(endpoint, request)
  if (first.statusCode >= 300) throw new Error(`${first.statusCode}: ${first.body}`)
  // A signed-out caller cannot send a second request.
  await write(scene, (tx) => tx.updateTable('tokens').set({ revoked_at: null }).execute())
  return request
}

const callerOf = (endpoint: Endpoint, { owner }: Scene, { tour }: Stage): Person =>
  isOfOperator(endpoint) ? tour.stranger : owner

/** The operator is the same in all scenes. */
const forgetKeys = (...where: readonly [Endpoint, Scene, Stage]): Promise<unknown> =>
  write(where[1], (tx) =>
    tx
      .deleteFrom('idempotency_keys')
      .where('application_id', '=', applicationOf(...where))
      .execute(),
  )

function applicationOf(endpoint: Endpoint, scene: Scene, stage: Stage): number {
  const { panelApplicationId, applicationId } = callerOf(endpoint, scene, stage)
  return isOfSession(endpoint) ? panelApplicationId : applicationId
}

const changeKey = (
  [endpoint, scene, stage]: readonly [Endpoint, Scene, Stage],
  values: { fingerprint?: string; response_sealed?: null; locked_until?: number },
): Promise<unknown> =>
  write(scene, (tx) =>
    tx
      .updateTable('idempotency_keys')
      .set(values)
      .where('application_id', '=', applicationOf(endpoint, scene, stage))
      .execute(),
  )
