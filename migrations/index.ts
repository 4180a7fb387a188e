import type { Migration } from 'kysely/migration'
import { ground } from './0001-ground.ts'
import { operations } from './0002-operations.ts'
import { people } from './0003-people.ts'
import { caches } from './0004-caches.ts'
import { statistics } from './0005-statistics.ts'
import { counts } from './0006-counts.ts'
import { hostCounts } from './0007-host-counts.ts'
import { identity } from './0008-identity.ts'
import { diskQuota } from './0010-disk-quota.ts'
import { routeChanges } from './0011-route-changes.ts'
import { bounds } from './0012-bounds.ts'
import { waits } from './0013-waits.ts'
import { processes } from './0014-processes.ts'
import { corrections } from './0015-corrections.ts'
import { permanentFailures } from './0016-permanent-failures.ts'
import { safeMode } from './0017-safe-mode.ts'
import { deployError } from './0018-deploy-error.ts'
import { backups } from './0019-backups.ts'
import { closedSites } from './0020-closed-sites.ts'
import { copies } from './0021-copies.ts'
import { backupKey } from './0022-backup-key.ts'
import { bytesOfSteps } from './0024-bytes-of-steps.ts'
import { archiveLengths } from './0025-archive-lengths.ts'
import { ownBackups } from './0026-own-backups.ts'
import { backupNames } from './0030-backup-names.ts'
import { extensionLicenses } from './0031-extension-licenses.ts'
import { leaseHolder } from './0032-backup-holder.ts'
import { loginLinks } from './0033-login-links.ts'
import { mustUsePlugins } from './0034-must-use-plugins.ts'
import { sftpUsers } from './0035-sftp-users.ts'
import { plugins } from './0038-plugins.ts'
import { databaseAdmin } from './0039-database-admin.ts'
import { coreReleases } from './0040-core-releases.ts'
import { automaticUpdates } from './0041-automatic-updates.ts'
import { domains } from './0042-domains.ts'
import { certificates } from './0045-certificates.ts'
import { webhooks } from './0046-webhooks.ts'
import { performanceReports } from './0047-performance-reports.ts'
import { dnssec } from './0049-dnssec.ts'
import { localAuthorities } from './0050-local-authorities.ts'
import { dnsChallenges } from './0051-dns-challenges.ts'
import { zoneChanges } from './0053-zone-changes.ts'
import { homeDatabases } from './0055-home-databases.ts'
import { signIn } from './0060-sign-in.ts'
import { passkeys } from './0061-passkeys.ts'
import { tagOrder } from './0062-tag-order.ts'
import { sessionOrigin } from './0064-session-origin.ts'
import { askedBy } from './0065-asked-by.ts'
import { loginLinkPeople } from './0065-login-link-people.ts'
import { triedBackups } from './0067-tried-backups.ts'
import { recordAddresses } from './0069-record-addresses.ts'
import { zoneClaims } from './0071-zone-claims.ts'
import { archiveBytes } from './0073-archive-bytes.ts'
import { damagedBackups } from './0075-damaged-backups.ts'
import { imports } from './0079-imports.ts'
import { importUploads } from './0082-import-uploads.ts'
import { importSources } from './0084-import-sources.ts'
import { searchWords } from './0089-search-words.ts'
import { hostStates } from './0093-host-states.ts'
import { recordsAsWritten } from './0095-records-as-written.ts'
import { claimsOfHolders } from './0096-claims-of-holders.ts'
import { suspendedAccounts } from './0099-suspended-accounts.ts'
import { linksOfOperations } from './0100-links-of-operations.ts'
import { siteOrders } from './0103-site-orders.ts'
import { accountRemovals } from './0105-account-removals.ts'
import { siteExtensions } from './0107-site-extensions.ts'
import { roleCertificates } from './0109-role-certificates.ts'
import { joinTokens } from './0111-join-tokens.ts'
import { joinDatacenters } from './0114-join-datacenters.ts'
import { roleLogins } from './0116-role-logins.ts'
import { monitoring } from './0118-monitoring.ts'
import { edgeKeys } from './0119-edge-keys.ts'
import { alerts } from './0125-alerts.ts'
import { alertConditions } from './0126-alert-conditions.ts'
import { alertChats } from './0127-alert-chats.ts'
import { safeUpdates } from './0130-safe-updates.ts'
import { pausedOperations } from './0132-paused-operations.ts'
import { controlAddresses } from './0133-control-addresses.ts'
import { safeUpdateBatches } from './0134-safe-update-batches.ts'
import { vulnerabilities } from './0138-vulnerabilities.ts'
import { siteEnvironments } from './0139-site-environments.ts'
import { safeUpdateSettings } from './0143-safe-update-settings.ts'
import { clientReports } from './0146-client-reports.ts'
import { accountBranding } from './0147-account-branding.ts'
import { clientReportMails } from './0148-client-report-mails.ts'
import { updatePolicies } from './0150-update-policies.ts'
import { logoSizes } from './0153-logo-sizes.ts'
import { suspectUpdates } from './0154-suspect-updates.ts'

