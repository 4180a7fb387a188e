import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { BackupDamaged } from '../../../backups/backup-store.ts'
import { loadRoute } from '../../../edge/routing/routes.store.ts'
import { jobs } from '../../../jobs.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import { ended, gate, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { putRoute } from '../../sites/addresses/route.store.ts'
import { changeSite } from '../../sites/site.store.ts'
import { type BackupKind, siteOwner } from '../backup.ts'
import { backupIn, nameIn } from '../backups.fixture.ts'
import { takeBackup } from '../take/take-backup.ts'
import { previewRestore } from './preview-restore.job.ts'
import { restoreSite } from './restore-site.job.ts'

let api: TestApi
let owner: Person
let host: FakeHost
let worker: Worker
let number = 0
beforeAll(async () => {
  api = await testApi('sqlite')
  owner = await api.person('owner@example.com')
})
afterAll(() => api.close())
beforeEach(async () => {
  host = await fakeHost(api)
})
afterEach(async () => {
  await worker?.stop(5000)
  await host.close()
})

/** Creates a live site with a site directory. `page.txt` and the title contain `says`. */
async function newSite(says: string): Promise<{ id: number; directory: string; name: string }> {
  const name = `restored-${++number}`
  const id = await api.site(owner, name)
  const directory = await host.giveDirectory(id)
  await api.database.transaction(async (tx) => {
    await putRoute(tx, id, `${name}.test`, 1)
    await changeSite(tx, id, { writtenAddress: `${name}.test`, coreVersion: '6.8' }, 1)
  })
  await say(directory, says)
  return { id, directory, name }
}

async function say(directory: string, text: string): Promise<void> {
  await writeFile(join(directory, 'web/page.txt'), text)
  host.setTitle(directory, text)
}
const says = async (directory: string) => [
  await readFile(join(directory, 'web/page.txt'), 'utf8'),
  host.title(directory),
]

async function backUp(siteId: number, kind: BackupKind): Promise<number> {
  const backupId = await backupIn(api, siteId, { kind })
  await takeBackup(host.services, {
    siteId,
    name: await nameIn(api, backupId),
    kind,
    signal: new AbortController().signal,
  })
  return backupId
}

const work = (services: Partial<HostServices> = {}) => {
  const given = { ...host.services, ...services }
  worker = startWorker(api.database, [restoreSite, previewRestore], {
    ...{ runner: 'host', hostId: host.hostId, services: given, lookEveryMs: 20 },
  })
}
const order = async (siteId: number, body: object) => {
  const { status, headers, body: answer } = await owner.call('POST', `/v1/sites/${siteId}/restores`, body)
  expect([status, answer.data]).toEqual([200, null])
  return Number(headers['operation-id'])
}
/** Returns an object with some of its methods replaced. */
const but = <Thing extends object>(real: Thing, others: object): Thing =>
  new Proxy(real, {
    get(target, name) {
      const found = Reflect.get(others, name) ?? Reflect.get(target, name)
      return typeof found === 'function' && !(name in others) ? found.bind(target) : found
    },
  })
/** Starts a worker for sites whose front page gives this response. */
const answering = (
  { status, headers = [] }: { status: number; headers?: readonly string[] },
  asked: () => unknown = () => {},
) => {
  const handle = async () => {
    await asked()
    return { status, headers, body: Readable.from([]) }
  }
  work({ pool: { ...host.services.pool, handle } as unknown as HostServices['pool'] })
}
const isOpen = async ({ id, name }: { id: number; name: string }) => {
  const route = await loadRoute(api.database.read, `${name}.test`)
  return route?.isClosed === false && !host.held.has(id)
}
/** Returns the log message of the last restore that was requested for a site. */
const ordered = async (siteId: number) => {
  const entries = api.database.read.selectFrom('activity').select('message').where('site_id', '=', siteId)
  return (await entries.where('action', '=', 'site.restore_ordered').orderBy('id', 'desc').execute())[0]?.message
}
const mails = async () => {
  const rows = api.database.read.selectFrom('operations').select('input').where('type', '=', 'mail.send')
  return (await rows.orderBy('id').execute()).map(({ input }) => JSON.parse(input) as { to: string; subject: string })
}

