import { plainPage } from '../../platform/plain-page.ts'
import { isAcmeChallenge } from '../acme.ts'
import { pageAnswer } from '../answer.ts'
import type { Rule } from '../visit.ts'

const RETRY_SECONDS = 60

const page = plainPage({
  status: 503,
  title: 'This site is under maintenance',
  text: 'Maintenance work is in progress. Please try again in a few minutes.',
})

/**
 * Nothing of a site that is being worked on is to be had: neither its pages nor its dashboard, its REST API or its events. What they would write
 * would be lost, what they would show is half of one thing and half of another.
 */
export const closedSite: Rule = (visit) =>
  visit.route?.isClosed && !isAcmeChallenge(visit.target)
    ? pageAnswer(visit, page, ['Retry-After', String(RETRY_SECONDS)])
    : undefined
