import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { open, readdir, stat } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fastify from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { type TestBackups, testBackups } from '../../../backups/backup-store.fixture.ts'
import { controlBudgets } from '../../../budgets.ts'
import { readConfig } from '../../../config.ts'
import { openBudgets } from '../../../platform/budgets/budget.ts'
import { noLog } from '../../../platform/log/log.ts'
import { findCompleted, forgetBackup } from '../backup.store.ts'
import { siteOwner } from '../backup.ts'
import { backupIn, DUMP, nameIn, storedIn, storeTree } from '../backups.fixture.ts'
import { Downloads } from './downloads.ts'

/** Compresses to two blocks. Random noise would take a second for each block. */
const PHOTO = Buffer.from(Array.from({ length: 50_000 }, (_, line) => `${line ** 2}`.padStart(15, ' ')).join('\n'))

describe.each(dialects.filter(({ skip }) => !skip))('downloads on $dialect', ({ dialect }) => {
  const lines: string[] = []
  let stored: TestBackups
  let api: TestApi
  let budgets: ReturnType<typeof openControlBudgets>
  let port: number
  let owner: Person
  let siteId: number
  let count = 0

  beforeAll(async () => {
    stored = await testBackups()
    budgets = openControlBudgets()
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    api = await testApi(dialect, { budgets, backups: stored.backups, log })
    port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
  })
  afterAll(async () => {
    await api.close()
    await stored.close()
  })
  beforeEach(async () => {
    lines.length = 0
    owner = await api.person(`owner-${++count}@example.com`)
    siteId = await api.site(owner, `site-${count}`)
  })

  const photosIn = async (content = PHOTO): Promise<number> => {
    const id = await backupIn(api, siteId, { kind: 'fs' })
    await storeTree(api, siteId, id, content)
    return id
  }
  const headersFor = (more: Record<string, string> = {}) => ({ authorization: `Bearer ${owner.token}`, ...more })
  const ask = (id: number, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`http://127.0.0.1:${port}/v1/sites/${siteId}/backups/${id}`, { method, headers: headersFor(headers) })
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())
  /** Starts a download without reading the body. */
  const begin = async (id: number): Promise<IncomingMessage> => {
    const path = `/v1/sites/${siteId}/backups/${id}`
    const call = get({ host: '127.0.0.1', port, path, headers: headersFor() })
    call.on('error', () => {})
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    response.on('error', () => {})
    return response
  }
  const entries = () =>
    api.database.read
      .selectFrom('activity')
      .select(['message', 'action'])
      .where('site_id', '=', siteId)
      .where('action', '=', 'backup.downloaded')
      .execute()
  const allFree = () => expect.poll(() => budgets.downloads.used).toBe(0)

  describe('of a database', () => {
    it('has a length, a name that says what it is, and a validator', async () => {
      const id = await storedIn(api, siteId)
      const response = await ask(id)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/sql',
        'content-length': String(DUMP.length),
        'accept-ranges': 'bytes',
        etag: expect.stringMatching(/^"[\w-]+"$/),
        'content-disposition': expect.stringMatching(
          new RegExp(`^attachment; filename="site-${count}-database-[0-9]{4}-[0-9-]{5}T[0-9-]{8}Z\\.sql"$`),
        ),
      })
      expect(await response.text()).toBe(DUMP)
      const again = await ask(id, { 'if-none-match': response.headers.get('etag')! })
      expect([again.status, await again.text()]).toEqual([304, ''])
    })

    it.each([
      ['bytes=0-3', 206, 'bytes 0-3/', 0, 4],
      ['bytes=100-', 206, 'bytes 100-', 100, undefined],
      ['bytes=-5', 206, 'bytes ', -5, undefined],
      ['bytes=0-99999', 206, 'bytes 0-', 0, undefined],
      ['bytes=0-1,5-6', 200, '', 0, undefined],
      ['bytes=9-3', 200, '', 0, undefined],
      ['lines=1-2', 200, '', 0, undefined],
    ] as const)('answers status %s with %i', async (range, status, contentRange, from, to) => {
      const response = await ask(await storedIn(api, siteId), { range })
      expect(response.status).toBe(status)
      expect(response.headers.get('content-range') ?? '').toContain(contentRange)
      expect(await response.text()).toBe(DUMP.slice(from, to))
    })

    it('is sent whole to a client that has part of another one', async () => {
      const id = await storedIn(api, siteId)
      const { etag } = Object.fromEntries((await ask(id, {}, 'HEAD')).headers)
      expect((await ask(id, { range: 'bytes=5-', 'if-range': '"another"' })).status).toBe(200)
      expect((await ask(id, { range: 'bytes=5-', 'if-range': etag! })).status).toBe(206)
    })

    it('reports the total size to a client that requests more', async () => {
      const response = await ask(await storedIn(api, siteId), { range: `bytes=${DUMP.length}-` })
      expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${DUMP.length}`])
      expect(response.headers.get('content-disposition')).toBeNull()
    })
  })

  describe('of files', () => {
    it('have a length once they were created, and from then on serve ranges without creating what comes before', async () => {
      const id = await photosIn()
      const head = await ask(id, {}, 'HEAD')
      expect([head.status, head.headers.get('content-length')]).toEqual([200, null])
      const first = await ask(id)
      expect(first.headers.get('content-length')).toBeNull()
      const whole = await bytesOf(first)
      expect(whole.subarray(0, 4).toString()).toBe('BZh9')
      await allFree()
      expect((await ask(id, {}, 'HEAD')).headers.get('content-length')).toBe(String(whole.length))
      const last = await ask(id, { range: `bytes=${whole.length - 1000}-` })
      expect(last.headers.get('content-range')).toBe(`bytes ${whole.length - 1000}-${whole.length - 1}/${whole.length}`)
      expect((await bytesOf(last)).equals(whole.subarray(-1000))).toBe(true)
    })

    it('can be requested from the middle before they were ever created', async () => {
      const id = await photosIn()
      const part = await ask(id, { range: 'bytes=5000-5999' })
      expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 5000-5999/*'])
      const bytes = await bytesOf(part)
      const rest = await ask(id, { range: 'bytes=6000-' })
      const [, total] = rest.headers.get('content-range')!.split('/')
      const end = await bytesOf(rest)
      expect(Number(total)).toBe(6000 + end.length)
      const whole = await bytesOf(await ask(id, { range: 'bytes=0-' }))
      expect(whole.equals(Buffer.concat([whole.subarray(0, 5000), bytes, end]))).toBe(true)
      expect((await ask(id, { range: `bytes=${total}-` })).status).toBe(416)
    })

    it('are searched for no longer than the client waits', async () => {
      const id = await photosIn()
      const refused = await ask(id, { range: 'bytes=5000-', prefer: 'respond-async, wait=0' })
      expect(refused.status).toBe(503)
      expect([refused.headers.get('retry-after'), (await refused.json()).code]).toEqual(['1', 'archive_length_unknown'])
      await allFree()
    })

    it('continue where an earlier process stopped', async () => {
      const id = await photosIn()
      const whole = await bytesOf(await ask(id))
      await allFree()
      const row = await api.database.read
        .selectFrom('archive_lengths')
        .selectAll()
        .where('backup_id', '=', id)
        .executeTakeFirstOrThrow()
      expect([row.whole, row.blocks]).toEqual([1, 2])
      await api.database.transaction((tx) => forgetBackup(tx, id))
      const left = await api.database.read
        .selectFrom('archive_lengths')
        .select('blocks')
        .where('backup_id', '=', id)
        .execute()
      expect([left.length, whole.length > 3]).toEqual([0, true])
    })

    it('are refused, with the reason in the log, if only records of the backup remain', async () => {
      const response = await ask(await backupIn(api, siteId, { kind: 'fs' }))
      expect([response.status, (await response.json()).code]).toEqual([500, 'backup_damaged'])
      expect(lines.join()).toContain('The storage has no backup')
      await allFree()
    })
  })

  it('are logged once per download, not once per part', async () => {
    const id = await storedIn(api, siteId)
    await (await ask(id, {}, 'HEAD')).text()
    expect(await entries()).toEqual([])
    for (const range of ['bytes=0-9', 'bytes=10-19', 'bytes=20-']) await (await ask(id, { range })).text()
    expect(await entries()).toHaveLength(1)
    await (await ask(id)).text()
    await (await ask(id, { range: 'bytes=5-' })).text()
    expect(await entries()).toHaveLength(2)
    expect((await entries())[0]!.message).toMatch(
      new RegExp(`^Downloaded the backup of the database of site-${count} from .*Z$`),
    )
  })

  it('break off where a chunk is lost, log its name, and never look complete', async () => {
    const id = await backupIn(api, siteId)
    const content = randomBytes(8 << 20)
    const name = await nameIn(api, id)
    await stored.backups.repository(siteOwner(siteId)).writeStream(Readable.from([content]), { name })
    await api.database.transaction((tx) =>
      tx.updateTable('backups').set({ bytes: content.length }).where('id', '=', id).execute(),
    )
    const [pack, size] = await largestIn(join(stored.folder, siteOwner(siteId)))
    const file = await open(pack, 'r+')
    await file.write(Buffer.alloc(100), 0, 100, Math.floor(size / 2))
    await file.close()
    const response = await ask(id)
    expect(response.status).toBe(200)
    await expect(bytesOf(response)).rejects.toThrow()
    await expect.poll(() => lines.join()).toMatch(/chunk [\w-]{20,} in pack [0-9a-f]+ is not what was written/)
    await allFree()
  })

  it('are refused above an application’s limit of concurrent downloads, and end when their clients disconnect', async () => {
    const id = await photosIn(randomBytes(4 << 20))
    const { each } = budgets.downloads.terms
    const begun = await Promise.all(Array.from({ length: each }, () => begin(id)))
    expect(budgets.downloads.used).toBe(each)
    const refused = await ask(id)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
    expect((await refused.json()).code).toBe('too_many_downloads')
    expect((await ask(id, {}, 'HEAD')).status).toBe(200)
    for (const response of begun) response.destroy()
    await allFree()
    expect(lines.filter((line) => line.includes('broke off'))).toEqual([])
  })

  it('answer 404 for a backup of another site, and for an unknown one', async () => {
    const id = await storedIn(api, siteId)
    const other = await api.site(owner, `other-${count}`)
    expect((await owner.call('GET', `/v1/sites/${other}/backups/${id}`)).status).toBe(404)
    expect((await owner.call('GET', `/v1/sites/${siteId}/backups/999999`)).status).toBe(404)
    const scheduled = await backupIn(api, siteId, { origin: 'scheduled' })
    const { status } = await owner.call('GET', `/v1/sites/${siteId}/ondemand-backups/${scheduled}/download`)
    expect(status).toBe(404)
    expect((await owner.call('GET', `/v1/sites/${siteId}/ondemand-backups/${id}/download`)).status).toBe(200)
  })

  /** Starts a large download by this account, without reading it. */
  async function large(by: Person, options: { slowestMs?: number; askEveryMs?: number }) {
    const id = await backupIn(api, siteId)
    const content = randomBytes(16 << 20)
    const name = await nameIn(api, id)
    await stored.backups.repository(siteOwner(siteId)).writeStream(Readable.from([content]), { name })
    const record = (await findCompleted(api.database.read, siteId, id))!
    const { database, backups } = api
    const budget = openControlBudgets().downloads
    const downloads = new Downloads({ budget, database, backups, log: noLog, ...options })
    const server = fastify()
    server.get('/', (request, response) => {
      const site = { id: siteId, accountId: owner.accountId, name: 'slow' }
      const { id, headers } = request
      const facts = { id, headers, ipAddress: '::1', userAgent: '' }
      const caller = { applicationId: 1, accountId: by.accountId, accountEmail: by.email }
      const context = { response, request: facts, caller, site, now: 0 }
      return downloads.answer(context as never, { ...record, bytes: content.length })
    })
    await server.listen({ host: '127.0.0.1', port: 0 })
    const call = get({ host: '127.0.0.1', port: (server.server.address() as AddressInfo).port })
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    const close = () => Promise.all([server.close(), downloads.close()])
    return { response, budget, bytes: content.length, close }
  }

  it('a client that reads nothing is cut off', async () => {
    const { response, budget, close } = await large(owner, { slowestMs: 200 })
    const broken = once(response, 'error')
    await expect.poll(() => budget.used).toBe(0)
    response.resume()
    expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' })
    await close()
  })

  it.each([
    ['leaves the site', null],
    ['loses the role', ['restore_site']],
  ] as const)('a collaborator who %s does not get the rest of a download', async (_case, left) => {
    const friend = await api.person(`friend-${count}@example.com`)
    await api.collaborate(friend, siteId, ['download_backups'])
    const { response, budget, close } = await large(friend, { askEveryMs: 0 })
    if (left) await api.collaborate(friend, siteId, left)
    else
      await api.database.transaction((tx) =>
        tx.deleteFrom('collaborators').where('account_id', '=', friend.accountId).execute(),
      )
    response.resume()
    expect((await once(response, 'error'))[0]).toMatchObject({ code: 'ECONNRESET' })
    expect(budget.used).toBe(0)
    await close()
  })
})

const openControlBudgets = () => openBudgets(controlBudgets(readConfig({})))

async function largestIn(folder: string): Promise<readonly [string, number]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))
  const sizes = await Promise.all(files.map(async (file) => [file, (await stat(file)).size] as const))
  return sizes.sort(([, one], [, other]) => other - one)[0]!
}
