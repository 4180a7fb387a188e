import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { hostJobs } from '../../../jobs.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { putRoute } from '../../sites/addresses/route.store.ts'
import { changeSite, findSite } from '../../sites/site.store.ts'

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
  worker = startWorker(api.database, hostJobs, {
    ...{ runner: 'host', hostId: host.hostId, services: host.services, lookEveryMs: 20 },
  })
})
afterEach(async () => {
  await worker.stop(5000)
  await host.close()
})

interface MadeSite {
  readonly id: number
  readonly directory: string
}

const THEME = 'web/wp-content/themes/style.css'
const UPLOAD = 'web/wp-content/uploads/a.png'

/** Creates a live site whose every part contains `says`. */
async function newSite(says: string): Promise<MadeSite> {
  const name = `synced-${++number}`
  const id = await api.site(owner, name)
  const directory = await host.giveDirectory(id)
  await api.database.transaction(async (tx) => {
    await putRoute(tx, id, `${name}.test`, 1)
    await changeSite(tx, id, { writtenAddress: `${name}.test`, coreVersion: '6.8' }, 1)
  })
  for (const folder of ['themes', 'uploads'])
    await mkdir(join(directory, 'web/wp-content', folder), { recursive: true })
  for (const path of [THEME, UPLOAD, 'web/page.txt']) await writeFile(join(directory, path), says)
  host.setTitle(directory, says)
  return { id, directory }
}

const read = (directory: string, path: string) => readFile(join(directory, path), 'utf8').catch(() => 'nothing')
const says = async ({ directory }: MadeSite) => [
  ...(await Promise.all([THEME, UPLOAD, 'web/page.txt'].map((path) => read(directory, path)))),
  host.title(directory),
]
const environment = async ({ id }: MadeSite) => (await findSite(api.database.read, id))?.environmentType
const succeeded = async (id: number) =>
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })

async function sync(from: MadeSite, to: MadeSite, body: object): Promise<number> {
  const answer = await owner.call('POST', '/v1/sites/sync', { from_site_id: from.id, to_site_id: to.id, ...body })
  expect(answer.status).toBe(200)
  const id = Number(answer.headers['operation-id'])
  await succeeded(id)
  return id
}

async function undo(id: number): Promise<number> {
  const { status, body } = await owner.call('POST', `/v1/operations/${id}/undo`)
  expect([status, body.data?.type]).toEqual([200, 'site.restore'])
  await succeeded(body.data.id)
  return body.data.id
}

test('renames what plugins derived from the source’s database to the destination, and back on undo', async () => {
  const [from, to] = [await newSite('source'), await newSite('before')]
  const css = 'web/wp-content/uploads/made.css'
  const naming = (at: number) => `a { background: url(//synced-${number - at}.test/a.png) }`
  await writeFile(join(from.directory, css), naming(1))
  await writeFile(join(to.directory, css), `${naming(0)} /* own */`)
  const id = await sync(from, to, { uploads_directory: true })
  expect(await read(to.directory, css)).toBe(naming(0))
  await undo(id)
  expect(await read(to.directory, css)).toBe(`${naming(0)} /* own */`)
})

describe('the undo of a sync', () => {
  test('restores only the synced parts of the destination, and can be undone in turn', async () => {
    const [from, to] = [await newSite('source'), await newSite('before')]
    const id = await sync(from, to, {
      ...{ themes_directory: true, root_directory: true, database: true, wp_environment_type: 'local' },
    })
    expect(await says(to)).toEqual(['source', 'before', 'source', 'source'])
    await writeFile(join(to.directory, UPLOAD), 'since')
    await writeFile(join(to.directory, 'web/new.txt'), 'since')
    const undone = await undo(id)
    expect(await says(to)).toEqual(['before', 'since', 'before', 'before'])
    expect(await read(to.directory, 'web/new.txt')).toBe('nothing')
    expect(await environment(to)).toBe('production')
    expect(await says(from)).toEqual(['source', 'source', 'source', 'source'])
    const twice = await owner.call('POST', `/v1/operations/${id}/undo`)
    expect([twice.status, twice.body.errors[0]]).toEqual([400, expect.stringContaining(`operation ${undone}`)])
    await undo(undone)
    expect(await says(to)).toEqual(['source', 'since', 'source', 'source'])
    expect(await environment(to)).toBe('local')
  })

  test('removes a folder that did not exist before, and keeps an environment type that was set since', async () => {
    const [from, to] = [await newSite('source'), await newSite('before')]
    await rm(join(to.directory, 'web/wp-content/themes'), { recursive: true })
    const id = await sync(from, to, { themes_directory: true, wp_environment_type: 'local' })
    await api.database.transaction((tx) => changeSite(tx, to.id, { environmentType: 'development' }, 1))
    await undo(id)
    expect(await says(to)).toEqual(['nothing', 'before', 'before', 'before'])
    expect(await environment(to)).toBe('development')
  })

  test('400 when the undo point is gone, because the automatic backup of the sync is not one', async () => {
    const [from, to] = [await newSite('source'), await newSite('before')]
    const id = await sync(from, to, { database: true })
    await api.database.transaction((tx) =>
      tx
        .updateTable('backups')
        .set({ delete_at: 1 })
        .where('site_id', '=', to.id)
        .where('origin', '=', 'undo')
        .execute(),
    )
    const { status, body } = await owner.call('POST', `/v1/operations/${id}/undo`)
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('7 days')])
  })
})
