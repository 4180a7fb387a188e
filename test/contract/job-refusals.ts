/**
 * Permanent refusals of background work, although its request was valid: a site is deleted while its operation waits, a
 * backup is deleted, WordPress refuses. Each case is one fault in what a sample prepared, and the error of its
 * operation.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CoreUnavailable } from '../../src/hosting/core-library/core-library.ts'
import { MeasureImpossible } from '../../src/hosting/page-measure/measure-page.ts'
import { PhpTaskError } from '../../src/hosting/php/task-error.ts'
import type { TaskInput, TaskName } from '../../src/hosting/php/tasks.ts'
import { deleteRemoval } from '../../src/resources/account/removal.store.ts'
import { siteOwner } from '../../src/resources/backups/backup.ts'
import { changeName } from '../../src/resources/certificates/certificate.store.ts'
import { changeImport } from '../../src/resources/imports/import.store.ts'
import { changeMuPlugin } from '../../src/resources/must-use-plugins/mu-plugin.store.ts'
import { insertLink } from '../../src/resources/sign-in/credentials.store.ts'
import { markDeleted } from '../../src/resources/sites/site.store.ts'
import { change, type World } from './job-samples.ts'

/** The input of the sample. A refusal may change it. */
// biome-ignore lint/suspicious/noExplicitAny: input of any definition
type Input = any

export interface JobRefusal {
  readonly type: string
  /** The error of its operation. */
  readonly says: string
  /** The step after which the fault is created. Default: before the first step. */
  readonly after?: string
  /** A retry may help, so the operation has failed only after the last attempt. */
  readonly isTriedAgain?: boolean
  /** Creates the fault. */
  wrong(world: World, input: Input): Promise<unknown> | unknown
}

const deleteSite = (world: World, id = world.site) => change(world, (tx) => markDeleted(tx, id, Date.now()))
const deleteDirectory = (world: World, id = world.site) =>
  change(world, (tx) => tx.deleteFrom('site_homes').where('site_id', '=', id).execute())
/** Moves the site to a host that does not exist. */
const sendAway = (world: World, id = world.site) =>
  change(world, (tx) => tx.updateTable('sites').set({ host_id: null }).where('id', '=', id).execute())
const uninstall = (world: World) =>
  change(world, (tx) => tx.updateTable('sites').set({ written_address: null }).where('id', '=', world.site).execute())
const replaceContent = (world: World, id: number) =>
  change(world, (tx) =>
    tx
      .updateTable('sites')
      .set(({ eb }) => ({ content_changes: eb('content_changes', '+', 1) }))
      .where('id', '=', id)
      .execute(),
  )
/** Removes the requester's rights on all sites. */
const loseRights = ({ api, owner, mate }: World) =>
  api.database.transaction((tx) =>
    tx
      .updateTable('operations')
      .set({ asked_by_id: mate.accountId })
      .where('account_id', '=', owner.accountId)
      .where('finished_at', 'is', null)
      .execute(),
  )
const give = ({ host }: World, services: object) => Object.assign(host.services, services)
const unavailable = async () => {
  throw new CoreUnavailable('6.9', [])
}
/** Makes its WordPress answer a task differently. */
function answer<Name extends TaskName>(world: World, name: Name, how: (input: TaskInput<Name>) => unknown): void {
  const { pool } = world.host.services
  const runTask = async (...[site, asked, input, options]: Parameters<typeof pool.runTask>) =>
    asked === name ? how(input as never) : pool.runTask(site, asked, input, options)
  give(world, { pool: { ...pool, runTask } })
}
const refuse = () => {
  throw new PhpTaskError('not today')
}
/** Makes the site fail its checks after the change. */
function onceThenRefuse(first: unknown): () => unknown {
  let asked = 0
  return () => (asked++ === 0 ? first : refuse())
}
const deleteBackup = (world: World, id: number) =>
  change(world, (tx) => tx.deleteFrom('backups').where('id', '=', id).execute())
/** A plugin in a folder, or in a single file. */
async function addPlugin({ host, site }: World, file: string): Promise<void> {
  const directory = await host.services.siteDirectories.ofSite(site)
  const path = join(directory?.path as string, 'web/wp-content/plugins', file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, '1.0')
}
const loseBackups = async ({ api, site }: World) => {
  const names = await api.backups.repository(siteOwner(site)).list()
  for (const { name } of names) await api.backups.repository(siteOwner(site)).remove(name)
}
const deleteImports = (world: World) =>
  change(world, (tx) => tx.deleteFrom('imports').where('site_id', '=', world.site).execute())
