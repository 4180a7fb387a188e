import { text } from 'node:stream/consumers'
import { afterEach, expect, test, vi } from 'vitest'
import { FirstPages } from './first-pages.ts'

let purge = 1
const pages = () => new FirstPages(async () => purge)
const made = async (body: string | null) => ({
  title: 'A',
  page: body === null ? null : { headers: ['Link', '</>'], body: Buffer.from(body) },
})

afterEach(() => {
  vi.useRealTimers()
})

test('serves a page once, for the site that created it', async () => {
  const first = pages()
  expect(await first.keep(7, () => made('one'))).toMatchObject({ title: 'A' })
  await first.keep(8, () => made(null))
  expect(await first.take(8)).toBeUndefined()
  const given = await first.take(7)
  expect(given).toMatchObject({ status: 200, headers: ['Link', '</>'] })
  expect(given && (await text(given.body))).toBe('one')
  expect(await first.take(7)).toBeUndefined()
})

test.each([
  ['while it was made', () => purge++, () => {}],
  ['after it was made', () => {}, () => purge++],
])('serves no page from before a purge: a purge %s', async (_, meanwhile, after) => {
  const first = pages()
  await first.keep(7, async () => {
    meanwhile()
    return made('one')
  })
  after()
  expect(await first.take(7)).toBeUndefined()
})

test('drops a page that no request takes, and does not keep a large one', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  // lru-cache treats zero as no time at all.
  vi.advanceTimersByTime(1)
  const first = pages()
  await first.keep(7, () => made('one'))
  await first.keep(8, () => made('x'.repeat(2 << 20)))
  expect(await first.take(8)).toBeUndefined()
  await vi.advanceTimersByTimeAsync(11_000)
  expect(await first.take(7)).toBeUndefined()
})
