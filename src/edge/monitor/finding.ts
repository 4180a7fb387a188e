/** The answer to a question: the head of a page, or why there is none. */
export type HostAnswer =
  | { readonly status: number; readonly location: string | undefined; readonly ms: number }
  | { readonly code: string }

/** What the monitoring says about a site that it asks. */
export type FoundState = 'up' | 'slow' | 'down'

/** Why a site is slow or down. Stored and published, so names never change. */
export const monitoringReasons = ['dns', 'tls', 'status', 'php', 'time'] as const
export type MonitoringReason = (typeof monitoringReasons)[number]

/** The outcome of one question. */
export interface SiteFinding {
  readonly state: FoundState
  /** Null while it is up. */
  readonly reason: MonitoringReason | null
  /** The reason in words, without a full stop. Empty while it is up. */
  readonly detail: string
}

/** An answer that takes longer is slow. */
export const SLOW_MS = 3_000
/** No answer within this time is none. */
export const QUESTION_MS = 10_000

export const isUp: SiteFinding = { state: 'up', reason: null, detail: '' }

export const isDown = (reason: MonitoringReason, detail: string): SiteFinding => ({ state: 'down', reason, detail })

const TIMEOUTS = new Set(['HOST_HEAD_TIMEOUT', 'HOST_BODY_TIMEOUT', 'HOST_ABORTED'])
/** Pages that are gone. Others of 4xx come from sites that protect themselves. */
const GONE = new Set([404, 410])

/**
 * Returns what an answer for the front page says. Redirects are not followed, but one to the same address never ends.
 * @param address the requested one
 */
export function findingOf(answer: HostAnswer, address: string): SiteFinding {
  if ('code' in answer) return isDown('time', noAnswer(answer.code))
  const { status, location, ms } = answer
  if (status === 500) return isDown('php', 'The front page answers 500, which means that PHP ended with an error')
  if (status === 504) return isDown('time', 'The site took too long to answer (504)')
  if (status >= 500 || GONE.has(status)) return isDown('status', `The front page answers ${status}`)
  if (status >= 300 && status < 400 && location === address)
    return isDown('status', `The front page redirects to itself (${status})`)
  if (ms <= SLOW_MS) return isUp
  return { state: 'slow', reason: 'time', detail: `The front page takes longer than ${SLOW_MS / 1000} seconds` }
}

const noAnswer = (code: string): string =>
  TIMEOUTS.has(code)
    ? `The site did not answer within ${QUESTION_MS / 1000} seconds`
    : `The edge did not answer (${code})`
