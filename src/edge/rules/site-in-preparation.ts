import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule } from '../visit.ts'

const RETRY_SECONDS = 3
/** Longer, because someone has to act first. */
const RETRY_FAILED_SECONDS = 300

const page = plainPage({
  status: 503,
  title: 'This site is being set up',
  text: 'It will be ready in a moment. This page reloads automatically.',
  refreshSeconds: RETRY_SECONDS,
})

const failedPage = plainPage({
  status: 503,
  title: 'This site could not be set up',
  text: 'Waiting does not help. The owner can find the reason in the control panel.',
})

/** Answers for sites that are being created or cloned, or whose creation failed. */
export const siteInPreparation: Rule = (visit) => {
  const { route } = visit
  if (route?.state !== 'deploying' && route?.state !== 'cloning') return undefined
  return route.deployFailed
    ? pageAnswer(visit, failedPage, ['Retry-After', String(RETRY_FAILED_SECONDS)])
    : pageAnswer(visit, page, ['Retry-After', String(RETRY_SECONDS)])
}
