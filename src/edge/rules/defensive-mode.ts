import { LRUCache } from 'lru-cache'
import { plainPage, representation } from '../../platform/plain-page.ts'
import { isAcmeChallenge } from '../acme.ts'
import type { KnowBot } from '../challenge/bots.ts'
import { type Bearer, type ChallengeTokens, createTokens } from '../challenge/challenge-tokens.ts'
import { ANSWER_HEADER, ANSWER_PATH, CONTENT_SECURITY_POLICY, challengePage } from '../challenge/page.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Answer, Rule, Visit } from '../visit.ts'

export interface DefensiveModeOptions {
  /** 32 bytes that all edges share, for this use only. */
  readonly key: Buffer
  readonly isKnownBot: KnowBot
  /** Returns whether the visit asks for a file that is answered without the host. */
  readonly isStoredFile: (visit: Visit) => boolean
  /** Milliseconds UTC. */
  readonly now?: () => number
}

/** In the cache's list of cookies that do not affect a site. */
const COOKIE = 'stead-pass'
const RETRY_SECONDS = 10
/** One page of a shop takes some dozen requests. A visitor with more than this per minute is challenged again. */
const REQUESTS_A_MINUTE = 600
const MOST_PASSES = 50_000

const forPrograms = plainPage({
  status: 503,
  title: 'Only browsers can open this site right now',
  text: 'This site gets unusually many requests, so it checks browsers with a script. Please try again later.',
})
const refused = plainPage({ status: 403, title: 'The check failed', text: 'Please load the page again.' })

/**
 * Challenges visitors without a pass while a site is in defensive mode. Known bots pass, and cached files are served to
 * everyone, because they cost the host nothing.
 */
export function createDefensiveMode(options: DefensiveModeOptions): Rule {
  const tokens = createTokens(options.key)
  const used = new LRUCache<string, { count: number }>({ max: MOST_PASSES, ttl: 60_000 })
  const now = options.now ?? Date.now
  return (visit) => {
    const { route, target, request } = visit
    if (!route || !(route.hasEdgeCache && (route.defensiveUntilMs ?? 0) > now()))
      return visit.target === ANSWER_PATH && visit.method === 'POST' ? over() : undefined
    if (visit.client.looksAt === 'every') return undefined
    const bearer = bearerOf(visit)
    if (target === ANSWER_PATH) return redeem(tokens, visit, bearer, now())
    if (isAcmeChallenge(target) || options.isStoredFile(visit)) return undefined
    const pass = passOf(request.headers.cookie)
    const id = pass && tokens.read(bearer, pass, now())
    if (id && isWithinQuota(used, id)) return undefined
    const isBot = options.isKnownBot(bearer.userAgent, bearer.address)
    if (isBot instanceof Promise)
      return isBot.then((known) => (known ? undefined : challenge(tokens, visit, bearer, now())))
    return isBot ? undefined : challenge(tokens, visit, bearer, now())
  }
}

const bearerOf = ({ hostName, client, request }: Visit): Bearer => ({
  hostName,
  address: client.address,
  userAgent: request.headers['user-agent'] ?? '',
})

const PASS = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;\\s]+)`)
const passOf = (cookie: string | undefined): string | undefined => (cookie ? PASS.exec(cookie)?.[1] : undefined)

function isWithinQuota(used: LRUCache<string, { count: number }>, id: string): boolean {
  const use = used.get(id)
  if (use) return ++use.count <= REQUESTS_A_MINUTE
  used.set(id, { count: 1 })
  return true
}

function redeem(tokens: ChallengeTokens, visit: Visit, bearer: Bearer, nowMs: number): Answer {
  const given = String(visit.request.headers[ANSWER_HEADER] ?? '')
  const at = given.lastIndexOf(':')
  const found =
    visit.method === 'POST' && at > 0
      ? tokens.redeem(bearer, given.slice(0, at), given.slice(at + 1), nowMs)
      : undefined
  if (!found) return pageAnswer(visit, refused)
  const secure = visit.client.scheme === 'https' ? '; Secure' : ''
  const cookie = `${COOKIE}=${found.pass}; Path=/; Max-Age=${found.lifeSeconds}; HttpOnly; SameSite=Lax${secure}`
  return { status: 204, headers: ['Set-Cookie', cookie, 'Cache-Control', 'no-store'] }
}

/** The mode has ended while the browser worked: the page loads without a pass. */
const over = (): Answer => ({ status: 204, headers: ['Cache-Control', 'no-store'] })

/** 503: search engines that are challenged come back later, and drop nothing from their index. */
function challenge(tokens: ChallengeTokens, visit: Visit, bearer: Bearer, nowMs: number): Answer {
  const retry = ['Retry-After', String(RETRY_SECONDS)]
  const { accept } = visit.request.headers
  if (!representation(forPrograms, accept).contentType.startsWith('text/html'))
    return pageAnswer(visit, forPrograms, retry)
  return {
    status: 503,
    headers: [
      'Content-Type',
      'text/html; charset=utf-8',
      'Cache-Control',
      'no-store',
      'X-Content-Type-Options',
      'nosniff',
      'Content-Security-Policy',
      CONTENT_SECURITY_POLICY,
      'Referrer-Policy',
      'same-origin',
      ...retry,
    ],
    body: challengePage(tokens.challenge(bearer, nowMs)),
  }
}
