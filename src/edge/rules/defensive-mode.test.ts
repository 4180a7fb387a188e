import { createHash } from 'node:crypto'
import { Agent, createServer, request as httpRequest } from 'node:http'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBotCheck, type NameLookups } from '../challenge/bots.ts'
import { BITS, createTokens } from '../challenge/challenge-tokens.ts'
import { solver } from '../challenge/page.ts'
import { ask as askOnce, createCleanup, listen, type Reply, routeTo, startGateway } from '../test-support.ts'
import { createDefensiveMode } from './defensive-mode.ts'
import { edgeRules } from './index.ts'

const cleanup = createCleanup()
const key = Buffer.alloc(32, 7)
const UA = 'Mozilla/5.0 (test)'
let port: number
let asked = 0
let nowMs = Date.now()

const names: NameLookups = {
  reverse: async (address) => (address === '127.0.0.1' ? ['crawl-1.googlebot.com', 'fake-bingbot.example'] : []),
  addresses: async (name) => (name === 'crawl-1.googlebot.com' ? ['127.0.0.1'] : []),
}

beforeAll(async () => {
  const host = createServer((_request, response) => {
    asked++
    response.end('the page')
  })
  const upstream = `http://127.0.0.1:${await listen(host)}`
  cleanup.add(() => host.close())
  const defended = routeTo(upstream, { hasEdgeCache: true, defensiveUntilMs: nowMs + 3_600_000 })
  const routes = {
    'site.test': defended,
    'other.test': { ...defended, hostName: 'other.test' },
    'over.test': routeTo(upstream, { hasEdgeCache: true, defensiveUntilMs: nowMs - 1 }),
    'uncached.test': { ...defended, hasEdgeCache: false },
  }
  const defensiveMode = createDefensiveMode({
    key,
    isKnownBot: createBotCheck('dns', names),
    isStoredFile: ({ target }) => target === '/stored.css',
    now: () => nowMs,
  })
  port = (await startGateway(cleanup, routes, { rules: edgeRules({ defensiveMode }), trustProxy: ['127.0.0.1'] })).port
})
afterAll(() => cleanup.run())

const ask: typeof askOnce = (to, path, options = {}) =>
  askOnce(to, path, { ...options, headers: { 'user-agent': UA, ...options.headers } })

function solve(page: Reply): string {
  const token = /data-token="([^"]+)"/.exec(page.body)?.[1] as string
  const seed = /data-seed="([^"]+)"/.exec(page.body)?.[1] as string
  const next = runInNewContext(`${solver}; createSolver(${JSON.stringify(seed)}, ${BITS})`) as (tries: number) => number
  return `${token}:${next(100_000_000)}`
}

const answer = (solution: string, more: { host?: string; headers?: Record<string, string> } = {}) =>
  ask(port, '/.well-known/stead/challenge', {
    method: 'POST',
    ...more,
    headers: { 'stead-answer': solution, ...more.headers },
  })

async function pass(): Promise<string> {
  const reply = await answer(solve(await ask(port)))
  return (reply.headers['set-cookie'] as string[])[0]?.split(';')[0] as string
}

test('finds the first number with the required SHA-256 prefix', () => {
  for (const seed of ['abc', 'x'.repeat(24), 'Zz-_09'.repeat(4)]) {
    const next = runInNewContext(`${solver}; createSolver('${seed}', 10)`) as (tries: number) => number
    const found = next(1_000_000)
    const zeros = (number: number) =>
      Math.clz32(createHash('sha256').update(`${seed}:${number}`).digest().readUInt32BE(0))
    expect(zeros(found)).toBeGreaterThanOrEqual(10)
    for (let number = 0; number < found; number++) expect(zeros(number)).toBeLessThan(10)
  }
})

