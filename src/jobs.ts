import { forgetKeys } from './platform/http/idempotency/forget-keys.job.ts'
import { forgetMails } from './platform/mail/forget-mail-counts.job.ts'
import { sendMail } from './platform/mail/send-mail.job.ts'
import { type AnyDefinition, type Definitions, definitionsByName } from './platform/operations/definition.ts'
import { forgetOperations } from './platform/operations/forget.ts'
import { resources } from './resources/index.ts'

/** Background work of hosts for their sites. Separate from the API, so that a host does not load the API. */
export const hostJobs = resources.flatMap(({ jobs }) => jobs?.host ?? [])

/** Background work of the control role, which needs no site files. */
export const controlJobs = [
  ...resources.flatMap(({ jobs }) => jobs?.control ?? []),
  sendMail,
  forgetKeys,
  forgetOperations,
  forgetMails,
]

/** Hooks of resources on changes of a site. Requests and jobs receive them. */
export const siteHooks = resources.flatMap((each) => each.siteHooks ?? [])

/** Hooks for the removal of an account. Resources that depend on others come first, so that no row refers to one that goes. */
export const accountHooks = resources.flatMap((each) => each.accountHooks ?? []).reverse()

/** Everything that can undo operations. */
export const undoable = resources.flatMap((each) => each.undoable ?? [])

/** Every type of background work by name. */
export const jobs: Definitions = definitionsByName([...hostJobs, ...controlJobs] as AnyDefinition[])