test('onto another site: the target gets the content with its own address, and keeps its own secrets', async () => {
  const [source, target] = [await newSite('the source'), await newSite('the target')]
  await mkdir(join(source.directory, 'web/wp-content/uploads'), { recursive: true })
  await writeFile(join(source.directory, 'web/wp-content/uploads/made.css'), `@import "//${source.name}.test/a.css"`)
  const [filesystem_id, database_id] = [await backUp(source.id, 'fs'), await backUp(source.id, 'db')]
  await writeFile(
    join(target.directory, 'web/wp-config.php'),
    "<?php\ndefine('AUTH_KEY', 'mine');\nrequire 'wp-settings.php';\n",
  )
  const id = await order(source.id, { filesystem_id, database_id, restore_on_site_id: target.id })
  work()
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', siteId: target.id })
  expect(await says(target.directory)).toEqual(['the source', 'the source'])
  expect(await says(source.directory)).toEqual(['the source', 'the source'])
  const made = await readFile(join(target.directory, 'web/wp-content/uploads/made.css'), 'utf8')
  expect(made).toBe(`@import "//${target.name}.test/a.css"`)
  const config = await readFile(join(target.directory, 'web/wp-config.php'), 'utf8')
  expect(config).toContain("'AUTH_KEY', 'mine'")
  expect(config).toContain("define('DB_FILE', 'site.sqlite');")
  expect(await isOpen(target)).toBe(true)
  expect((await mails()).at(-1)).toMatchObject({ to: 'owner@example.com', subject: `${target.name} was restored` })
  // Names the site that the backups belong to, if it is another one.
  expect(await ordered(target.id)).toMatch(new RegExp(`^Requested a restore of .* of ${source.name}$`))
  await order(source.id, { filesystem_id })
  expect(await ordered(source.id)).toMatch(/^Requested a restore of the files of [\d-]+ [\d:]+ UTC$/)
})

test('400, 404: for parts of nothing, and for a site that the caller cannot see', async () => {
  const site = await newSite('seen')
  const filesystem_id = await backUp(site.id, 'fs')
  const ask = (body: object) => owner.call('POST', `/v1/sites/${site.id}/restores`, body)
  expect((await ask({ filesystem_id, tables: ['wp_posts'] })).body.message).toContain('database_id')
  expect((await ask({ database_id: filesystem_id, paths: ['wp-content'] })).body.message).toContain('filesystem_id')
  const stranger = await api.person('stranger@example.com')
  const theirs = await api.site(stranger, `theirs-${number}`)
  expect((await ask({ filesystem_id, restore_on_site_id: theirs })).status).toBe(404)
  expect(await ordered(site.id)).toBeUndefined()
})

test('400: onto a site of another host with its own backup folder', async () => {
  const [source, target] = [await newSite('the source'), await newSite('the target')]
  const values = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
  await api.database.transaction(async (tx) => {
    const far = await tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow()
    await tx.updateTable('sites').set({ host_id: far.id }).where('id', '=', target.id).execute()
  })
  const body = { filesystem_id: await backUp(source.id, 'fs'), restore_on_site_id: target.id }
  const { status, body: answer } = await owner.call('POST', `/v1/sites/${source.id}/restores`, body)
  expect([status, answer.errors]).toEqual([400, [expect.stringContaining('do not share a backup storage')]])
})

test('includes uploads during the preparation in its undo point', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs'), database_id: await backUp(site.id, 'db') }
  // The backup lacks this folder, so all its content is removed.
  await mkdir(join(site.directory, 'web/new'))
  await writeFile(join(site.directory, 'web/new/early.txt'), 'early')
  const { siteDatabase } = host.services
  const load: typeof siteDatabase.load = async (...given) => {
    // But not while it is rolled back.
    if (existsSync(join(site.directory, 'web/new'))) {
      await writeFile(join(site.directory, 'web/new/late.txt'), 'late')
      await writeFile(join(site.directory, 'web/page.txt'), 'late')
    }
    return siteDatabase.load(...given)
  }
  const first = await order(site.id, body)
  work({ siteDatabase: but(siteDatabase, { load }) })
  expect(await ended(api.database, first)).toMatchObject({ state: 'succeeded' })
  expect([await says(site.directory), existsSync(join(site.directory, 'web/new'))]).toEqual([['old', 'old'], false])
  const undone = await owner.call('POST', `/v1/operations/${first}/undo`)
  expect(await ended(api.database, undone.body.data.id)).toMatchObject({ state: 'succeeded', error: null })
  expect(await readFile(join(site.directory, 'web/new/early.txt'), 'utf8')).toBe('early')
  expect(await readFile(join(site.directory, 'web/new/late.txt'), 'utf8')).toBe('late')
  const kept = await api.backups.repository(siteOwner(site.id)).list()
  expect(kept.filter(({ name }) => name.startsWith('ahead'))).toEqual([])
})

