import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  no_logo: {
    status: 404,
    text: 'Your account has no logo.',
    remedy: 'Upload one with `PUT /v1/account/branding`, or in the panel.',
  },
  no_brand_logo: {
    status: 404,
    text: 'The control panel shows you no logo.',
    remedy: 'To see your own, upload one with `PUT /v1/account/branding`.',
  },
})