/** Every migration by name, in order. Forward only. */
export const migrations: Record<string, Migration> = {
  '0001-ground': ground,
  '0002-operations': operations,
  '0003-people': people,
  '0004-caches': caches,
  '0005-statistics': statistics,
  '0006-counts': counts,
  '0007-host-counts': hostCounts,
  '0008-identity': identity,
  '0010-disk-quota': diskQuota,
  '0011-route-changes': routeChanges,
  '0012-bounds': bounds,
  '0013-waits': waits,
  '0014-processes': processes,
  '0015-corrections': corrections,
  '0016-permanent-failures': permanentFailures,
  '0017-safe-mode': safeMode,
  '0018-deploy-error': deployError,
  '0019-backups': backups,
  '0020-closed-sites': closedSites,
  '0021-copies': copies,
  '0022-backup-key': backupKey,
  '0024-bytes-of-steps': bytesOfSteps,
  '0025-archive-lengths': archiveLengths,
  '0026-own-backups': ownBackups,
  '0030-backup-names': backupNames,
  '0031-extension-licenses': extensionLicenses,
  '0032-backup-holder': leaseHolder,
  '0033-login-links': loginLinks,
  '0034-must-use-plugins': mustUsePlugins,
  '0035-sftp-users': sftpUsers,
  '0038-plugins': plugins,
  '0039-database-admin': databaseAdmin,
  '0040-core-releases': coreReleases,
  '0041-automatic-updates': automaticUpdates,
  '0042-domains': domains,
  '0045-certificates': certificates,
  '0046-webhooks': webhooks,
  '0047-performance-reports': performanceReports,
  '0049-dnssec': dnssec,
  '0050-local-authorities': localAuthorities,
  '0051-dns-challenges': dnsChallenges,
  '0053-zone-changes': zoneChanges,
  '0055-home-databases': homeDatabases,
  '0060-sign-in': signIn,
  '0061-passkeys': passkeys,
  '0062-tag-order': tagOrder,
  '0064-session-origin': sessionOrigin,
  '0065-asked-by': askedBy,
  '0065-login-link-people': loginLinkPeople,
  '0067-tried-backups': triedBackups,
  '0069-record-addresses': recordAddresses,
  '0071-zone-claims': zoneClaims,
  '0073-archive-bytes': archiveBytes,
  '0075-damaged-backups': damagedBackups,
  '0079-imports': imports,
  '0082-import-uploads': importUploads,
  '0084-import-sources': importSources,
  '0089-search-words': searchWords,
  '0093-host-states': hostStates,
  '0095-records-as-written': recordsAsWritten,
  '0096-claims-of-holders': claimsOfHolders,
  '0099-suspended-accounts': suspendedAccounts,
  '0100-links-of-operations': linksOfOperations,
  '0103-site-orders': siteOrders,
  '0105-account-removals': accountRemovals,
  '0107-site-extensions': siteExtensions,
  '0109-role-certificates': roleCertificates,
  '0111-join-tokens': joinTokens,
  '0114-join-datacenters': joinDatacenters,
  '0116-role-logins': roleLogins,
  '0118-monitoring': monitoring,
  '0119-edge-keys': edgeKeys,
  '0125-alerts': alerts,
  '0126-alert-conditions': alertConditions,
  '0127-alert-chats': alertChats,
  '0130-safe-updates': safeUpdates,
  '0132-paused-operations': pausedOperations,
  '0133-control-addresses': controlAddresses,
  '0134-safe-update-batches': safeUpdateBatches,
  '0138-vulnerabilities': vulnerabilities,
  '0139-site-environments': siteEnvironments,
  '0143-safe-update-settings': safeUpdateSettings,
  '0146-client-reports': clientReports,
  '0147-account-branding': accountBranding,
  '0148-client-report-mails': clientReportMails,
  '0150-update-policies': updatePolicies,
  '0153-logo-sizes': logoSizes,
  '0154-suspect-updates': suspectUpdates,
}
