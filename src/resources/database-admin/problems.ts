import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  no_database_admin: {
    status: 400,
    text: 'Adminer, which shows databases, is not on the host of the site.',
    remedy:
      'Stead fetches it when it starts, and its log says why it could not. The operator can name its file by STEAD_ADMINER, and start Stead again.',
  },
})
