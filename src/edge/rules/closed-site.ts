import { plainPage } from '../../platform/plain-page.ts'
import { isAcmeChallenge } from '../acme.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule } from '../visit.ts'

const RETRY_SECONDS = 60

const page = plainPage({
  status: 503,
  title: 'This site is under maintenance',
  text: 'Maintenance work is in progress. Please try again in a few minutes.',
})

/**
 * Serves nothing from a site that is being worked on: no pages, dashboard, REST API, or events. What they write would
 * be lost, and what they show would mix old and new content.
 */
export const closedSite: Rule = (visit) =>
  visit.route?.isClosed && !isAcmeChallenge(visit.target)
    ? pageAnswer(visit, page, ['Retry-After', String(RETRY_SECONDS)])
    : undefined