test('answers 503 to a visitor without a pass, with a challenge that loads nothing from elsewhere, whatever the request', async () => {
  const before = asked
  for (const [path, method] of [
    ['/', 'GET'],
    ['/x.css', 'GET'],
    ['/wp-login.php', 'POST'],
    ['/?a=1', 'HEAD'],
  ] as const) {
    const { status, headers } = await ask(port, path, { method })
    expect([path, status, headers['retry-after'], headers['cache-control']]).toEqual([path, 503, '10', 'no-store'])
  }
  const { body, headers } = await ask(port)
  expect(body).toContain('<noscript>')
  expect(body).toContain('role="status"')
  expect(body).not.toMatch(/(?:src|href)=|https?:\/\//)
  expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'sha256-/)
  const json = await ask(port, '/wp-json/', { headers: { accept: 'application/json' } })
  expect([json.status, JSON.parse(json.body).status]).toEqual([503, 503])
  expect(asked).toBe(before)
})

test('answers 204 with a pass to a solved challenge, and serves pages with the pass', async () => {
  const page = await ask(port)
  const reply = await answer(solve(page))
  expect(reply.status).toBe(204)
  const [cookie] = reply.headers['set-cookie'] as string[]
  expect(cookie).toMatch(/^stead-pass=\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
  const headers = { cookie: `a=b; ${cookie?.split(';')[0]}` }
  expect((await ask(port, '/', { headers })).body).toBe('the page')
  const https = await answer(solve(await ask(port)), { headers: { 'x-forwarded-proto': 'https' } })
  expect(https.headers['set-cookie']?.[0]).toContain('; Secure')
})

test('accepts a pass only from the same visitor, on the same site, for a limited time', async () => {
  const cookie = await pass()
  expect((await ask(port, '/', { headers: { cookie } })).status).toBe(200)
  expect((await ask(port, '/', { headers: { cookie }, host: 'other.test' })).status).toBe(503)
  expect((await ask(port, '/', { headers: { cookie, 'user-agent': 'Another' } })).status).toBe(503)
  expect((await ask(port, '/', { headers: { cookie, 'x-forwarded-for': '192.0.2.9' } })).status).toBe(503)
  const [name, value] = cookie.split('=') as [string, string]
  const [expires, id, signature] = value.split('.') as [string, string, string]
  const later = (Number.parseInt(expires, 36) + 1).toString(36)
  for (const forged of [
    `${later}.${id}.${signature}`,
    `${expires}.${id}x.${signature}`,
    'x',
    '..',
    `${expires}.${id}.`,
  ])
    expect([forged, (await ask(port, '/', { headers: { cookie: `${name}=${forged}` } })).status]).toEqual([forged, 503])
})

test("answers 403 to solutions that are wrong, old, or another visitor's, and the same pass to one that is sent twice", async () => {
  const page = await ask(port)
  const solution = solve(page)
  for (const wrong of ['', 'x', `${solution}0`, solution.replace(/:.*/, ':'), `${solution.replace(/:.*/, '')}:-1`])
    expect([wrong, (await answer(wrong)).status]).toEqual([wrong, 403])
  expect((await answer(solution, { host: 'other.test' })).status).toBe(403)
  expect((await answer(solution, { headers: { 'x-forwarded-for': '192.0.2.9' } })).status).toBe(403)
  const passOf = (reply: Reply) => reply.headers['set-cookie']?.[0]?.split(';')[0]
  const first = passOf(await answer(solution))
  nowMs += 60_000
  expect(passOf(await answer(solution))).toBe(first)
  nowMs += 5 * 60_000
  expect((await answer(solution)).status).toBe(403)
})

test('accepts a change in the lower half of an IPv6 address, as phones do', () => {
  const tokens = createTokens(key)
  const bearer = (address: string) => ({ hostName: 'site.test', address, userAgent: UA })
  const { token } = tokens.challenge(bearer('2001:db8:1:2:aaaa::1'), nowMs)
  // The signature is valid for the whole network, so the solution is what is wrong with these.
  const [body, seed] = [token.slice(0, token.lastIndexOf('.')), token.slice(token.lastIndexOf('.') + 1)]
  const next = runInNewContext(`${solver}; createSolver('${seed}', ${BITS})`) as (tries: number) => number
  const found = String(next(100_000_000))
  expect(tokens.redeem(bearer('2001:db8:1:2:bbbb::9'), `${body}.${seed}`, found, nowMs)).toBeDefined()
  expect(tokens.redeem(bearer('2001:db8:1:3::1'), `${body}.${seed}`, found, nowMs)).toBeUndefined()
})

test('lets cached files, certificate tokens, and verified bots pass, but not impostors', async () => {
  expect((await ask(port, '/stored.css')).status).toBe(200)
  expect((await ask(port, '/.well-known/acme-challenge/t')).status).toBe(200)
  const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
  expect((await ask(port, '/', { headers: { 'user-agent': googlebot } })).status).toBe(200)
  const elsewhere = { 'user-agent': googlebot, 'x-forwarded-for': '192.0.2.66' }
  expect((await ask(port, '/', { headers: elsewhere })).status).toBe(503)
  expect((await ask(port, '/', { headers: { 'user-agent': 'bingbot/2.0' } })).status).toBe(503)
})

test('challenges nobody without the mode, after its end, and without the edge cache', async () => {
  for (const host of ['over.test', 'uncached.test']) {
    expect((await ask(port, '/', { host })).status).toBe(200)
    const late = await answer('a:1', { host })
    expect([late.status, late.headers['set-cookie']]).toEqual([204, undefined])
  }
})

test('challenges a visitor with a pass again after very many requests', async () => {
  const cookie = await pass()
  const statuses = new Map<number, number>()
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { host: 'site.test', cookie, 'user-agent': UA }
      httpRequest({ port, host: '127.0.0.1', agent, headers }, (response) => {
        const status = response.statusCode as number
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        response.resume().once('end', resolve)
      })
        .on('error', reject)
        .end()
    })
  await Promise.all(Array.from({ length: 700 }, one))
  agent.destroy()
  expect(statuses).toEqual(
    new Map([
      [200, 600],
      [503, 100],
    ]),
  )
})

test('keeps a flood of thousands of requests from the host', async () => {
  const before = asked
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const one = (number: number) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        host: 'site.test',
        'user-agent': `flood/${number % 50}`,
        'x-forwarded-for': `192.0.2.${number % 250}`,
      }
      httpRequest({ port, host: '127.0.0.1', path: `/?${number}`, agent, headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode as number))
      })
        .on('error', reject)
        .end()
    })
  const statuses = await Promise.all(Array.from({ length: 5000 }, (_, number) => one(number)))
  agent.destroy()
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(asked).toBe(before)
})
