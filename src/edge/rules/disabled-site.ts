import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../answer.ts'
import type { Rule } from '../visit.ts'

const page = plainPage({
  status: 480,
  title: 'This site is temporarily unavailable',
  text: 'Its owner has taken it offline. Please come back later.',
})

/** Disabled sites answer 480 on every path. */
export const disabledSite: Rule = (visit) => (visit.route?.state === 'disabled' ? pageAnswer(visit, page) : undefined)
