import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  addon_in_use: {
    status: 400,
    text: 'quantity: {quantity} of the add-on {addon} allows {maxBillable} live and {maxStaging} staging sites, but the account has {billable} and {staging}. Delete sites first.',
    remedy: 'Delete sites, or choose a larger quantity.',
  },
  addons_by_operator: {
    status: 403,
    text: 'Only the operator of this installation can raise the limits of your account. Ask them for a larger plan.',
    remedy: 'Ask the operator to change the plan (`stead account set-plan`), or to set `STEAD_ADDONS=all`.',
  },
  account_leaving: {
    status: 400,
    text: 'The operator is removing the account that owns the site.',
    remedy: 'Use another account, or ask the operator to cancel the removal.',
  },
  unknown_datacenter: {
    status: 400,
    text: 'datacenter_code: must be one of {codes}.',
    remedy: 'Use a code from `GET /v1/sites/datacenters`.',
  },
})
