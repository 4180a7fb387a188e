import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../answer.ts'
import type { Rule } from '../visit.ts'

const RETRY_SECONDS = 3

const page = plainPage({
  status: 503,
  title: 'This site is being set up',
  text: 'It will be here in a moment. This page reloads by itself.',
  refreshSeconds: RETRY_SECONDS,
})

/** Sites that are being created or cloned. */
export const siteInPreparation: Rule = (visit) =>
  visit.route?.state === 'deploying' || visit.route?.state === 'cloning'
    ? pageAnswer(visit, page, ['Retry-After', String(RETRY_SECONDS)])
    : undefined
