/**
 * Each webhook event has a cause: an endpoint (`records.test.ts` walks them), or background work (`walk-jobs.ts` runs a
 * sample of each). An event without a cause fails, and so does one that the named file does not mention.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { endpoints } from '../../src/app.ts'
import { controlJobs, hostJobs } from '../../src/jobs.ts'
import { resources } from '../../src/resources/index.ts'

/** The event, the endpoint or job that causes it, and the test that sees it. */
// biome-ignore format: a table
const causes: readonly (readonly [name: string, cause: string, seen: string])[] = [
  ['site_created', 'site.provision', 'test/contract/job-samples.ts'],
  ['site_deleted', 'deleteSite', 'test/contract/records.test.ts'],
  ['site_converted', 'convertSite', 'test/contract/records.test.ts'],
  ['site_enabled', 'enableSite', 'test/contract/records.test.ts'],
  ['site_disabled', 'disableSite', 'test/contract/records.test.ts'],
  ['site_restored', 'site.restore', 'test/contract/job-samples.ts'],
  ['site_restore_failed', 'site.restore', 'test/contract/job-samples.ts'],
  ['site_imported', 'site.import', 'test/contract/job-samples.ts'],
  ['site_import_failed', 'site.import', 'test/contract/job-samples.ts'],
  ['site_sync_success', 'site.sync', 'test/contract/job-samples.ts'],
  ['site_sync_failed', 'site.sync', 'test/contract/job-samples.ts'],
  ['site_maintenance_mode_toggled', 'site.maintenance', 'test/contract/job-samples.ts'],
  ['site_plugin_installed_successfully', 'plugin.install', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_install_failed', 'plugin.install', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_updated_successfully', 'plugin.update', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_update_failed', 'plugin.update', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_activated_successfully', 'plugin.activate', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_activation_failed', 'plugin.activate', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_deactivated_successfully', 'plugin.deactivate', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_deactivation_failed', 'plugin.deactivate', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_deleted_successfully', 'plugin.delete', 'src/resources/plugins/plugins.test.ts'],
  ['site_plugin_delete_failed', 'plugin.delete', 'src/resources/plugins/plugins.test.ts'],
  ['mu_plugin_install_success', 'mu_plugin.install', 'src/resources/must-use-plugins/mu-plugins.test.ts'],
  ['mu_plugin_install_failed', 'mu_plugin.install', 'src/resources/must-use-plugins/mu-plugins.test.ts'],
  ['mu_plugin_update_success', 'mu_plugin.update', 'src/resources/must-use-plugins/mu-plugins.test.ts'],
  ['mu_plugin_update_failed', 'mu_plugin.update', 'src/resources/must-use-plugins/mu-plugins.test.ts'],
  ['mu_plugin_deleted', 'mu_plugin.remove', 'src/resources/must-use-plugins/mu-plugins.test.ts'],
  ['ondemand_backup_created', 'backup.take', 'test/contract/job-samples.ts'],
  ['ondemand_backup_deleted', 'backup.delete', 'test/contract/job-samples.ts'],
  ['php_version_changed', 'updateSite', 'test/contract/records.test.ts'],
  ['wp_environment_type', 'updateSite', 'test/contract/records.test.ts'],
  ['wp_version_changed', 'site.update_cms_version', 'test/contract/job-samples.ts'],
  ['wp_admin_password_reset', 'site.reset_admin_password', 'test/contract/job-samples.ts'],
  ['light_weight_404_changed', 'toggleLight404', 'test/contract/records.test.ts'],
  ['collaborator_added', 'addSiteCollaborator', 'test/contract/records.test.ts'],
  ['collaborator_deleted', 'removeSiteCollaborator', 'test/contract/records.test.ts'],
  ['sftp_user_password_reset', 'resetSftpPassword', 'test/contract/records.test.ts'],
  ['enabled_edge_cache', 'toggleEdgeCache', 'src/resources/caches/edge-cache.test.ts'],
  ['disabled_edge_cache', 'toggleEdgeCache', 'src/resources/caches/edge-cache.test.ts'],
  ['purged_edge_cache', 'purgeEdgeCache', 'test/contract/records.test.ts'],
  ['edge_cache_defensive_mode_toggled', 'setDefensiveMode', 'test/contract/records.test.ts'],
  ['primary_domain_set', 'setPrimaryDomain', 'test/contract/records.test.ts'],
  ['domain_added', 'addDomain', 'test/contract/records.test.ts'],
  ['domain_removed', 'deleteDomain', 'test/contract/records.test.ts'],
  ['domain_claimed', 'addDomain', 'src/resources/domains/claims.test.ts'],
  ['domain_claim_ended', 'domains.settle_claims', 'src/resources/domains/claims.test.ts'],
  ['performance_report_created', 'site.make_performance_report', 'test/contract/job-samples.ts'],
]

const declared = resources.flatMap(({ events }) => Object.keys(events ?? {}))

it('every webhook event has a cause, and every cause an event', () => {
  const without = declared.filter((name) => !causes.some(([known]) => known === name))
  expect(without).toEqual([])
  expect(causes.map(([name]) => name).filter((name) => !declared.includes(name))).toEqual([])
})

it('every cause is an endpoint or a job that exists', () => {
  const known = [...endpoints.map(({ id }) => id), ...[...hostJobs, ...controlJobs].map(({ name }) => name)]
  expect(causes.map(([, cause]) => cause).filter((cause) => !known.includes(cause))).toEqual([])
})

it.each(causes)('%s comes from %s, as %s sees', (name, _cause, seen) => {
  expect(readFileSync(seen, 'utf8')).toMatch(new RegExp(`\\b${name}\\b`))
})