test('undo restores the earlier content and can be undone in turn, but not twice', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs'), database_id: await backUp(site.id, 'db') }
  await say(site.directory, 'new')
  const first = await order(site.id, body)
  work()
  expect(await ended(api.database, first)).toMatchObject({ state: 'succeeded' })
  expect(await says(site.directory)).toEqual(['old', 'old'])
  const undone = await owner.call('POST', `/v1/operations/${first}/undo`)
  expect([undone.status, undone.body.data.type]).toEqual([200, 'site.restore'])
  expect(await ended(api.database, undone.body.data.id)).toMatchObject({ state: 'succeeded' })
  expect(await says(site.directory)).toEqual(['new', 'new'])
  const twice = await owner.call('POST', `/v1/operations/${first}/undo`)
  expect([twice.status, twice.body.errors[0]]).toEqual([
    400,
    expect.stringContaining(`operation ${undone.body.data.id}`),
  ])
  const redone = await owner.call('POST', `/v1/operations/${undone.body.data.id}/undo`)
  expect(await ended(api.database, redone.body.data.id)).toMatchObject({ state: 'succeeded' })
  expect(await says(site.directory)).toEqual(['old', 'old'])
})

test('a restore over damaged packs can be undone, because its undo point has what they held of the site', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs'), database_id: await backUp(site.id, 'db') }
  const packs = async () => (await api.backupStorage.list(`${siteOwner(site.id)}/packs/`)).map(({ name }) => name)
  const before = await packs()
  await say(site.directory, 'new')
  await backUp(site.id, 'fs')
  await backUp(site.id, 'db')
  for (const name of (await packs()).filter((each) => !before.includes(each))) {
    const bytes = (await api.backupStorage.get(name)) as Buffer
    await api.backupStorage.put(name, bytes.fill(0, 0, 64))
  }
  const first = await order(site.id, body)
  work()
  expect(await ended(api.database, first)).toMatchObject({ state: 'succeeded' })
  expect(await says(site.directory)).toEqual(['old', 'old'])
  const undone = await owner.call('POST', `/v1/operations/${first}/undo`)
  expect(await ended(api.database, undone.body.data.id)).toMatchObject({ state: 'succeeded', error: null })
  expect(await says(site.directory)).toEqual(['new', 'new'])
})

test('with parts, leaves the others alone, and a path that is not in the backup changes nothing', async () => {
  const site = await newSite('old')
  await writeFile(join(site.directory, 'web/other.txt'), 'old')
  const filesystem_id = await backUp(site.id, 'fs')
  await say(site.directory, 'new')
  await writeFile(join(site.directory, 'web/other.txt'), 'new')
  work()
  const slip = await order(site.id, { filesystem_id, paths: ['page.txt', 'pgae.txt'] })
  expect(await ended(api.database, slip)).toMatchObject({ state: 'failed', error: expect.stringContaining('pgae.txt') })
  expect(await says(site.directory)).toEqual(['new', 'new'])
  const part = await order(site.id, { filesystem_id, paths: ['page.txt'] })
  expect(await ended(api.database, part)).toMatchObject({ state: 'succeeded' })
  expect(await says(site.directory)).toEqual(['old', 'new'])
  expect(await readFile(join(site.directory, 'web/other.txt'), 'utf8')).toBe('new')
  // Its undo does not touch what it did not touch.
  await writeFile(join(site.directory, 'web/other.txt'), 'newest')
  const undo = await owner.call('POST', `/v1/operations/${part}/undo`)
  expect(await ended(api.database, undo.body.data.id)).toMatchObject({ state: 'succeeded' })
  expect([...(await says(site.directory)), await readFile(join(site.directory, 'web/other.txt'), 'utf8')]).toEqual([
    ...['new', 'new'],
    'newest',
  ])
})

