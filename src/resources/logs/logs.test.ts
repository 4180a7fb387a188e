import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { budgetOf } from '../../../test/support/budget.ts'
import { dialects } from '../../../test/support/database.ts'
import { accessRecord } from '../../edge/records/access-records.ts'
import { ask, createCleanup, routeTo, startGateway, startHost } from '../../edge/test-support.ts'
import { readMessage } from '../../hosting/php-log/php-message.ts'
import { phpRecord } from '../../hosting/php-log/php-records.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { createLogBuffer } from '../../platform/log-store/log-buffer.ts'
import { createLogIds } from '../../platform/log-store/log-ids.ts'
import type { LogStore } from '../../platform/log-store/log-store.ts'
import { sealScroll } from './scroll.ts'

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`logs on ${dialect}`, () => {
    const cleanup = createCleanup()
    const nextId = createLogIds()
    let api: TestApi
    let owner: Person
    let siteId: number
    let logs: LogStore

    beforeEach(async () => {
      api = await testApi(dialect)
      logs = api.logs
      owner = await api.person('owner@example.com')
      siteId = await api.site(owner, 'logged')
    })
    afterEach(async () => {
      await cleanup.run()
      await api.close()
    })

    const server = async (query = '', person = owner) => person.call('GET', `/v1/sites/${siteId}/logs/server${query}`)
    const php = async (query = '') => owner.call('GET', `/v1/sites/${siteId}/logs/php${query}`)

    const access = (change: object = {}, atMs = Date.now()) => ({
      siteId,
      body_bytes_sent: 12,
      cached: '',
      date: new Date(atMs).toISOString(),
      http2: '',
      http_host: 'logged.localhost',
      http_referer: '',
      http_user_agent: 'test',
      http_version: 'HTTP/1.1',
      http_x_forwarded_for: '',
      renderer: 'php',
      request_completion: 'OK',
      request_time: 0.25,
      request_type: 'GET',
      request_url: '/',
      scheme: 'http',
      status: 200,
      timestamp: Math.floor(atMs / 1000),
      type: 'access',
      user_ip: '192.0.2.1',
      ...change,
    })

    test('200: a request through the gateway becomes one entry with the fields of the API description', async () => {
      const buffer = createLogBuffer({ store: logs, kind: 'server', log: console, budget: budgetOf(), flushMs: 5 })
      const upstream = await startHost(cleanup, (_request, response) => void response.writeHead(404).end('nothing'))
      const { port } = await startGateway(
        cleanup,
        { 'site.test': routeTo(upstream, { siteId }) },
        {
          onAccess: (entry) => buffer.add(accessRecord({ ...entry, siteId }, nextId())),
        },
      )
      const headers = { 'user-agent': 'tést "x"', referer: 'https://example.com/', 'x-forwarded-for': '9.9.9.9' }
      await ask(port, '/a?b=c', { method: 'PUT', headers, body: 'x' })
      await ask(port, '/b')
      await buffer.close()
      const { status, body } = await server('?request_type=PUT')
      expect(status).toBe(200)
      expect(Object.keys(body.data).sort()).toEqual(['logs', 'scroll_id', 'total_results'])
      expect(body.data.total_results).toBeNull()
      expect(body.data.logs).toHaveLength(1)
      const [entry] = body.data.logs
      expect(entry).toEqual({
        body_bytes_sent: 7,
        cached: '',
        date: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/),
        http2: '',
        http_host: 'site.test',
        http_referer: 'https://example.com/',
        http_user_agent: expect.stringContaining('"x"'),
        http_version: 'HTTP/1.1',
        http_x_forwarded_for: '9.9.9.9',
        renderer: expect.any(String),
        request_completion: 'OK',
        request_time: expect.any(Number),
        request_type: 'PUT',
        request_url: '/a?b=c',
        scheme: 'http',
        status: 404,
        timestamp: Math.floor(Date.parse(entry.date) / 1000),
        type: 'access',
        user_ip: '127.0.0.1',
      })
      expect((await server()).body.data.logs.map((each: { request_url: string }) => each.request_url)).toEqual([
        '/b',
        '/a?b=c',
      ])
    })

    test('200: filters by statuses, method and address apply to the page of the request', async () => {
      const now = Date.now()
      const all = [
        { status: 200, request_type: 'GET', user_ip: '192.0.2.1' },
        { status: 404, request_type: 'GET', user_ip: '192.0.2.2' },
        { status: 500, request_type: 'POST', user_ip: '2001:db8::1' },
        { status: 404, request_type: 'POST', user_ip: '192.0.2.1' },
        { status: 200, request_type: 'OPTIONS', user_ip: '192.0.2.1' },
      ]
      await logs.append(
        'server',
        all.map((each, n) => accessRecord(access({ ...each, request_url: `/${n}` }, now - n), nextId())),
      )
      const found = async (query: string) =>
        (await server(query)).body.data.logs.map((each: { request_url: string }) => each.request_url)
      expect(await found('')).toEqual(['/0', '/1', '/2', '/3', '/4'])
      expect(await found('?status=404')).toEqual(['/1', '/3'])
      expect(await found('?status=500,%20404')).toEqual(['/1', '/2', '/3'])
      expect(await found('?status=404&request_type=POST')).toEqual(['/3'])
      expect(await found('?user_ip=192.0.2.1')).toEqual(['/0', '/3', '/4'])
      expect(await found('?user_ip=192.0.2.1&status=200')).toEqual(['/0', '/4'])
      expect(await found('?user_ip=2001:DB8:0:0::1')).toEqual(['/2'])
      expect(await found('?status=599')).toEqual([])
      expect(await found('?status=&user_ip=&scroll_id=')).toHaveLength(5)
      const { scroll_id } = (await server('?request_type=POST')).body.data
      expect(await found(`?scroll_id=${scroll_id}`)).toEqual(['/4'])
      expect(await found(`?scroll_id=${scroll_id}&status=404`)).toEqual([])
      const asBody = await owner.call('GET', `/v1/sites/${siteId}/logs/server`, { status: 404, request_type: 'GET' })
      expect(asBody.body.errors).toBeNull()
      expect(asBody.body.data.logs).toHaveLength(1)
    })

    test('200: pages of 200 show each entry once while new ones arrive, and end', async () => {
      const now = Date.now()
      const records = Array.from({ length: 450 }, (_, n) =>
        accessRecord(access({ request_url: `/${n}` }, now - Math.floor(n / 3)), nextId()),
      )
      await logs.append('server', records)
      const seen: string[] = []
      const sizes: number[] = []
      let scroll = ''
      do {
        const { logs: page, scroll_id } = (await server(`?scroll_id=${scroll}`)).body.data
        scroll = scroll_id
        sizes.push(page.length)
        seen.push(...page.map((each: { request_url: string }) => each.request_url))
        await logs.append('server', [accessRecord(access({ request_url: '/new' }, now + 1000), nextId())])
      } while (sizes.at(-1) !== 0)
      expect(sizes).toEqual([200, 200, 50, 0])
      expect(new Set(seen).size).toBe(450)
      expect(seen).not.toContain('/new')
    })

    test('200: entries older than seven days are hidden', async () => {
      const old = Date.now() - 7 * DAY_MS
      await logs.append('server', [
        accessRecord(access({ request_url: '/old' }, old - 1000), nextId()),
        accessRecord(access({ request_url: '/kept' }, old + 60_000), nextId()),
      ])
      expect((await server()).body.data.logs).toMatchObject([{ request_url: '/kept' }])
    })

    test('200: PHP errors with the fields of the API description, by severity', async () => {
      const now = Date.now()
      const texts = [
        'PHP Warning:  Undefined variable $x in /wordpress/wp-content/plugins/shop/a.php on line 3',
        'plain words',
        'PHP Fatal error:  Uncaught Error: no in /wordpress/x.php:1\nStack trace:\n#0 {main}\n  thrown in /wordpress/x.php on line 1',
        'PHP Parse error:  bad in /wordpress/y.php on line 2',
        'PHP Deprecated:  old in /wordpress/wp-includes/z.php on line 5',
      ]
      await logs.append(
        'php',
        texts.map((text, n) => phpRecord({ siteId, atMs: now - n * 1000, id: nextId() }, readMessage(text))),
      )
      const { data } = (await php()).body
      expect(data.total_results).toBeNull()
      expect(data.logs[0]).toEqual({
        message: 'Undefined variable $x',
        severity: 'Warning',
        kind: 'plugin',
        name: 'shop',
        file: 'wp-content/plugins/shop/a.php',
        line: 3,
        timestamp: new Date(now).toISOString(),
        atomic_site_id: siteId,
      })
      expect(data.logs.map((each: { severity: string }) => each.severity)).toEqual([
        'Warning',
        'User',
        'Fatal error',
        'Parse error',
        'Deprecated',
      ])
      for (const severity of ['User', 'Warning', 'Deprecated', 'Fatal error'])
        expect((await php(`?status=${encodeURIComponent(severity)}`)).body.data.logs).toMatchObject([{ severity }])
      expect((await php(`?scroll_id=${data.scroll_id}`)).body.data.logs).toEqual([])
    })

    test('200: counts database errors of the site and the week, up to a thousand', async () => {
      const now = Date.now()
      const entry = (text: string, atMs: number, of = siteId) =>
        phpRecord({ siteId: of, atMs, id: nextId() }, readMessage(text))
      const failed = 'WordPress database error no such table: wp_x for query SELECT * FROM wp_x made by main'
      const count = async (status = 'Database error') => {
        const answer = await owner.call(
          'GET',
          `/v1/sites/${siteId}/logs/php/count?status=${encodeURIComponent(status)}`,
        )
        return answer.body.data?.count
      }
      expect(await count()).toBe(0)
      await logs.append('php', [
        ...[entry(failed, now), entry(failed, now - 3 * DAY_MS), entry('plain words', now)],
        ...[entry(failed, now - 7 * DAY_MS - 1000), entry(failed, now, siteId + 1)],
      ])
      expect([await count(), await count('User'), await count('Warning')]).toEqual([2, 1, 0])
      expect((await php('?status=Database%20error')).body.data.logs).toHaveLength(2)
      await logs.append(
        'php',
        Array.from({ length: 1100 }, (_, n) => entry(failed, now - (n % 4) * DAY_MS - n)),
      )
      expect(await count()).toBe(1000)
      expect(await count('Notice'), 'no status of the filter').toBeUndefined()
      const all = await owner.call('GET', `/v1/sites/${siteId}/logs/php/count`)
      expect(all.body.data).toEqual({ count: 1000 })
    })

    test('400 for values that a log never has', async () => {
      for (const query of [
        'status=99',
        'status=600',
        'status=abc',
        'status=200,,404',
        'request_type=HEAD',
        'user_ip=1.2.3',
        'scroll_id=abc',
      ]) {
        const { status, body } = await server(`?${query}`)
        expect([query, status]).toEqual([query, 400])
        expect(body.errors[0]).toMatch(new RegExp(`^${query.split('=')[0]}: `))
      }
      expect((await php('?status=Notice')).status).toBe(400)
    })

    test('400 for a scroll_id that was changed, or belongs to another log, site or installation', async () => {
      const { scroll_id } = (await server()).body.data
      const other = await api.site(owner, 'other-site')
      const changed = `${scroll_id.slice(0, -1)}${scroll_id.endsWith('A') ? 'B' : 'A'}`
      expect((await server(`?scroll_id=${scroll_id}`)).status).toBe(200)
      expect((await server(`?scroll_id=${scroll_id.slice(0, 20)}`)).status).toBe(400)
      expect((await server(`?scroll_id=x${changed}`)).status).toBe(400)
      expect((await php(`?scroll_id=${scroll_id}`)).status).toBe(400)
      expect((await owner.call('GET', `/v1/sites/${other}/logs/server?scroll_id=${scroll_id}`)).status).toBe(400)
      const foreign = sealScroll(createSealer(randomBytes(32)), 'server', siteId, { atMs: 1, id: 1 })
      expect((await server(`?scroll_id=${foreign}`)).status).toBe(400)
    })

    test('404 for another account', async () => {
      const stranger = await api.person('stranger@example.com')
      expect((await server('', stranger)).status).toBe(404)
    })
  })
}
