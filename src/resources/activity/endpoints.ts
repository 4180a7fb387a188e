import { listAccountActivity } from './list-account-activity.ts'
import { listAccountActions, listSiteActions } from './list-actions.ts'
import { listRecentActivity } from './list-recent-activity.ts'
import { listSiteActivity } from './list-site-activity.ts'

/** In the order of the API description. */
export const endpoints = [
  listAccountActivity,
  listRecentActivity,
  listAccountActions,
  listSiteActivity,
  listSiteActions,
]
