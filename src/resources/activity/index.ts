import { listAccountActivity } from './list-account-activity.ts'
import { listAccountActions, listSiteActions } from './list-actions.ts'
import { listSiteActivity } from './list-site-activity.ts'

export const activity = {
  operations: [listAccountActivity, listAccountActions, listSiteActivity, listSiteActions],
}
