import { listAccountActivity } from './list-account-activity.ts'
import { listAccountActions, listSiteActions } from './list-actions.ts'
import { listSiteActivity } from './list-site-activity.ts'

/** In the order of the description of the API. */
export const endpoints = [listAccountActivity, listAccountActions, listSiteActivity, listSiteActions]
