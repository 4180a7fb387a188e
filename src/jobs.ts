import { type AnyDefinition, type Definitions, definitionsByName } from './platform/operations/definition.ts'
import { configureSite } from './resources/sites/configure-site.job.ts'
import { provisionSite } from './resources/sites/provision-site.job.ts'
import { purgeSite, removeSite } from './resources/sites/remove-site.job.ts'
import { resetAdminPasswordJob } from './resources/sites/reset-admin-password.job.ts'

/** What hosts do for their sites in the background. Apart from the API, so that a host does not load it. */
export const hostJobs = [provisionSite, configureSite, removeSite, purgeSite, resetAdminPasswordJob]

/** Every type of background work by name. */
export const jobs: Definitions = definitionsByName(hostJobs as AnyDefinition[])
