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

test('a page is given once, to the site that has made it', async () => {
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
])('one from before a purge is given to nobody: a purge %s', async (_, meanwhile, after) => {
  const first = pages()
  await first.keep(7, async () => {
    meanwhile()
    return made('one')
  })
  after()
  expect(await first.take(7)).toBeUndefined()
})

test('one that nobody asks for is let go, and a large one is not kept', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  // lru-cache takes zero for no time at all
  vi.advanceTimersByTime(1)
  const first = pages()
  await first.keep(7, () => made('one'))
  await first.keep(8, () => made('x'.repeat(2 << 20)))
  expect(await first.take(8)).toBeUndefined()
  await vi.advanceTimersByTimeAsync(11_000)
  expect(await first.take(7)).toBeUndefined()
})