test.each([
  ['one of another address is brought to that of the site', 'https://elsewhere.example/blog', 'elsewhere.example'],
  ['one of the same address, by whatever scheme, is left as it is', undefined, undefined],
])('of the database: %s', async (_what, directory, from) => {
  const site = await newSite('old')
  const body = { database_id: await backUp(site.id, 'db') }
  const { pool } = host.services
  const moved: unknown[] = []
  const runTask = async (...[asked, task, input, options]: Parameters<typeof pool.runTask>) => {
    if (task === 'replace-address') moved.push(input)
    const answer = await pool.runTask(asked, task, input, options)
    const url = directory ?? `https://${site.name}.test`
    return task === 'site-title' ? { ...(answer as object), home: url } : answer
  }
  work({ pool: { ...pool, runTask } as unknown as HostServices['pool'] })
  expect(await ended(api.database, await order(site.id, body))).toMatchObject({ state: 'succeeded' })
  expect(moved).toEqual(from ? [{ from, to: `${site.name}.test` }] : [])
})

test('a site that does not serve the restored content is rolled back and reopened, and its owner is told', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs'), database_id: await backUp(site.id, 'db') }
  await say(site.directory, 'new')
  const seen: unknown[] = []
  answering({ status: 500 }, async () => seen.push([...(await says(site.directory)), await isOpen(site)]))
  const id = await order(site.id, body)
  const reason = 'WordPress does not respond with the restored content: its homepage responds with status 500'
  expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error: reason })
  expect(seen).toEqual([['old', 'old', false]])
  expect(await says(site.directory)).toEqual(['new', 'new'])
  expect(await isOpen(site)).toBe(true)
  expect((await mails()).at(-1)?.subject).toBe(`${site.name} could not be restored`)
  const undo = await owner.call('POST', `/v1/operations/${id}/undo`)
  expect([undo.status, undo.body.errors[0]]).toEqual([400, expect.stringContaining('failed')])
})

test('a front page may redirect anywhere but to the installer', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs') }
  for (const [location, state] of [
    ['/en/', 'succeeded'],
    [`https://${site.name}.localhost/`, 'succeeded'],
    ['/wp-admin/install.php', 'failed'],
  ] as const) {
    answering({ status: 302, headers: ['Location', location] })
    expect(await ended(api.database, await order(site.id, body))).toMatchObject({ state })
    await worker?.stop(5000)
  }
})

test('onto another site, fails if the front page redirects to the source', async () => {
  const [source, target] = [await newSite('the source'), await newSite('the target')]
  const body = { filesystem_id: await backUp(source.id, 'fs'), restore_on_site_id: target.id }
  answering({ status: 302, headers: ['Location', `http://${source.name}.test/`] })
  expect(await ended(api.database, await order(source.id, body))).toMatchObject({
    state: 'failed',
    error: `WordPress does not respond with the restored content: its homepage redirects to ${source.name}.test`,
  })
  expect(await says(target.directory)).toEqual(['the target', 'the target'])
})

test('names what the storage has lost, and leaves the site unchanged', async () => {
  const site = await newSite('old')
  const filesystem_id = await backUp(site.id, 'fs')
  await say(site.directory, 'new')
  const readFile = async function* () {
    yield Buffer.from('o')
    throw new BackupDamaged('page.txt: the chunk c0ffee is lost')
  }
  const repository = (name: string) => but(host.services.backups.repository(name), { readFile })
  work({ backups: but(host.services.backups, { repository }) })
  const id = await order(site.id, { filesystem_id })
  expect(await ended(api.database, id)).toMatchObject({
    state: 'failed',
    error: 'page.txt: the chunk c0ffee is lost',
    isPermanent: true,
  })
  expect(await says(site.directory)).toEqual(['new', 'new'])
  expect(await isOpen(site)).toBe(true)
})

test('canceled while it is prepared, or while the site is closed, leaves the site unchanged and open', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs'), database_id: await backUp(site.id, 'db') }
  await say(site.directory, 'new')
  for (const at of ['load', 'switch'] as const) {
    const [reached, goesOn] = [gate(), gate()]
    const real = host.services.siteDatabase
    const held = async (...given: Parameters<typeof real.load>) => {
      const result = await (real[at] as typeof real.load)(...given)
      reached.open()
      await goesOn.opened
      return result
    }
    work({ siteDatabase: but(real, { [at]: held }) })
    const id = await order(site.id, body)
    await reached.opened
    expect(await isOpen(site)).toBe(at === 'load')
    await api.database.transaction((tx) => requestCancel(tx, id, Date.now(), jobs))
    goesOn.open()
    expect(await ended(api.database, id)).toMatchObject({ state: 'canceled' })
    expect(await says(site.directory)).toEqual(['new', 'new'])
    expect(await isOpen(site)).toBe(true)
    await worker.stop(5000)
  }
})

