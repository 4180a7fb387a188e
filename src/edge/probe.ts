import { plainPage } from '../platform/plain-page.ts'
import { pageAnswer, sendAnswer } from './page-answer.ts'
import type { Answer, Destination, Refusal, Visit } from './visit.ts'
import type { VisitRequest } from './visit-request.ts'

/** The path on which load balancers check this edge, under any host name or none. No site can use it. */
export const PROBE_PATH = '/.well-known/stead/ready'

const METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * Returns whether a request is a probe. Health checks often name no host, or an address, which is allowed. Other faults
 * of a request remain faults.
 */
export const isProbe = ({ url, method }: VisitRequest, destination: Destination | Refusal): boolean =>
  url === PROBE_PATH &&
  METHODS.includes(method as string) &&
  (!('status' in destination) || destination.isNameless === true)

/** Answers a probe. @param isReady whether visitors can be served */
export function answerProbe(visit: Visit, isReady: () => Promise<boolean>): void {
  isReady().then(
    (ready) => sendAnswer(visit, ready ? readyAnswer : notReady(visit)),
    () => sendAnswer(visit, notReady(visit)),
  )
}

const readyAnswer: Answer = {
  status: 200,
  headers: ['Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store'],
  body: Buffer.from('ready\n'),
}

const notReady = (visit: Visit): Answer =>
  pageAnswer(
    visit,
    plainPage({
      status: 503,
      title: 'This edge is not ready',
      text: 'It is starting or stopping, or cannot load the list of sites.',
    }),
    ['Retry-After', '5'],
  )

const FRESH_MS = 1_000
/** Known sites are served without the database. A load balancer that removed all edges at once would stop that. */
const PATIENCE_MS = 60_000

/**
 * Creates the readiness check: the edge is ready if it can look up sites, or could a short time ago.
 * @param look finds a site @param now monotonic milliseconds
 */
export function createReadiness(look: () => Promise<unknown>, now = () => performance.now()): () => Promise<boolean> {
  let workedAt = Number.NEGATIVE_INFINITY
  let asked: { readonly at: number; readonly found: Promise<void> } | undefined
  return async () => {
    if (!asked || now() - asked.at >= FRESH_MS) {
      const found = look().then(
        () => {
          workedAt = now()
        },
        () => {},
      )
      asked = { at: now(), found }
    }
    await asked.found
    return now() - workedAt < PATIENCE_MS
  }
}
