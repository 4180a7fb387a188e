import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { testBackups } from '../../../backups/backup-store.fixture.ts'
import type { BackupStore } from '../../../backups/backup-store.ts'
import { hostJobs } from '../../../jobs.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { putRoute } from '../../sites/addresses/route.store.ts'
import { changeSite } from '../../sites/site.store.ts'
import type { BackupKind } from '../backup.ts'
import { backupIn, nameIn } from '../backups.fixture.ts'
import { takeBackup } from '../take/take-backup.ts'

/* Two hosts that share a database and the backup storage, each with its own site directories. */

let api: TestApi
let owner: Person
let hosts: FakeHost[]
const workers: Worker[] = []
let number = 0
beforeAll(async () => {
  // A folder that both see, as the setting says.
  api = await testApi('sqlite', { settings: { STEAD_BACKUP_DIR: '/backups' } })
  owner = await api.person('owner@example.com')
  const values = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
  await api.database.transaction((tx) => tx.insertInto('hosts').values(values).execute())
})
afterAll(() => api.close())
beforeEach(async () => {
  const rows = await api.database.read.selectFrom('hosts').select('id').orderBy('id').execute()
  hosts = await Promise.all(rows.map(({ id }) => fakeHost(api, { asked: id })))
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop(5000)))
  await Promise.all(hosts.map((host) => host.close()))
})

const work = (host: FakeHost, backups?: BackupStore) => {
  const services = { ...host.services, ...(backups && { backups }) }
  workers.push(
    startWorker(api.database, hostJobs, {
      runner: 'host',
      hostId: host.hostId,
      services,
      lookEveryMs: 20,
    }),
  )
}

interface MadeSite {
  readonly id: number
  readonly directory: string
  readonly name: string
}

const THEME = 'web/wp-content/themes/style.css'
const MADE = 'web/wp-content/uploads/made.css'

async function newSite(host: FakeHost, says: string): Promise<MadeSite> {
  const name = `on-host-${++number}`
  const id = await api.site(owner, name)
  await api.database.transaction(async (tx) => {
    await tx.updateTable('sites').set({ host_id: host.hostId }).where('id', '=', id).execute()
    await putRoute(tx, id, `${name}.test`, 1)
    await changeSite(tx, id, { writtenAddress: `${name}.test`, coreVersion: '6.8' }, 1)
  })
  const directory = await host.giveDirectory(id)
  for (const folder of ['themes', 'uploads'])
    await mkdir(join(directory, 'web/wp-content', folder), { recursive: true })
  for (const path of [THEME, 'web/page.txt']) await writeFile(join(directory, path), says)
  await writeFile(join(directory, MADE), `@import "//${name}.test/${says}.css"`)
  const opened = new DatabaseSync(join(directory, 'private/database/site.sqlite'))
  opened.prepare("update wp_options set option_value = ? where option_name = 'blogname'").run(says)
  opened
    .prepare("update wp_options set option_value = ? where option_name in ('home', 'siteurl')")
    .run(`http://${name}.test`)
  opened.close()
  return { id, directory, name }
}

const says = async (host: FakeHost, { directory }: MadeSite) => [
  ...(await Promise.all([THEME, 'web/page.txt', MADE].map((path) => readFile(join(directory, path), 'utf8')))),
  host.title(directory),
  host.option(directory, 'siteurl'),
]

async function backedUp(host: FakeHost, siteId: number, kind: BackupKind): Promise<number> {
  const id = await backupIn(api, siteId, { kind })
  const name = await nameIn(api, id)
  await takeBackup(host.services, { siteId, name, kind, signal: new AbortController().signal })
  return id
}

async function sync(from: MadeSite, to: MadeSite): Promise<number> {
  const body = { themes_directory: true, uploads_directory: true, database: true }
  const answer = await owner.call('POST', '/v1/sites/sync', { from_site_id: from.id, to_site_id: to.id, ...body })
  expect([answer.status, answer.body.errors]).toEqual([200, null])
  return Number(answer.headers['operation-id'])
}

test('the destination gets what the backups of the source have, and undo restores its earlier content', async () => {
  const [near, far] = hosts as [FakeHost, FakeHost]
  const [from, to] = [await newSite(near, 'source'), await newSite(far, 'before')]
  for (const host of hosts) work(host)
  const id = await sync(from, to)
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
  const directory = `http://${to.name}.test`
  expect(await says(far, to)).toEqual([
    'source',
    'before',
    `@import "//${to.name}.test/source.css"`,
    'source',
    directory,
  ])
  expect((await says(near, from))[0]).toBe('source')
  const undone = await owner.call('POST', `/v1/operations/${id}/undo`)
  expect(await ended(api.database, undone.body.data.id)).toMatchObject({ state: 'succeeded', error: null })
  expect(await says(far, to)).toEqual([
    'before',
    'before',
    `@import "//${to.name}.test/before.css"`,
    'before',
    directory,
  ])
})

