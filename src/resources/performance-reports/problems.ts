import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  report_under_way: {
    status: 409,
    text: 'Stead is already creating a performance report of the site. Wait until it is finished.',
    remedy: 'Wait for the running report. `GET /v1/operations?site_id=…` shows its progress.',
  },
})
