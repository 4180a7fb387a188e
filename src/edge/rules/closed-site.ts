import { plainPage } from '../../platform/plain-page.ts'
import { isAcmeChallenge } from '../acme.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule, Visit } from '../visit.ts'

const RETRY_SECONDS = 60

const isRead = ({ method }: Visit): boolean => method === 'GET' || method === 'HEAD'

const page = plainPage({
  status: 503,
  title: 'This site is under maintenance',
  text: 'Maintenance work is in progress. Please try again in a few minutes.',
})

/**
 * Serves nothing from a site that is being worked on: no pages, dashboard, REST API, or events. What they write would
 * be lost, and what they show would mix old and new content. A site that moves to another host keeps its content, so
 * its stored pages are served. Its host answers the other visits with 503.
 */
export const closedSite: Rule = (visit) =>
  visit.route?.isClosed && !(visit.route.isMoving && isRead(visit)) && !isAcmeChallenge(visit.target)
    ? pageAnswer(visit, page, ['Retry-After', String(RETRY_SECONDS)])
    : undefined
