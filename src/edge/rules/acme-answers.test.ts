import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Route } from '../routing/route.ts'
import { ask, createCleanup, routeTo, startEcho, startGateway } from '../test-support.ts'
import { createAcmeAnswers } from './acme-answers.ts'
import { edgeRules } from './index.ts'

const PATH = '/.well-known/acme-challenge/'
const cleanup = createCleanup()
const reached: string[] = []
let late: Route | undefined
const ownChallenge = (hostName: string) =>
  hostName === 'api.test' ? Promise.resolve({ token: 'own', answer: 'own.print' }) : undefined
let port: number
beforeAll(async () => {
  const upstream = await startEcho(cleanup)
  const routes = {
    'ordered.test': routeTo(upstream, { challenge: { token: 'tok-en_1', answer: 'tok-en_1.print' } }),
    'wanted.test': routeTo(upstream, { challenge: null }),
    'site.test': routeTo(upstream),
  }
  const acmeAnswers = createAcmeAnswers(async (hostName) => {
    reached.push(hostName)
    return late
  }, ownChallenge)
  port = (await startGateway(cleanup, routes, { rules: edgeRules({ acmeAnswers }) })).port
})
beforeEach(() => {
  reached.length = 0
  late = undefined
})
afterAll(() => cleanup.run())

test('answers the token of an order', async () => {
  const { status, body, headers } = await ask(port, `${PATH}tok-en_1`, { host: 'ordered.test' })
  expect([status, body, headers['cache-control']]).toEqual([200, 'tok-en_1.print', 'no-store'])
  expect(reached).toEqual([])
})

test('reads an order that was created a moment ago first', async () => {
  late = routeTo('', { challenge: { token: 'new', answer: 'new.print' } })
  expect((await ask(port, `${PATH}new`, { host: 'wanted.test' })).body).toBe('new.print')
  expect((await ask(port, `${PATH}new`, { host: 'ordered.test' })).body).toBe('new.print')
})

test('leaves other tokens to the site, and reads nothing for names that want no certificate', async () => {
  expect((await ask(port, `${PATH}other`, { host: 'wanted.test' })).body).toContain('"method":"GET"')
  expect(reached).toEqual(['wanted.test'])
  expect((await ask(port, `${PATH}other`, { host: 'site.test' })).body).toContain('"method":"GET"')
  expect((await ask(port, `${PATH}a/b`, { host: 'wanted.test' })).body).toContain('"method":"GET"')
  expect(reached).toEqual(['wanted.test'])
})

test('answers for a name of the installation itself, which no site has', async () => {
  expect((await ask(port, `${PATH}own`, { host: 'api.test' })).body).toBe('own.print')
  expect((await ask(port, `${PATH}other`, { host: 'api.test' })).status).toBe(404)
  expect((await ask(port, '/', { host: 'api.test' })).status).toBe(404)
  expect((await ask(port, `${PATH}own`, { host: 'nobody.test' })).status).toBe(404)
})
