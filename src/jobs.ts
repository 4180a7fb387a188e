import { forgetKeys } from './platform/http/forget-keys.job.ts'
import { forgetMails } from './platform/mail/forget-mail-counts.job.ts'
import { sendMail } from './platform/mail/send-mail.job.ts'
import { type AnyDefinition, type Definitions, definitionsByName } from './platform/operations/definition.ts'
import { forgetOperations } from './platform/operations/forget.ts'
import { forgetActivity } from './resources/activity/forget-activity.job.ts'
import { forgetTokens } from './resources/authentication/forget-tokens.job.ts'
import { batchCreate, batchDestroy } from './resources/collaborators/batch.job.ts'
import { resetCollaboratorPasswordJob } from './resources/collaborators/reset-collaborator-password.job.ts'
import { syncWpUser } from './resources/collaborators/sync-wp-user.job.ts'
import { flushObjectCacheJob } from './resources/edge-cache/flush-object-cache.job.ts'
import { dropOldLogs } from './resources/logs/drop-old-logs.job.ts'
import { switchMaintenance } from './resources/performance/switch-maintenance.job.ts'
import { configureSite } from './resources/sites/configure-site.job.ts'
import { provisionSite } from './resources/sites/provision-site.job.ts'
import { purgeSite, removeSite } from './resources/sites/remove-site.job.ts'
import { resetAdminPasswordJob } from './resources/sites/reset-admin-password.job.ts'
import { measureSite, measureSites } from './resources/statistics/measure-sites.job.ts'
import { refreshOpenStatistics, refreshStatistics } from './resources/statistics/refresh-statistics.job.ts'
import { forgetEvents } from './resources/webhooks/forget-events.job.ts'

/** What hosts do for their sites in the background. Apart from the API, so that a host does not load it. */
export const hostJobs = [
  provisionSite,
  configureSite,
  removeSite,
  purgeSite,
  resetAdminPasswordJob,
  syncWpUser,
  resetCollaboratorPasswordJob,
  measureSites,
  measureSite,
  flushObjectCacheJob,
]

/** What the control does in the background: work that needs no site files. */
export const controlJobs = [
  batchCreate,
  batchDestroy,
  switchMaintenance,
  sendMail,
  forgetTokens,
  forgetKeys,
  forgetActivity,
  forgetOperations,
  forgetMails,
  forgetEvents,
  dropOldLogs,
  refreshStatistics,
  refreshOpenStatistics,
]

/** Every type of background work by name. */
export const jobs: Definitions = definitionsByName([...hostJobs, ...controlJobs] as AnyDefinition[])
