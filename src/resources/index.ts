import { account } from './account/index.ts'
import { activity } from './activity/index.ts'
import { alerts } from './alerts/index.ts'
import { applications } from './applications/index.ts'
import { authentication } from './authentication/index.ts'
import { backups } from './backups/index.ts'
import { branding } from './branding/index.ts'
import { caches } from './caches/index.ts'
import { certificates } from './certificates/index.ts'
import { clientReports } from './client-reports/index.ts'
import { cmsVersion } from './cms-version/index.ts'
import { collaborators } from './collaborators/index.ts'
import { databaseAdmin } from './database-admin/index.ts'
import { dns } from './dns/index.ts'
import { dnssec } from './dnssec/index.ts'
import { domains } from './domains/index.ts'
import { environments } from './environments/index.ts'
import { extensionLicense } from './extension-license/index.ts'
import { imports } from './imports/index.ts'
import { installation } from './installation/index.ts'
import { inventory } from './inventory/index.ts'
import { loginLinks } from './login-links/index.ts'
import { logs } from './logs/index.ts'
import { monitoring } from './monitoring/index.ts'
import { mustUsePlugins } from './must-use-plugins/index.ts'
import { notes } from './notes/index.ts'
import { operations } from './operations/index.ts'
import { performance } from './performance/index.ts'
import { performanceReports } from './performance-reports/index.ts'
import { plugins } from './plugins/index.ts'
import { safeUpdates } from './safe-updates/index.ts'
import { searches } from './search/index.ts'
import { sessions } from './sessions/index.ts'
import { sftpUsers } from './sftp-users/index.ts'
import { signIns } from './sign-in/index.ts'
import { sites } from './sites/index.ts'
import { statistics } from './statistics/index.ts'
import { tags } from './tags/index.ts'
import { vulnerabilities } from './vulnerabilities/index.ts'
import { webhooks } from './webhooks/index.ts'
import { wpCli } from './wp-cli/index.ts'

/** Every resource, in the order of the API description. Everything that resources add is derived from this list. */
export const resources = [
  authentication,
  signIns,
  sessions,
  applications,
  account,
  branding,
  activity,
  sites,
  searches,
  dns,
  dnssec,
  caches,
  performance,
  mustUsePlugins,
  backups,
  environments,
  imports,
  collaborators,
  tags,
  plugins,
  safeUpdates,
  inventory,
  vulnerabilities,
  cmsVersion,
  domains,
  sftpUsers,
  wpCli,
  extensionLicense,
  loginLinks,
  databaseAdmin,
  notes,
  logs,
  statistics,
  monitoring,
  alerts,
  performanceReports,
  clientReports,
  operations,
  webhooks,
  certificates,
  installation,
]
