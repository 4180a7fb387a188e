import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
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
