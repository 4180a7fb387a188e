/** Visits that two rules would answer: the first in the list does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ANSWER_PATH } from '../challenge/page.ts'
import type { Route } from '../routing/route.ts'
import { ask, createCleanup, routeTo, startEcho, startGateway } from '../test-support.ts'
import type { Rule } from '../visit.ts'
import { createAcmeAnswers } from './acme-answers.ts'
import { createDefensiveMode } from './defensive-mode.ts'
import { edgeRules } from './index.ts'
import { createToHttps } from './to-https.ts'

const cleanup = createCleanup()
afterAll(() => cleanup.run())

const inDefence: Partial<Route> = { hasEdgeCache: true, defensiveUntilMs: Date.now() + 3_600_000 }
const everything: Partial<Route> = { ...inDefence, isInMaintenance: true }
const challenge = { token: 'a', answer: 'a.b' }
const routes: Record<string, Partial<Route>> = {
  'suspended.test': { ...everything, isSuspended: true },
  'disabled.test': { ...everything, state: 'disabled' },
  'deploying.test': { ...everything, state: 'deploying' },
  'failed.test': { ...everything, state: 'deploying', deployFailed: true },
  'closed.test': { ...everything, isClosed: true },
  'moving.test': { hasEdgeCache: true, isClosed: true, isMoving: true },
  'disabled-closed.test': { ...everything, state: 'disabled', isClosed: true },
  'deploying-closed.test': { ...everything, state: 'deploying', isClosed: true },
  'other.test': { ...everything, redirectsTo: 'www.maintenance.test' },
  'other-disabled.test': { ...everything, redirectsTo: 'www.maintenance.test', state: 'disabled' },
  'other-closed.test': { ...everything, redirectsTo: 'www.maintenance.test', isClosed: true },
  'maintenance.test': everything,
  'defensive.test': inDefence,
  'cached.test': { hasEdgeCache: true },
  'strict.test': { ...everything, certifiedAt: 1, forceTls: true, challenge },
  'disabled-strict.test': { ...everything, state: 'disabled', certifiedAt: 1, forceTls: true, challenge },
}
/** Answers every visit that reaches it. */
const cache: Rule = () => ({ status: 299, headers: [] })

let port: number
beforeAll(async () => {
  const upstream = await startEcho(cleanup)
  const all = Object.entries(routes).map(([hostName, more]) => [hostName, routeTo(upstream, { ...more, hostName })])
  const defensiveMode = createDefensiveMode({
    key: Buffer.alloc(32, 1),
    isKnownBot: () => false,
    isStoredFile: () => false,
  })
  const acmeAnswers = createAcmeAnswers(async () => undefined)
  port = (
    await startGateway(cleanup, Object.fromEntries(all), {
      rules: edgeRules({ acmeAnswers, toHttps: createToHttps(443), defensiveMode, cache }),
    })
  ).port
})

const WEBSOCKET = { connection: 'upgrade', upgrade: 'websocket' }
const trace = { method: 'TRACE' }
const question = { path: '/.well-known/acme-challenge/a' }
const answer = { method: 'POST', path: ANSWER_PATH }
const rows: [string, string, { method?: string; path?: string; headers?: object }, string][] = [
  ['unknown.test', 'no site, and a method that no site answers', trace, '404'],
  ['unknown.test', 'no site, and an upgrade', { headers: WEBSOCKET }, '404'],
  ['unknown.test', 'no site, and the answer to a challenge', answer, '404'],
  ['suspended.test', 'of a suspended account, in maintenance and under attack', {}, '480'],
  ['disabled.test', 'disabled, in maintenance and under attack', {}, '480'],
  ['disabled.test', 'disabled, and a method that no site answers', trace, '480'],
  ['disabled.test', 'disabled, and an upgrade', { headers: WEBSOCKET }, '480'],
  ['deploying.test', 'being set up, in maintenance and under attack', {}, '503 after 3'],
  ['deploying.test', 'being set up, and a method that no site answers', trace, '503 after 3'],
  ['deploying.test', 'being set up, and an upgrade', { headers: WEBSOCKET }, '503 after 3'],
  ['failed.test', 'could not be set up, in maintenance and under attack', {}, '503 after 300'],
  ['disabled-closed.test', 'disabled, and being worked on', {}, '480'],
  ['deploying-closed.test', 'being set up, and being worked on', {}, '503 after 3'],
  ['closed.test', 'being worked on, in maintenance and under attack', {}, '503 after 60'],
  ['closed.test', 'being worked on, and a page that maintenance lets pass', { path: '/wp-login.php' }, '503 after 60'],
  ['closed.test', 'being worked on, and a method that no site answers', trace, '503 after 60'],
  ['closed.test', 'being worked on, and an upgrade', { headers: WEBSOCKET }, '503 after 60'],
  ['other-disabled.test', 'disabled, and another domain is primary', {}, '480'],
  ['moving.test', 'moving to another host, and the edge has its pages', {}, '299'],
  ['moving.test', 'moving to another host, and a visit that may write', { method: 'POST' }, '503 after 60'],
  ['other-closed.test', 'being worked on, and another domain is primary', {}, '503 after 60'],
  ['other.test', 'another domain is primary, and a refused method', trace, '405'],
  ['other.test', 'another domain is primary, in maintenance and under attack', {}, '301'],
  ['maintenance.test', 'a refused method and an upgrade', { ...trace, headers: WEBSOCKET }, '405'],
  ['maintenance.test', 'in maintenance, and a refused method', trace, '405'],
  ['maintenance.test', 'in maintenance, and an upgrade', { headers: WEBSOCKET }, '501'],
  ['maintenance.test', 'in maintenance and under attack', {}, '503 after 300'],
  ['defensive.test', 'under attack, and in the cache', {}, '503 after 10'],
  ['cached.test', 'in the cache', {}, '299'],
  ['strict.test', 'over https alone, in maintenance and under attack', {}, '301'],
  ['strict.test', 'over https alone, and a refused method', trace, '405'],
  ['strict.test', 'over https alone, and the question of a certificate authority', question, '200'],
  ['disabled-strict.test', 'disabled, and over https alone', {}, '480'],
  ['disabled-strict.test', 'disabled, and the question of a certificate authority', question, '200'],
]
test.each(rows)('%s: %s', async (host, _what, { path, ...request }, expected) => {
  const { status, headers } = await ask(port, path, { host, ...(request as object) })
  const after = headers['retry-after']
  expect(after ? `${status} after ${after}` : String(status)).toBe(expected)
})
