import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FileServer, startFileServer } from '../../../test/support/file-server.ts'
import { MeasureFailed, MeasureImpossible } from '../page-measure/measure-page.ts'
import type { PhpPool, PooledSite } from '../php/pool/pool.ts'
import { type CompareOptions, comparePages } from './compare-pages.ts'

let old: FileServer
beforeAll(async () => {
  old = await startFileServer()
})
afterAll(() => old.close())

const front = '<title>Front</title><a href="/about/">About</a> <a href="http://new.example.com/shop/">Shop</a>'
const pages: Record<string, string> = { '/': front, '/about/': '<title>About</title>we', '/shop/': 'two boats' }
beforeEach(() => {
  old.files.clear()
  for (const [path, page] of Object.entries(pages)) old.files.set(path, page)
})

const pool = {
  handle: async (_site: PooledSite, { path }: { path: string }) => ({
    status: 200,
    headers: [],
    body: Readable.from([Buffer.from(pages[path] as string)]),
  }),
} as unknown as Pick<PhpPool, 'handle'>

const compare = (more: Partial<CompareOptions> = {}) =>
  comparePages({
    pool,
    site: { address: 'new.example.com' } as PooledSite,
    oldAddress: old.base,
    allowPrivate: true,
    signal: new AbortController().signal,
    comparePictures: async () => 0,
    ...more,
  })

test('the front page and those it leads to are compared by words and pictures', async () => {
  const asked: object[] = []
  const compared = await compare({
    async comparePictures(each) {
      asked.push(each)
      return asked.length
    },
  })
  expect(
    compared.map(({ path, sameText, differentPicture, noPicture }) => [path, sameText, differentPicture, noPicture]),
  ).toEqual([
    ['/', 100, 1, null],
    ['/about/', 100, 2, null],
    ['/shop/', 100, 3, null],
  ])
  expect(asked[1]).toMatchObject({ old: `${old.base}/about/`, new: 'http://new.example.com/about/' })
  expect(compared[1]).toMatchObject({ old: { status: 200, title: 'About' }, new: { status: 200, title: 'About' } })
})

test('where no picture can be taken, words count, and the reason is given without trying again', async () => {
  let tries = 0
  const compared = await compare({
    async comparePictures() {
      tries++
      throw new MeasureImpossible('The host has no Chromium')
    },
  })
  expect(compared.map(({ sameText, noPicture }) => [sameText, noPicture])).toEqual(
    Array.from({ length: 3 }, () => [100, 'The host has no Chromium']),
  )
  expect(tries).toBe(1)
})

test('a picture that fails leaves the others; what a hostile page says of it is cut', async () => {
  const compared = await compare({
    async comparePictures({ old: page }) {
      if (page.endsWith('/about/')) throw new MeasureFailed(`no\0\n${'x'.repeat(1000)}`)
      return 0.1
    },
  })
  expect(compared.map(({ differentPicture }) => differentPicture)).toEqual([0.1, null, 0.1])
  expect(compared[1]?.noPicture).toMatch(/^no x{297}$/)
})

test('no picture is taken of a page that does not answer', async () => {
  const comparePictures = () => Promise.reject(new Error('not to be asked'))
  const why = async (more: Partial<CompareOptions>) =>
    (await compare({ comparePictures, ...more })).map(({ noPicture }) => noPicture)
  expect(new Set(await why({ oldAddress: 'http://127.0.0.1:1' }))).toEqual(new Set(['The old site does not answer']))
  // A dump can name any address.
  expect(new Set(await why({ oldAddress: 'file:///etc' }))).toEqual(new Set(['The old site does not answer']))
})

test('all pictures together have a time', async () => {
  const asked: string[] = []
  const compared = await compare({
    picturesMs: 1,
    comparePictures: ({ old: page, signal }) =>
      new Promise((_, reject) => {
        asked.push(page)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  })
  expect(compared.map(({ sameText }) => sameText)).toEqual([100, 100, 100])
  expect(new Set(compared.map(({ noPicture }) => noPicture))).toEqual(
    new Set(['The browser took too long for all pages']),
  )
  expect(asked.length).toBeLessThan(2)
})

test('what is interrupted is not taken for a page without a picture', async () => {
  const control = new AbortController()
  const compared = compare({
    signal: control.signal,
    async comparePictures() {
      control.abort(new Error('stopping'))
      throw new MeasureFailed('It was interrupted')
    },
  })
  await expect(compared).rejects.toThrow('stopping')
})
