/** What the panel reckons before it draws anything. */
import { expect, test } from 'vitest'
import { jobs } from '../../src/jobs.ts'
import { csvOf } from '../../src/panel/csv.ts'
import { summaryOf } from '../../src/panel/pages/site/traffic/request-summary.ts'
import { scaleOf } from '../../src/panel/parts/scale.ts'
import { readAll } from '../../src/panel/read-all.ts'
import { operationTitle, operationTypes, stepTitle } from '../../src/panel/texts/operation-names.ts'

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [100, [0, 25, 50, 75, 100]],
  [412, [0, 200, 400, 600]],
])('an axis up to %i reads %j', (most, ticks) => expect(scaleOf(most)).toEqual({ top: ticks.at(-1), ticks }))

test('CSV: quotes are doubled, and no cell is a formula', () => {
  expect(
    csvOf([
      ['a', 'say "no"'],
      ['=1+1', '-x\ny'],
    ]),
  ).toBe('"a","say ""no"""\r\n"\'=1+1","\'-x\ny"\r\n')
})

test('a list is read to its end, and no further than its bound', async () => {
  const asked: number[] = []
  const page = (ids: number[], next?: number) => ({ data: ids, next })
  const read = async (after: number) => {
    asked.push(after)
    return after === 0 ? page([9, 8], 8) : page([7])
  }
  const nextOf = ({ next }: { next?: number | undefined }) => next
  expect(await readAll({ read, first: 0, nextOf, most: 3 })).toEqual({ rows: [9, 8, 7], isCut: false })
  expect(asked).toEqual([0, 8])
  const endless = async () =>
    page(
      Array.from({ length: 50 }, (_, n) => n),
      1,
    )
  const { rows, isCut } = await readAll({ read: endless, first: 0, nextOf, most: 120 })
  expect([rows.length, isCut]).toEqual([120, true])
})

/** Work that no account owns, and nobody is shown. */
const hidden =
  /^(?:cms\.|statistics\.(?:measure|refresh)|tokens|sign_ins|activity|dnssec\.plan|backups\.plan|imports\.expire|domains|logs|performance|events|certificates|records|idempotency|operations|mail_counts|hosts|monitoring|alerts|safe_updates|vulnerabilities|client_reports\.(?:count|close|plan)|plugin\.look)/

test('each operation that people are shown has a title, and each of its steps', () => {
  const shown = [...jobs.values()].filter(({ name }) => !hidden.test(name))
  expect(shown.map(({ name }) => name).filter((name) => !(name in operationTypes))).toEqual([])
  const raw = (step: string) => stepTitle(step).toLowerCase() === step.replaceAll('_', ' ')
  expect(shown.flatMap(({ steps }) => Object.keys(steps)).filter(raw)).toEqual([])
  expect(operationTitle({ type: 'site.clone', state: 'succeeded' })).toBe('Site cloned')
  expect(operationTitle({ type: 'site.clone', state: 'failed' })).toBe('Clone site')
  expect(operationTitle({ type: 'later.new_thing', state: 'running' })).toBe('Later new thing')
})

test('requests are summed up: pages, other sites, hours without any, cache and time', () => {
  const request = (over: object) => ({
    ...{ body_bytes_sent: 100, cached: '', date: '2026-01-31T09:30:00.000Z', http_host: 'shop.example.com' },
    ...{ http_referer: '', renderer: 'php', request_time: 0.1, request_type: 'GET', request_url: '/', status: 200 },
    ...{ timestamp: 1769851800, type: 'access', ...over },
  })
  const summary = summaryOf([
    request({ timestamp: 1769851800 + 7200, cached: 'HIT', renderer: 'edge', request_time: 0.01 }),
    request({ request_url: '/style.css?ver=1', renderer: 'static', http_referer: 'https://shop.example.com/' }),
    request({ request_url: '/hello/?a=1', http_referer: 'https://search.example/?q=x', status: 200 }),
    request({ status: 503, request_time: 2, http_referer: 'no address' }),
    request({ type: 'notice', request_url: '12' }),
  ] as never)
  expect(summary).toMatchObject({
    ...{ count: 4, bytes: 400, serverErrors: 1, withoutPhp: 0.5, fromCache: 0.25, slowTime: 2 },
    pages: [
      { name: '/', count: 1 },
      { name: '/hello/', count: 1 },
    ],
    referrers: [{ name: 'search.example', count: 1 }],
    statuses: [
      { name: '2', count: 3 },
      { name: '5', count: 1 },
    ],
  })
  expect(summary?.hours.map(({ count }) => count)).toEqual([3, 0, 1])
  expect(summaryOf([])).toBeUndefined()
})
