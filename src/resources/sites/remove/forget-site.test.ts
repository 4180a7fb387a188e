import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { addUptime, storeStates } from '../../../edge/monitor/monitor.store.ts'
import { siteHooks } from '../../../jobs.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { noteFault } from '../../alerts/faults.store.ts'
import { insertMute } from '../../alerts/mute.store.ts'
import { raiseAlert } from '../../alerts/raise-alert.ts'
import { insertBackup } from '../../backups/backup.store.ts'
import { wantCertificate } from '../../certificates/certificate.ts'
import { storeReport } from '../../client-reports/client-report.store.ts'
import type { ReportContents } from '../../client-reports/contents.ts'
import { noteMail, setRecipients } from '../../client-reports/mail/recipients.store.ts'
import { rememberFailure } from '../../cms-version/failed-update.store.ts'
import { insertDatabaseLink } from '../../database-admin/link.store.ts'
import { insertClaim } from '../../domains/claim.store.ts'
import { insertLink } from '../../environments/environment.store.ts'
import { insertLicense } from '../../extension-license/license.store.ts'
import { insertImport } from '../../imports/import.store.ts'
import { insertLoginLink } from '../../login-links/login-link.store.ts'
import { openIncident, storeMonitoring } from '../../monitoring/monitoring.store.ts'
import { insertMuPlugin } from '../../must-use-plugins/mu-plugin.store.ts'
import { withReportIn } from '../../performance-reports/performance-reports.fixture.ts'
import { noteAttempt } from '../../performance-reports/report.store.ts'
import { storePlugins } from '../../plugins/plugin.store.ts'
import { withBatch, withPolicy, withUpdate } from '../../safe-updates/safe-updates.fixture.ts'
import { setSafeUpdateSettings } from '../../safe-updates/settings/safe-update-settings.store.ts'
import { insertSftpKey } from '../../sftp-users/sftp-user.store.ts'
import { purgeSite } from './remove-site.job.ts'

/** Tables with rows that belong to one site only. */
const tables = [
  'collaborators',
  'site_access',
  'site_tags',
  'notes',
  'extension_licenses',
  'login_links',
  'plugin_lists',
  'site_extensions',
  'database_admin_links',
  'mu_plugin_sites',
  'dns_records',
  'domain_checks',
  'zone_claims',
  'sftp_users',
  'sftp_keys',
  'site_statistics',
  'page_view_days',
  'uptime_days',
  'monitoring_states',
  'site_monitoring',
  'site_incidents',
  'alerts',
  'alert_mutes',
  'site_faults',
  'backups',
  'backup_schedules',
  'imports',
  'failed_updates',
  'certificates',
  'performance_reports',
  'performance_attempts',
  'client_reports',
  'client_report_days',
  'client_report_settings',
  'client_report_mails',
  'safe_updates',
  'safe_update_settings',
  'site_environments',
  'safe_update_batch_sites',
  'site_update_policies',
  'update_turns',
  'undone_updates',
  'webhook_sites',
] as const

const theme = { name: 'a', title: 'A', version: '1', isActive: true, updateVersion: null, isAutomatic: false }

/** Tables that name a site and outlive it, with the reason. */
const others = {
  activity: 'logs tell of it still, until their time is over',
  events: 'the same',
  operations: 'the same',
  operation_results: 'go with their operations',
  webhook_deliveries: 'go with their events',
  site_homes: 'goes with the folder',
  routes: 'go with the deletion of the folder, before the rest',
  cache_purges: 'edges are told of old ones, too',
  visitors: 'go after a day',
}

