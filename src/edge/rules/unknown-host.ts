import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule } from '../visit.ts'

const page = plainPage({
  status: 404,
  title: 'There is no site at this address',
  text: 'Please check the spelling of the address. If you have just created this site or added this domain, try again in a moment.',
})

/** Answers for host names of no site. */
export const unknownHost: Rule = (visit) => (visit.route ? undefined : pageAnswer(visit, page))
