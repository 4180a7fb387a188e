import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  addon_in_use: {
    status: 400,
    text: 'quantity: with {quantity} of the add-on {addon} the account may have {maxBillable} live and {maxStaging} staging sites, and it has {billable} and {staging}. Delete sites first.',
    remedy: 'Delete sites, or ask for a larger quantity.',
  },
  unknown_datacenter: {
    status: 400,
    text: 'datacenter_code: must be one of {codes}.',
    remedy: 'Take a code of `GET /v1/sites/datacenters`.',
  },
})
