import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type FileServer, startFileServer } from '../../../test/support/file-server.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import { readVulnerabilities } from './read-vulnerabilities.job.ts'
import { feedMember } from './vulnerabilities.fixture.ts'

describe.each(dialects)('the feed of vulnerabilities on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let server: FileServer
  let folder: string
  beforeAll(async () => {
    api = await testApi(dialect)
    server = await startFileServer()
    folder = await mkdtemp(join(tmpdir(), 'stead-feed-'))
  })
  beforeEach(() =>
    api.database.transaction(async (tx) => {
      await tx.deleteFrom('vulnerabilities').execute()
      await tx.deleteFrom('vulnerability_feeds').execute()
    }),
  )
  afterAll(async () => {
    server?.close()
    await api?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  const feedOf = (slugs: readonly string[]) =>
    JSON.stringify(Object.fromEntries(slugs.map((slug) => [slug, feedMember({ slug })])))
  /** @param laterMs moves the last reading into the past */
  async function read(vulnerabilityFeed: string | undefined, laterMs = 0) {
    await api.database.transaction((tx) =>
      tx
        .updateTable('vulnerability_feeds')
        .set((eb) => ({ tried_at: eb('tried_at', '-', laterMs) }))
        .execute(),
    )
    const services = { database: api.database, config: { ...api.config, vulnerabilityFeed } }
    const worker = startWorker(api.database, [readVulnerabilities], { services })
    const id = await api.database.transaction((tx) => enqueue(tx, readVulnerabilities, {}, { now: Date.now() }))
    const { state, error } = await ended(api.database, id)
    await worker.stop(5000)
    return { state, error }
  }
  const stored = async () => {
    const rows = await api.database.read.selectFrom('vulnerabilities').select('slug').orderBy('slug').execute()
    return rows.map(({ slug }) => slug)
  }
  const done = { state: 'succeeded', error: null }

  test('is read from a server or a file, and replaces what an earlier one had', async () => {
    server.files.set('/feed.json', feedOf(['forms', 'gallery']))
    expect(await read(`${server.base}/feed.json`)).toEqual(done)
    expect(await stored()).toEqual(['forms', 'gallery'])
    const file = join(folder, 'feed.json')
    await writeFile(file, feedOf(['gallery', 'slider']))
    expect(await read(file)).toEqual(done)
    expect(await stored()).toEqual(['gallery', 'slider'])
    expect(await read(undefined)).toEqual(done)
    expect(await stored()).toEqual([])
  })

  test('forgets what is gone, and keeps other vulnerabilities of the same plugin', async () => {
    const members = (ids: readonly string[]) =>
      JSON.stringify(Object.fromEntries(ids.map((id) => [id, feedMember({ slug: 'forms', id })])))
    server.files.set('/feed.json', members(['one', 'two', 'three']))
    expect(await read(`${server.base}/feed.json`)).toEqual(done)
    server.files.set('/feed.json', members(['one', 'three']))
    expect(await read(`${server.base}/feed.json`, 13 * 3_600_000)).toEqual(done)
    const rows = await api.database.read.selectFrom('vulnerabilities').select('feed_id').orderBy('feed_id').execute()
    expect(rows.map(({ feed_id: id }) => id)).toEqual(['one', 'three'])
  })

  test('is read twice a day, at once if the setting changes, and after an hour if it fails', async () => {
    const hours = 3_600_000
    const feed = `${server.base}/feed.json`
    const asked = () => server.asked.length
    server.files.set('/feed.json', feedOf(['forms']))
    await read(feed)
    const before = asked()
    expect(await read(feed, 11 * hours)).toEqual(done)
    expect([asked(), await stored()]).toEqual([before, ['forms']])
    await read(feed, hours)
    await read(`${feed}?other`)
    expect(asked()).toBe(before + 2)
    server.files.set('/feed.json', 500)
    expect(await read(feed)).toMatchObject({ state: 'failed' })
    expect(await read(feed, hours / 2)).toEqual(done)
    expect(asked()).toBe(before + 3)
    expect(await read(feed, hours)).toMatchObject({ state: 'failed' })
    expect([asked(), await stored()]).toEqual([before + 4, ['forms']])
  })

  test('may have more than one statement takes, and others of no use', async () => {
    const slugs = Array.from({ length: 450 }, (_, index) => `plugin-${index}`)
    server.files.set('/feed.json', JSON.stringify({ ...JSON.parse(feedOf(slugs)), odd: { id: 'odd' }, none: null }))
    expect(await read(`${server.base}/feed.json`)).toEqual(done)
    expect(await stored()).toHaveLength(450)
  })

  test.each([
    ['is cut off', feedOf(['forms']).slice(0, -1), 'its end is missing'],
    ['is a page of an error', '<html>', 'it is not one JSON object'],
    ['is missing', 404, '404'],
    ['is empty', '{}', 'The feed has no vulnerability in the documented form'],
  ])('one that %s fails, and what was known stays', async (_what, answer, reason) => {
    server.files.set('/feed.json', feedOf(['gallery']))
    await read(`${server.base}/feed.json`)
    server.files.set('/feed.json', answer)
    const result = await read(`${server.base}/feed.json`, 50_000_000)
    expect(result).toEqual({ state: 'failed', error: expect.stringContaining(reason) })
    expect(await stored()).toContain('gallery')
  })
})
