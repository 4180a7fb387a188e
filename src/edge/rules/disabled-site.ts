import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../answer.ts'
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

/** Disabled sites, and those of suspended accounts, answer 480 on every path. */
export const disabledSite: Rule = (visit) => {
  if (visit.route?.isSuspended) return pageAnswer(visit, suspended)
  return visit.route?.state === 'disabled' ? pageAnswer(visit, page) : undefined
}