describe.each(dialects)('purging a deleted site on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  const furnish = async (name: string) => {
    const id = await api.site(owner, name)
    await owner.call('POST', `/v1/sites/${id}/domains`, { name: `www.${name}.test` })
    await owner.call('POST', `/v1/sites/${id}/collaborators`, { email: 'helper@example.com' })
    await owner.call('POST', `/v1/sites/${id}/tags`, { tag_names: ['shared', `of ${name}`] })
    await owner.call('POST', `/v1/sites/${id}/notes`, { subject: 'a', body: 'b' })
    const webhook = await owner.call('POST', '/v1/webhooks', { url: 'https://hooks.example.com' })
    await api.database.transaction(async (tx) => {
      await tx.insertInto('page_view_days').values({ site_id: id, day: 1, views: 1, people: 1 }).execute()
      await tx.insertInto('site_statistics').values({ site_id: id, page_views: '{}', refreshed_at: 1 }).execute()
      await insertBackup(tx, { siteId: id, kind: 'fs', origin: 'scheduled', createdBy: null, deleteAt: 1, now: 1 })
      await wantCertificate(tx, { hostName: `${name}.example.com`, siteId: id, now: 1 })
      const found = { site_id: id, reason: 'php', detail: '' } as const
      await storeStates(tx, [{ ...found, edge: 'a', host_name: 'a', state: 'down', since: 1 }])
      await addUptime(tx, [{ site_id: id, day: 1, asked: 1, slow: 0, failed: 0 }])
      await storeMonitoring(tx, { ...found, state: 'down', since: 1 })
      await openIncident(tx, { ...found, began_at: 1 })
      await raiseAlert(tx, { kind: 'site_down', siteId: id, detail: '' }, 1)
      await noteFault(tx, { kind: 'php_errors', siteId: id, detail: '', now: 1 })
      await insertMute(tx, owner.accountId, { siteId: id, kind: null, until: null, now: 1 })
      await tx.insertInto('webhook_sites').values({ webhook_id: webhook.body.data.id, site_id: id }).execute()
      const { accountId } = owner
      const claim = { accountId, holderId: accountId, siteId: id, hostName: 'a', value: 'a', movesAt: 1 }
      await insertClaim(tx, { ...claim, zone: `${name}.example` })
      await insertImport(tx, { siteId: id, state: 'ready', sources: [], starts: false, createdAt: 1, expiresAt: 1 })
      await insertLicense(tx, { siteId: id, licenseKey: 'a', now: 1 })
      await storePlugins(tx, id, { plugins: [], themes: [theme] }, 1)
      await rememberFailure(tx, { siteId: id, version: '6.9', againAt: null, now: 1 })
      await withReportIn(tx, id)
      await noteAttempt(tx, id, 1)
      await storeReport(tx, { siteId: id, month: 1, contents: {} as ReportContents, now: 1 })
      await setRecipients(tx, id, { recipients: ['a@example.com'], lastMonth: 1, now: 1 })
      await noteMail(tx, { siteId: id, month: 1, address: 'a@example.com', now: 1 })
      const counts = { files: 1, databases: 0, proven: 0, not_proven: 0, changes: '[]' }
      await tx
        .insertInto('client_report_days')
        .values({ site_id: id, day: 1, ...counts })
        .execute()
      await withUpdate(tx, id, id)
      await setSafeUpdateSettings(tx, id, { masks: [], paths: [] })
      await withPolicy(tx, id, id)
      await insertLink(tx, { siteId: id, liveSiteId: 999_999, copiedAt: null, now: 1 })
      await withBatch(tx, id, owner.accountId, id)
      await insertDatabaseLink(tx, { siteId: id, accountId: owner.accountId, token: name, expiresAt: 1 })
      const file = { accountId: owner.accountId, path: 'x', slug: `${name}.php`, existing: true, future: true, now: 1 }
      const plugin = await insertMuPlugin(tx, file)
      await tx.insertInto('mu_plugin_sites').values({ plugin_id: plugin.id, site_id: id }).execute()
      await insertLoginLink(
        tx,
        { siteId: id, madeById: 1, accountId: 1, token: name, login: 'a', userAgent: 'b', expiresAt: 1 },
        1,
      )
      const user = tx.selectFrom('sftp_users').select(['id', 'site_id as siteId']).where('site_id', '=', id)
      const key = { name: '', type: '', fingerprint: '', publicKey: '', by: 1, now: 1 }
      await insertSftpKey(tx, await user.executeTakeFirstOrThrow(), key)
      const due = { files_at: 1, database_at: 1, proof_at: 1, told_at: null }
      await tx
        .insertInto('backup_schedules')
        .values({ site_id: id, ...due })
        .execute()
    })
    return id
  }
  const rowsOf = async (siteId: number) => {
    const counts = tables.map(async (table) => {
      const rows = await api.database.read.selectFrom(table).select('site_id').where('site_id', '=', siteId).execute()
      return [table, rows.length] as const
    })
    const words = await api.database.read
      .selectFrom('search_words')
      .select('word')
      .where('about_id', '=', siteId)
      .where('kind', '=', 'site')
      .execute()
    return { ...Object.fromEntries(await Promise.all(counts)), search_words: words.length }
  }

  test('removes all that belonged only to the site, and keeps other sites and the account’s log', async () => {
    const gone = await furnish('gone-site')
    const kept = await furnish('kept-site')
    const before = await rowsOf(kept)
    expect(Object.values(before).every((count) => count > 0)).toBe(true)
    await owner.call('DELETE', `/v1/sites/${gone}`)
    const forget = purgeSite.steps.records?.commit as (tx: Tx, context: object) => Promise<void>
    const context = { input: { siteId: gone }, services: { siteHooks } }
    for (let times = 0; times < 2; times++) await api.database.transaction((tx) => forget(tx, context))
    expect(await rowsOf(gone)).toEqual(Object.fromEntries([...tables, 'search_words'].map((table) => [table, 0])))
    expect(await rowsOf(kept)).toEqual(before)
    const tags = await api.database.read.selectFrom('tags').select('name').orderBy('name').execute()
    expect(tags.map(({ name }) => name)).toEqual(['of kept-site', 'shared'])
    const log = (await owner.call('POST', '/v1/account/logs/activity', {})).body.data
    expect(log.map(({ message }: { message: string }) => message)).toContain('Deleted site gone-site')
  })

  test('every table that names a site is one of these', async () => {
    const all = await api.database.read.introspection.getTables()
    const ofSites = all.filter(({ columns }) => columns.some(({ name }) => name === 'site_id')).map(({ name }) => name)
    expect(ofSites.sort()).toEqual([...tables, ...Object.keys(others)].sort())
  })
})
