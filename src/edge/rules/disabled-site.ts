import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule } from '../visit.ts'

const page = plainPage({
  status: 480,
  title: 'This site is temporarily unavailable',
  text: 'Its owner has taken it offline. Please come back later.',
})

const suspended = plainPage({
  status: 480,
  title: 'This site is temporarily unavailable',
  text: 'Please come back later.',
})

/** Answers 480 on every path of disabled sites, and of sites of suspended accounts. */
export const disabledSite: Rule = (visit) => {
  if (visit.route?.isSuspended) return pageAnswer(visit, suspended)
  return visit.route?.state === 'disabled' ? pageAnswer(visit, page) : undefined
}
