import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Answer, Rule, Visit } from '../visit.ts'

const page = plainPage({
  status: 405,
  title: 'This method is not allowed',
  text: 'This site does not support this type of request.',
})

/**
 * TRACE would echo cookies and the edge's own headers (RFC 9110 §9.3.8). CONNECT, which names no page, never gets here.
 */
export const refusedMethods: Rule = (visit) => (visit.method === 'TRACE' ? refusedMethodAnswer(visit) : undefined)

export const refusedMethodAnswer = (visit: Visit): Answer =>
  pageAnswer(visit, page, ['Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'], true)
