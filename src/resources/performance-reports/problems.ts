import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  report_under_way: {
    status: 409,
    text: 'A performance report of the site is being made already.',
    remedy: '`GET /v1/operations?site_id=…` tells how far it is.',
  },
})