const stagedOf = ({ host }: World) => join(host.services.config.dataDir, 'imports')
const loseStaged = (world: World) => rm(stagedOf(world), { recursive: true })
const spoilArchive = (world: World, importId: number) =>
  change(world, async (tx) => {
    await writeFile(join(stagedOf(world), String(importId), 'uploaded/1'), 'PK nonsense')
    await changeImport(tx, importId, { uploads: [{ number: 1, name: 'site.wpress', bytes: 11, received: 11 }] })
  })
const loseContents = (world: World) => change(world, (tx) => tx.deleteFrom('mu_plugin_contents').execute())
const packageOf = (input: Input, url: string) => {
  for (const plugin of input.plugins) plugin.package = { ...plugin.package, url }
}
const breakPage = (world: World) =>
  give(world, {
    pool: { ...world.host.services.pool, handle: async () => ({ status: 500, headers: [], body: [] }) },
  })

// biome-ignore format: a table
export const jobRefusals: readonly JobRefusal[] = [
  { type: 'account.remove', says: 'The removal was canceled', wrong: (world, { removalId }) => change(world, (tx) => deleteRemoval(tx, removalId)) },

  { type: 'site.provision', says: 'The site was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.provision', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { template: unavailable }) },
  { type: 'site.provision', says: 'WooCommerce cannot be installed: the plugin directory does not list it', wrong: (world) => give(world, { pluginDirectory: { find: async () => undefined } }) },
  { type: 'site.provision', says: 'WooCommerce cannot be installed: not today', wrong: (world) => answer(world, 'make-shop-pages', refuse) },

  { type: 'site.clone', says: 'The site was deleted', wrong: (world, { siteId }) => deleteSite(world, siteId) },
  { type: 'site.clone', says: 'The source site was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.clone', says: 'The source site was deleted', wrong: (world) => deleteDirectory(world) },
  { type: 'site.clone', says: 'The source site is on another host', wrong: (world) => sendAway(world) },
  { type: 'site.clone', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { template: unavailable }) },
  { type: 'site.clone', says: 'WordPress uses http://elsewhere.example as its address', wrong: (world) => answer(world, 'check-copy', () => ({ home: 'http://elsewhere.example' })) },
  { type: 'site.clone', says: 'The clone does not respond: its homepage responds with status 500', wrong: breakPage, isTriedAgain: true },

  { type: 'site.sync', says: 'Backup 987654 of site', wrong: (world, input) => input.backups.push({ siteId: world.site, backupId: 987654 }) },
  { type: 'site.sync', says: 'One of the two sites was deleted', wrong: (world) => deleteSite(world) },
  { type: 'site.sync', says: 'One of the two sites was deleted', wrong: (world, { sourceId }) => deleteSite(world, sourceId) },
  { type: 'site.sync', says: 'is on another host', wrong: (world) => sendAway(world) },
  { type: 'site.sync', says: 'has no site directory on this host', wrong: (world) => deleteDirectory(world) },
  { type: 'site.sync', says: 'has no site directory on this host', wrong: (world, { sourceId }) => deleteDirectory(world, sourceId) },
  { type: 'site.sync', says: 'Stead has no backup of the source for this sync', wrong: (world, { sourceId }) => sendAway(world, sourceId) },
  { type: 'site.sync', says: 'The source was overwritten during the copy', after: 'database', wrong: (world, { sourceId }) => replaceContent(world, sourceId) },

  { type: 'site.sync', says: 'no longer has the role download_backups', after: 'check', wrong: loseRights },
  { type: 'site.sync', says: 'no longer has the role download_backups', after: 'switch', wrong: loseRights },
  { type: 'site.sync', says: 'no longer has the role download_backups', after: 'answer', wrong: loseRights },
  { type: 'site.restore', says: 'no longer has the role restore_site', after: 'check', wrong: loseRights },
  { type: 'site.restore', says: 'no longer has the role restore_site', after: 'switch', wrong: loseRights },
  { type: 'site.restore', says: 'no longer has the role restore_site', after: 'answer', wrong: loseRights },
  { type: 'site.preview_restore', says: 'no longer has the role restore_site', after: 'check', wrong: loseRights },
  { type: 'site.clone', says: 'no longer has the role clone_site', after: 'home', wrong: loseRights },
  { type: 'site.clone', says: 'no longer has the role clone_site', after: 'answer', wrong: loseRights },
  { type: 'plugin.install', says: 'no longer has the role plugin_management_access', after: 'look', wrong: loseRights },
  { type: 'plugin.install', says: 'no longer has the role plugin_management_access', after: 'keep_database', wrong: loseRights },
  { type: 'import.inspect', says: 'no longer has the role restore_site', after: 'fetch', wrong: loseRights },
  { type: 'import.inspect', says: 'The import was deleted', wrong: (world) => deleteImports(world) },
  { type: 'import.inspect', says: 'The uploaded files are gone', wrong: (world) => loseStaged(world) },
  { type: 'import.inspect', says: 'The archive cannot be imported', wrong: (world, { importId }) => spoilArchive(world, importId) },
  { type: 'import.inspect', says: 'The site is not there, or is not installed', after: 'database', wrong: (world) => deleteDirectory(world) },
  { type: 'site.import', says: 'no longer has the role restore_site', after: 'check', wrong: loseRights },
  { type: 'site.import', says: 'no longer has the role restore_site', after: 'switch', wrong: loseRights },
  { type: 'site.import', says: 'The site is not there, or is not installed', wrong: (world) => deleteSite(world) },
  { type: 'site.import', says: 'The staged data of the import is gone', wrong: (world) => loseStaged(world) },
  { type: 'site.import', says: 'WordPress does not respond with the imported content', wrong: (world) => breakPage(world) },
  { type: 'site.import', says: 'The imported database does not fit: not today', wrong: (world) => answer(world, 'upgrade-database', refuse) },
  { type: 'site.restore', says: 'The site does not exist or is not installed', wrong: (world) => deleteSite(world) },
  { type: 'site.restore', says: 'The site does not exist or is not installed', wrong: (world) => deleteDirectory(world) },
  { type: 'site.restore', says: 'no longer exists', wrong: (world, { filesId }) => deleteBackup(world, filesId) },
  { type: 'site.restore', says: 'no longer exists', wrong: (world, { databaseId }) => deleteBackup(world, databaseId) },
  { type: 'site.restore', says: 'no longer exists', wrong: loseBackups },
  { type: 'site.preview_restore', says: 'no longer exists', wrong: loseBackups },
  { type: 'site.bring_back', says: "The site has no usable backup of its files", wrong: loseBackups },

  { type: 'backup.take', says: 'This backup was canceled. Create another backup', wrong: (world, { backupId }) => deleteBackup(world, backupId) },
  { type: 'backup.take', says: 'This backup was canceled', after: 'take', wrong: (world, { backupId }) => deleteBackup(world, backupId) },
  { type: 'backup.take', says: 'The site has no site directory on this host', wrong: (world) => deleteDirectory(world) },

  { type: 'mu_plugin.install', says: 'The must-use plugin was deleted', wrong: (world, { pluginId }) => change(world, (tx) => changeMuPlugin(tx, pluginId, { deleted_at: 1 })) },
  { type: 'mu_plugin.install', says: 'The must-use plugin was deleted', wrong: (world, { pluginId }) => change(world, (tx) => tx.deleteFrom('mu_plugins').where('id', '=', pluginId).execute()) },
  { type: 'mu_plugin.install', says: 'The must-use plugin was deleted', after: 'check', wrong: (world, { pluginId }) => change(world, (tx) => changeMuPlugin(tx, pluginId, { deleted_at: 1 })) },
  { type: 'mu_plugin.install', says: 'no longer exists. Update the plugin', after: 'fetch', wrong: loseContents },
  { type: 'mu_plugin.install', says: 'no longer exists. Update the plugin', after: 'check', wrong: loseContents },

  { type: 'site.make_performance_report', says: 'The site is not live', wrong: (world) => change(world, (tx) => tx.updateTable('sites').set({ state: 'disabled' }).where('id', '=', world.site).execute()) },
  { type: 'site.make_performance_report', says: 'The site is not live', wrong: (world) => deleteSite(world) },
  { type: 'site.make_performance_report', says: 'The site is in maintenance mode', wrong: (world) => change(world, (tx) => tx.updateTable('sites').set({ maintenance: 1 }).where('id', '=', world.site).execute()) },
  { type: 'site.make_performance_report', says: 'no browser here', wrong: (world) => give(world, { measurePage: async () => { throw new MeasureImpossible('no browser here') } }) },

  { type: 'site.flush_object_cache', says: 'The site is not installed yet', wrong: uninstall },
  { type: 'site.flush_object_cache', says: 'not today', wrong: (world) => answer(world, 'flush-object-cache', refuse) },
  { type: 'site.reset_admin_password', says: 'The site is not installed yet', wrong: (world) => deleteSite(world) },
  { type: 'site.reset_admin_password', says: 'WordPress did not set the password of', wrong: (world) => answer(world, 'reset-password', refuse) },
  { type: 'site.remove', says: 'The site is not deleted', wrong: (world) => change(world, (tx) => tx.updateTable('sites').set({ deleted_at: null }).where('id', '=', world.site).execute()) },

  { type: 'collaborator.reset_password', says: 'The collaborator no longer has access to WordPress', wrong: (world) => change(world, (tx) => tx.deleteFrom('collaborators').where('account_id', '=', world.mate.accountId).execute()) },
  { type: 'collaborator.reset_password', says: 'The collaborator no longer has access to WordPress', wrong: (world) => world.api.collaborate(world.mate, world.site, ['sftp_access']) },
  { type: 'collaborator.reset_password', says: 'The collaborator no longer has access to WordPress', wrong: (world) => deleteSite(world) },
  { type: 'collaborator.sync_wp_user', says: 'not today', wrong: (world) => answer(world, 'ensure-administrator', refuse) },

  { type: 'password.mail_link', says: 'The account was deleted', wrong: (_world, input) => { input.accountId = 987654 } },
  { type: 'password.mail_link', says: 'Stead already sent three links to this address in the last hour', wrong: (world, { accountId }) => change(world, async (tx) => { for (const hash of ['a', 'b', 'c']) await insertLink(tx, { hash: `${hash}-${accountId}`, accountId, now: Date.now(), expiresAt: Date.now() + 1e6 }) }) },

  { type: 'site.update_cms_version', says: 'The site has no site directory on this host', wrong: (world) => deleteDirectory(world) },
  { type: 'site.update_cms_version', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { cores: { ...world.host.services.cores, ensure: unavailable } }) },
  { type: 'site.update_cms_version', says: 'The site runs WordPress 6.8, which is newer than 6.7', wrong: (_world, input) => { input.version = '6.7' } },
  { type: 'site.update_cms_version', says: 'The site does not respond with WordPress 6.9: ', wrong: (world) => answer(world, 'front-page', onceThenRefuse({ status: 200, bytes: 1, databaseErrors: [] })) },
  { type: 'cms.look_for_releases', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { cores: { offers: unavailable } }) },

  { type: 'plugin.install', says: 'it, or another plugin, deactivated it immediately', wrong: (world) => answer(world, 'switch-plugin', () => ({ isActive: false })) },
  { type: 'plugin.install', says: 'WordPress says: not today', wrong: (world) => answer(world, 'upgrade-plugin', refuse) },
  { type: 'plugin.update', says: 'its package contains the folder tables, but the plugin is installed in forms', wrong: (_world, input) => packageOf(input, 'https://example.com/tables.2.0.zip') },
  { type: 'plugin.update', says: 'it is not installed', wrong: (_world, input) => { input.plugins[0].path = 'tables' } },
  { type: 'plugin.update', says: 'it breaks the site: ', wrong: (_world, input) => { input.plugins[0].package = { url: 'https://example.com/forms.6.6.6.zip', version: '6.6.6' } } },
  { type: 'plugin.activate', says: 'it is not installed', wrong: (_world, input) => { input.plugins[0].path = 'tables' } },
  { type: 'plugin.activate', says: 'it, or another plugin, deactivated it immediately', wrong: (world) => answer(world, 'switch-plugin', () => ({ isActive: false })) },
  { type: 'plugin.deactivate', says: 'another plugin activated it again', wrong: (world) => answer(world, 'switch-plugin', () => ({ isActive: true })) },
  { type: 'plugin.delete', says: 'the name of its folder is not allowed', wrong: async (world, input) => { await addPlugin(world, 'a b/a b.php'); input.plugins[0].path = 'a b' } },

  { type: 'certificate.order', says: 'too many of them', wrong: (world, { hostName }) => change(world, (tx) => changeName(tx, hostName, { not_before: Date.now() + 1e6, reason: 'too many of them' })) },
  { type: 'certificate.order', says: 'until the operator agrees to the terms', wrong: (world, { hostName }) => change(world, (tx) => changeName(tx, hostName, { chain: null })) },
]
