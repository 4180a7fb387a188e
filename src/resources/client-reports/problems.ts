import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  pdf_not_possible: {
    status: 503,
    text: 'Stead cannot create the PDF: {reason}. The same report is available as HTML.',
    remedy: 'Request the report as HTML, which browsers print. Operators: install Chromium where the API runs.',
  },
  too_many_prints: {
    status: 429,
    text: 'Too many reports are being printed. Try again in a moment.',
    remedy: 'Wait for the PDF files that you requested, then try again after `Retry-After` seconds.',
  },
})
