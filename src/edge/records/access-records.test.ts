import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noticeOf } from '../../platform/log-store/log-store.ts'
import type { AccessEntry } from './access-log.ts'
import { accessEntryOf, accessRecord } from './access-records.ts'

const entry: AccessEntry & { siteId: number } = {
  siteId: 1,
  body_bytes_sent: 1,
  cached: 'HIT',
  date: '2026-11-21T00:00:00.000Z',
  http2: '',
  http_host: 'site.test',
  http_referer: 'http://elsewhere/"quoted"',
  http_user_agent: 'Mozilla/5.0',
  http_version: 'HTTP/1.1',
  http_x_forwarded_for: '192.0.2.1',
  renderer: 'php',
  request_completion: 'OK',
  request_time: 0.1,
  request_type: 'GET',
  request_url: '/?a=b',
  scheme: 'https',
  status: 200,
  timestamp: 1_795_219_200,
  type: 'access',
  user_ip: '192.0.2.1',
}

test('reads an entry as it was written', () => expect(accessEntryOf(accessRecord(entry, 1))).toEqual(entry))

test('limits an entry to about 2 kB, whatever a visitor sends', () => {
  const head = fc.string({
    unit: fc.nat(255).map((code) => String.fromCharCode(code)),
    minLength: 0,
    maxLength: 16_000,
  })
  fc.assert(
    fc.property(head, head, head, head, (http_referer, http_user_agent, http_x_forwarded_for, request_url) => {
      const given = { http_referer, http_user_agent, http_x_forwarded_for, request_url }
      const { body } = accessRecord({ ...entry, ...given }, 1)
      expect(Buffer.byteLength(body)).toBeLessThan(2_048)
      const kept = accessEntryOf({ ...accessRecord({ ...entry, ...given }, 1) })
      expect(request_url.startsWith(kept.request_url)).toBe(true)
    }),
    { numRuns: 50 },
  )
  const quotes = '"'.repeat(16_000)
  const worst = { http_referer: quotes, http_user_agent: quotes, http_x_forwarded_for: quotes, request_url: quotes }
  expect(Buffer.byteLength(accessRecord({ ...entry, ...worst }, 1).body)).toBeLessThan(2_048)
})

test('shows what a store has dropped from a log as an entry', () => {
  const told = accessEntryOf(noticeOf(1, entry.timestamp * 1000, 12))
  expect(told).toMatchObject({ type: 'notice', siteId: 1, timestamp: entry.timestamp })
  expect(told.request_url).toContain('12 requests')
})
