import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { phpRecord } from '../../hosting/php-log/php-records.ts'
import { noLog } from '../../platform/log/log.ts'
import type { LogRecord } from '../../platform/log-store/log-store.ts'
import { SiteFaults } from './site-faults.ts'

const MINUTE = 60_000

let api: TestApi
let site: number
let other: number
let now: number
let faults: SiteFaults
beforeEach(async () => {
  now = Date.now()
  api = await testApi('sqlite')
  const owner = await api.person('owner@example.com')
  site = await api.site(owner, 'shop')
  other = await api.site(owner, 'blog')
  faults = new SiteFaults({ database: api.database, log: noLog }, () => now)
})
afterEach(() => api?.close())

const noted = async () =>
  (await api.database.read.selectFrom('site_faults').selectAll().orderBy('site_id').execute()).map((row) => [
    ...[row.site_id, row.kind, row.detail, row.seen_at],
  ])

test('a site with ten fatal errors within ten minutes is noted, with the last one, once a minute', async () => {
  const stored: LogRecord[] = []
  const logs = faults.counting({ append: async (_, records) => void stored.push(...records) })
  const errors = (count: number, severity: string, of = site) =>
    logs.append(
      'php',
      Array.from({ length: count }, (_, id) =>
        phpRecord({ siteId: of, atMs: now, id }, { message: `Uncaught ${id}\nstack`, severity, file: '', line: 1 }),
      ),
    )
  await errors(50, 'Warning')
  await errors(9, 'Fatal error')
  await errors(9, 'Parse error', other)
  expect([stored.length, await noted()]).toEqual([68, []])
  now += 11 * MINUTE
  await errors(9, 'Fatal error')
  expect(await noted()).toEqual([])
  await errors(1, 'Parse error')
  const first = [site, 'php_errors', 'The last error: Uncaught 0', now]
  expect(await noted()).toEqual([first])
  now += 30_000
  await errors(10, 'Fatal error')
  expect(await noted()).toEqual([first])
  now += 40_000
  await errors(10, 'Fatal error')
  expect(await noted()).toEqual([[site, 'php_errors', 'The last error: Uncaught 9', now]])
})

test('mails that bounce are counted for an hour, and a database that is away stops nothing', async () => {
  for (let hour = 0; hour < 6; hour++) {
    now += 16 * MINUTE
    await faults.count('mail_bouncing', site, 1, 'refused')
  }
  expect(await noted()).toEqual([])
  await faults.count('mail_bouncing', site, 2, 'refused')
  expect(await noted()).toEqual([[site, 'mail_bouncing', 'refused', now]])
  const away = { ...api.database, transaction: () => Promise.reject(new Error('away')) } as typeof api.database
  await new SiteFaults({ database: away, log: noLog }).count('mail_bouncing', site, 9, 'refused')
})

test('a site that was purged is not noted', async () => {
  await faults.count('mail_bouncing', 1_000_000, 9, 'refused')
  expect(await noted()).toEqual([])
})
