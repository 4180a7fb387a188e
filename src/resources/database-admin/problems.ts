import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  no_database_admin: {
    status: 400,
    text: 'The database tool Adminer is not installed on the host of the site. Ask your operator.',
    remedy:
      'Stead downloads Adminer when it starts, and logs an error if that fails. Operators: set STEAD_ADMINER to the path of an Adminer file, then restart Stead.',
  },
})
