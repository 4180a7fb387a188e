import { forgetKeys } from './platform/http/idempotency/forget-keys.job.ts'
import { forgetMails } from './platform/mail/forget-mail-counts.job.ts'
import { sendMail } from './platform/mail/send-mail.job.ts'
import { type AnyDefinition, type Definitions, definitionsByName } from './platform/operations/definition.ts'
import { forgetOperations } from './platform/operations/forget.ts'
import { resources } from './resources/index.ts'

/** What hosts do for their sites in the background. Apart from the API, so that a host does not load it. */
export const hostJobs = resources.flatMap(({ jobs }) => jobs?.host ?? [])

/** What the control does in the background: work that needs no site files. */
export const controlJobs = [
  ...resources.flatMap(({ jobs }) => jobs?.control ?? []),
  sendMail,
  forgetKeys,
  forgetOperations,
  forgetMails,
]

/** What resources do when something becomes of a site; requests and jobs are given it. */
export const siteHooks = resources.flatMap((each) => each.siteHooks ?? [])

/** All that takes operations back. */
export const undoable = resources.flatMap((each) => each.undoable ?? [])

/** Every type of background work by name. */
export const jobs: Definitions = definitionsByName([...hostJobs, ...controlJobs] as AnyDefinition[])