test('a backup can be restored onto a site of another host', async () => {
  const [near, far] = hosts as [FakeHost, FakeHost]
  const [from, to] = [await newSite(near, 'source'), await newSite(far, 'before')]
  for (const host of hosts) work(host)
  const backups = await Promise.all((['fs', 'db'] as const).map((kind) => backedUp(near, from.id, kind)))
  const [filesystem_id, database_id] = backups
  const body = { filesystem_id, database_id, restore_on_site_id: to.id }
  const answer = await owner.call('POST', `/v1/sites/${from.id}/restores`, body)
  expect([answer.status, answer.body.errors]).toEqual([200, null])
  const id = Number(answer.headers['operation-id'])
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
  const directory = `http://${to.name}.test`
  expect(await says(far, to)).toEqual([
    'source',
    'source',
    `@import "//${to.name}.test/source.css"`,
    'source',
    directory,
  ])
  const undone = await owner.call('POST', `/v1/operations/${id}/undo`)
  expect(await ended(api.database, undone.body.data.id)).toMatchObject({ state: 'succeeded', error: null })
  expect(await says(far, to)).toEqual([
    'before',
    'before',
    `@import "//${to.name}.test/before.css"`,
    'before',
    directory,
  ])
})

test('changes nothing and says why, if the hosts do not see the same folder', async () => {
  const [near, far] = hosts as [FakeHost, FakeHost]
  const [from, to] = [await newSite(near, 'source'), await newSite(far, 'before')]
  const { backups, close } = await testBackups()
  work(near)
  work(far, backups)
  const found = await ended(api.database, await sync(from, to))
  expect(found).toMatchObject({ state: 'failed', error: expect.stringContaining('the same backup storage') })
  const directory = `http://${to.name}.test`
  expect(await says(far, to)).toEqual([
    'before',
    'before',
    `@import "//${to.name}.test/before.css"`,
    'before',
    directory,
  ])
  await close()
})

describe('a push from a staging site on another host', () => {
  let [near, far]: FakeHost[] = []
  let live: MadeSite
  let staging: MadeSite
  let path: string
  beforeEach(async () => {
    ;[near, far] = hosts as [FakeHost, FakeHost]
    live = await newSite(far as FakeHost, 'live')
    staging = await newSite(near as FakeHost, 'staging')
    for (const host of hosts) work(host)
    const linked = await owner.call('POST', `/v1/sites/${live.id}/environments`, { site_id: staging.id })
    expect(linked.status).toBe(200)
    path = `/v1/sites/${live.id}/environments/${staging.id}`
  })

  async function push(body: object): Promise<number> {
    const answer = await owner.call('POST', `${path}/push`, body)
    expect([answer.status, answer.body.errors]).toEqual([200, null])
    const id = Number(answer.headers['operation-id'])
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
    return id
  }
  const expected = (overwritten: string) => {
    const of = (part: string) => (overwritten.split(' ').includes(part) ? 'staging' : 'live')
    const made = `@import "//${live.name}.test/${of('uploads')}.css"`
    return [of('themes'), 'live', made, of('database'), `http://${live.name}.test`]
  }

  test.each([
    ['code', {}, 'themes'],
    ['chosen', { folders: ['themes'], tables: ['wp_options'] }, 'themes database'],
  ])('with the preset %s and %j overwrites %s, and can be undone', async (preset, more, overwritten) => {
    const before = await says(far as FakeHost, live)
    const id = await push({ preset, ...more })
    expect(await says(far as FakeHost, live)).toEqual(expected(overwritten))
    expect((await says(near as FakeHost, staging)).slice(0, 2)).toEqual(['staging', 'staging'])
    const undone = await owner.call('POST', `/v1/operations/${id}/undo`)
    expect(await ended(api.database, undone.body.data.id)).toMatchObject({ state: 'succeeded', error: null })
    expect(await says(far as FakeHost, live)).toEqual(before)
  })

  test('with dry_run changes nothing, and counts files and rows of both sites', async () => {
    const before = await says(far as FakeHost, live)
    const opened = new DatabaseSync(join(staging.directory, 'private/database/site.sqlite'))
    opened.exec("insert into wp_options values ('new', 'one'); insert into wp_posts (guid) values ('1'), ('2')")
    opened.exec('create table wp_more (id integer); insert into wp_more values (1)')
    opened.close()
    const id = await push({ preset: 'everything', dry_run: true })
    expect(await says(far as FakeHost, live)).toEqual(before)
    const report = (await owner.call('GET', `${path}/previews/${id}`)).body.data
    expect(report).toMatchObject({ files: { changed: { count: 3 } } })
    // A fake host says what its own site has. The dump in the backup has the rest.
    for (const row of [
      { table: 'wp_more', rows: null, fromRows: 1 },
      { table: 'wp_options', rows: 5, fromRows: 6 },
      { table: 'wp_posts', rows: 3, fromRows: 2 },
    ])
      expect(report.database.tables).toContainEqual(row)
    const chosen = await push({ preset: 'chosen', tables: ['wp_posts'], dry_run: true })
    const { tables } = (await owner.call('GET', `${path}/previews/${chosen}`)).body.data.database
    expect(tables).toEqual([{ table: 'wp_posts', rows: 3, fromRows: 2 }])
  })
})