test('cannot be canceled when only the cleanup is left, and keeps the restored content', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs'), database_id: await backUp(site.id, 'db') }
  await say(site.directory, 'new')
  const [reached, goesOn] = [gate(), gate()]
  const real = host.services.siteFiles
  const cleanUp = async () => {
    reached.open()
    await goesOn.opened
  }
  work({ siteFiles: but(real, { cleanUp }) })
  const id = await order(site.id, body)
  await reached.opened
  // The host stops too, so another worker cleans up.
  const stopped = worker.stop(0)
  expect(await api.database.transaction((tx) => requestCancel(tx, id, Date.now(), jobs))).toBe('too_late')
  await stopped
  work()
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
  goesOn.open()
  expect(await says(site.directory)).toEqual(['old', 'old'])
  expect(await isOpen(site)).toBe(true)
})

test('of another release, keeps the site’s core files at the top of the web root', async () => {
  const site = await newSite('old')
  const index = join(site.directory, 'web/index.php')
  const body = { filesystem_id: await backUp(site.id, 'fs') }
  await writeFile(index, 'of the release that the site runs')
  const restoreOf = async (core_version: string) => {
    await api.database.transaction((tx) =>
      tx.updateTable('backups').set({ core_version }).where('id', '=', body.filesystem_id).execute(),
    )
    expect(await ended(api.database, await order(site.id, body))).toMatchObject({ state: 'succeeded' })
  }
  work()
  await restoreOf('6.7')
  expect(await readFile(index, 'utf8')).toBe('of the release that the site runs')
  await restoreOf('6.8')
  expect(existsSync(index)).toBe(false)
})

test('two restores that are requested at once run one after the other', async () => {
  const site = await newSite('first')
  const first = await backUp(site.id, 'fs')
  await say(site.directory, 'second')
  const second = await backUp(site.id, 'fs')
  const ids = await Promise.all([first, second].map((filesystem_id) => order(site.id, { filesystem_id })))
  work()
  const [one, other] = await Promise.all(ids.map((id) => ended(api.database, id)))
  expect([one?.state, other?.state]).toEqual(['succeeded', 'succeeded'])
  expect(Math.max(one?.startedAt as number, other?.startedAt as number)).toBeGreaterThanOrEqual(
    Math.min(one?.finishedAt as number, other?.finishedAt as number),
  )
  const last = Math.max(...ids)
  expect((await says(site.directory))[0]).toBe(last === ids[0] ? 'first' : 'second')
})

test('a preview changes nothing, and reports what would be lost', async () => {
  const site = await newSite('old')
  const body = { filesystem_id: await backUp(site.id, 'fs'), database_id: await backUp(site.id, 'db'), dry_run: true }
  await say(site.directory, 'new')
  await writeFile(join(site.directory, 'web/made-since.txt'), 'x')
  const id = await order(site.id, body)
  expect((await owner.call('GET', `/v1/sites/${site.id}/restores/${id}`)).status).toBe(404)
  work()
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
  const { data } = (await owner.call('GET', `/v1/sites/${site.id}/restores/${id}`)).body
  expect(data.files).toMatchObject({
    written: { count: 1, first: ['page.txt'] },
    removed: { count: 1, first: ['made-since.txt'] },
  })
  expect(data.database.counts).toEqual([{ table: 'wp_posts', kind: 'post', new: 2, changed: 1 }])
  expect(await says(site.directory)).toEqual(['new', 'new'])
  expect(
    (await api.database.read.selectFrom('backups').select('id').where('site_id', '=', site.id).execute()).length,
  ).toBe(2)
  const other = await newSite('other')
  expect((await owner.call('GET', `/v1/sites/${other.id}/restores/${id}`)).status).toBe(404)
  // A preview of one part reports nothing about the other.
  const reportOf = async (asked: object) => {
    const look = await order(site.id, { ...asked, dry_run: true })
    expect(await ended(api.database, look)).toMatchObject({ state: 'succeeded' })
    return (await owner.call('GET', `/v1/sites/${site.id}/restores/${look}`)).body.data
  }
  expect(await reportOf({ database_id: body.database_id })).toMatchObject({
    files: null,
    database: { counts: [{ new: 2 }] },
  })
  expect(await reportOf({ filesystem_id: body.filesystem_id })).toMatchObject({
    files: { removed: { count: 1 } },
    database: null,
  })
})
