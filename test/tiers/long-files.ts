/**
 * Unit test files that take long: they start a process for each case, write and read complete backups, or search for
 * rare races. The tier `system` runs all of them. `npm test` runs those with a change beside them.
 */
import { dirname } from 'node:path'
import { changedFiles } from '../support/changes.ts'

export const longFiles: readonly string[] = [
  'src/backups/archive/archive.test.ts',
  'src/backups/archive/bzip2-block.test.ts',
  'src/backups/damage.test.ts',
  'src/backups/kill.test.ts',
  'src/backups/leaning.test.ts',
  'src/backups/reading-back.test.ts',
  'src/backups/reading/read-on.test.ts',
  'src/backups/repository.test.ts',
  'src/backups/storage/lying-s3.test.ts',
  'src/backups/storage/storage.test.ts',
  'src/backups/sweep.test.ts',
  'src/cli/command-line.test.ts',
  'src/cli/completion.test.ts',
  'src/cli/installation/restore-installation.test.ts',
  'src/cli/installation/upgrade.test.ts',
  'src/cli/trust/change-trust.test.ts',
  'src/dns/signing/signing.test.ts',
  'src/edge/cache/purge/purge-races.test.ts',
  'src/edge/cache/slow-visitors.test.ts',
  'src/edge/cache/store/garbage.test.ts',
  'src/edge/gateway/gateway-load.test.ts',
  'src/edge/http2/bounds.test.ts',
  'src/edge/rules/defensive-mode.test.ts',
  'src/hosting/archives/archives.test.ts',
  'src/hosting/cron/mariadb-events.test.ts',
  'src/hosting/cron/sqlite-events.test.ts',
  'src/hosting/sftp/sftp-server.test.ts',
  'src/hosting/site-database/foreign-content.test.ts',
  'src/hosting/site-database/hostile-database.test.ts',
  'src/hosting/site-database/sqlite-content.test.ts',
  'src/hosting/site-files/hostile-tree.test.ts',
  'src/hosting/site-files/open-inside.test.ts',
  'src/hosting/site-files/platform/keep-platform.test.ts',
  'src/hosting/site-files/remove-tree.test.ts',
  'src/hosting/site-files/stage/cut-off.test.ts',
  'src/hosting/site-files/stage/made-files.test.ts',
  'src/hosting/site-files/stage/prepare.test.ts',
  'src/hosting/site-files/stage/switch.test.ts',
  'src/hosting/site-files/threads/copy.test.ts',
  'src/hosting/site-files/walk.test.ts',
  'src/hosting/site-imports/sources/ssh-site.test.ts',
  'src/hosting/site-imports/stage.test.ts',
  'src/hosting/web-server/slow-readers.test.ts',
  'src/platform/log-store/log-store.test.ts',
  'src/resources/activity/plans.test.ts',
  'src/resources/backups/download/downloads.test.ts',
  'src/resources/backups/restore/restore-site.test.ts',
  'src/resources/backups/schedule/prove-backups.test.ts',
  'src/resources/backups/schedule/scheduled-backups.test.ts',
  'src/resources/backups/schedule/try-out.test.ts',
  'src/resources/backups/sync/sync-hosts.test.ts',
  'src/resources/backups/sync/sync-rights.test.ts',
  'src/resources/backups/sync/undo-sync.test.ts',
  'src/resources/backups/take/left-out.test.ts',
  'src/resources/backups/take/measure-backup.test.ts',
  'src/resources/backups/take/ondemand-backup.test.ts',
  'src/resources/backups/take/take-backup.test.ts',
  'src/resources/client-reports/client-reports.test.ts',
  'src/resources/cms-version/automatic-updates.test.ts',
  'src/resources/environments/environments.test.ts',
  'src/resources/imports/old-site/old-site.test.ts',
  'src/resources/installation/accounts/remove-account.test.ts',
  'src/resources/installation/bring-back-site.test.ts',
  'src/resources/installation/hosts/drain-host.test.ts',
  'src/resources/installation/hosts/lost-host.test.ts',
  'src/resources/installation/hosts/rebalance-hosts.test.ts',
  'src/resources/installation/hosts/replace-host.test.ts',
  'src/resources/installation/relocate/relocate-site.test.ts',
  'src/resources/must-use-plugins/mu-plugins.test.ts',
  'src/resources/performance-reports/reports.test.ts',
  'src/resources/plugins/plugins.test.ts',
  'src/resources/safe-updates/policy/policy.test.ts',
  'src/resources/safe-updates/safe-updates.test.ts',
  'src/resources/sites/clone/clone-hosts.test.ts',
  'src/resources/sites/move/move-site.test.ts',
  'src/resources/sites/wordpress/site-filled.test.ts',
  'src/roles/keys/cores-for-hosts.test.ts',
  'src/roles/keys/storage-for-hosts.test.ts',
  'src/schedules.test.ts',
  'test/contract/fuzz.test.ts',
  'test/contract/install-packages.test.ts',
  'test/githooks/hooks.test.ts',
]

/**
 * Returns the files that a run of the unit tests on SQLite leaves to the tier `system`.
 * @param words of the command line: a file that is named runs
 */
export function leftToSystem(tier: string | undefined, words: readonly string[]): readonly string[] {
  if (tier === 'databases' || process.env.TEST_LONG) return []
  const isNamed = (file: string) =>
    words.some((word) => word.endsWith('.ts') && file.endsWith(word.replace(/^\.\//, '')))
  const changed = new Set(tier === 'quick' ? changedFiles().map((file) => dirname(file)) : [])
  return longFiles.filter((file) => !changed.has(dirname(file)) && !isNamed(file))
}
