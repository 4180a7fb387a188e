import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { around } from '../../../../test/contract/job-stand.ts'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { hostJobs } from '../../../jobs.ts'
import type { Definition } from '../../../platform/operations/definition.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { putRoute } from '../../sites/addresses/route.store.ts'
import { changeSite } from '../../sites/site.store.ts'

/* A collaborator requests a sync, and loses the required access while it runs. */

let api: TestApi
let owner: Person
let friend: Person
let host: FakeHost
let worker: Worker | undefined
let number = 0
beforeAll(async () => {
  api = await testApi('sqlite')
  owner = await api.person('owner@example.com')
  friend = await api.person('friend@example.com')
})
afterAll(() => api.close())
beforeEach(async () => {
  host = await fakeHost(api)
})
afterEach(async () => {
  await worker?.stop(5000)
  worker = undefined
  await host.close()
})

interface MadeSite {
  readonly id: number
  readonly directory: string
}

const THEME = 'web/wp-content/themes/style.css'

async function newSite(says: string): Promise<MadeSite> {
  const name = `sync-rights-${++number}`
  const id = await api.site(owner, name)
  const directory = await host.giveDirectory(id)
  await api.database.transaction(async (tx) => {
    await putRoute(tx, id, `${name}.test`, 1)
    await changeSite(tx, id, { writtenAddress: `${name}.test`, coreVersion: '6.8' }, 1)
  })
  await mkdir(join(directory, 'web/wp-content/themes'), { recursive: true })
  await writeFile(join(directory, THEME), says)
  host.setTitle(directory, says)
  return { id, directory }
}

const says = async ({ directory }: MadeSite) => [await readFile(join(directory, THEME), 'utf8'), host.title(directory)]
const closedBy = async ({ id }: MadeSite) =>
  (await api.database.read.selectFrom('sites').select('closed_by').where('id', '=', id).executeTakeFirstOrThrow())
    .closed_by

/**
 * Starts work on what was requested.
 * @param then called when this step of a sync has run
 */
function work(step: string, then: () => Promise<unknown>): void {
  const definitions = [...hostJobs].map((job) =>
    job.name === 'site.sync'
      ? around(job, step, async (run) => {
          const result = await run()
          await then()
          return result
        })
      : job,
  )
  worker = startWorker(api.database, definitions as Definition[], {
    ...{ runner: 'host', hostId: host.hostId, services: host.services as never, lookEveryMs: 20 },
  })
}

async function ordered(from: MadeSite, to: MadeSite): Promise<number> {
  await api.collaborate(friend, from.id, ['download_backups'])
  await api.collaborate(friend, to.id, ['restore_site'])
  const body = { from_site_id: from.id, to_site_id: to.id, themes_directory: true, database: true }
  const answer = await friend.call('POST', '/v1/sites/sync', body)
  expect([answer.status, answer.body.errors]).toEqual([200, null])
  return Number(answer.headers['operation-id'])
}

async function leave(site: MadeSite): Promise<void> {
  const { id } = await api.database.read
    .selectFrom('collaborators')
    .select('id')
    .where('site_id', '=', site.id)
    .where('account_id', '=', friend.accountId)
    .executeTakeFirstOrThrow()
  expect((await owner.call('DELETE', `/v1/sites/${site.id}/collaborators/${id}`)).status).toBe(200)
}

/** Returns what the site's log and webhooks report about the sync. */
async function told({ id }: MadeSite) {
  const log = api.database.read.selectFrom('activity').select(['action', 'message']).where('site_id', '=', id)
  const entries = await log.where('action', 'like', 'site.sync%').orderBy('id').execute()
  const events = await api.database.read.selectFrom('events').select('type').where('site_id', '=', id).execute()
  return {
    log: entries.map(({ action, message }) => `${action}: ${message}`),
    events: events.map(({ type }) => type).filter((type) => type.startsWith('site_sync')),
  }
}

describe('a sync whose collaborator leaves', () => {
  test.each([
    ['the source', 'check', 'download_backups'],
    ['the source', 'database', 'download_backups'],
    ['the destination', 'switch', 'restore_site'],
    ['the destination', 'answer', 'restore_site'],
  ] as const)('fails %s after %s, with the destination open and unchanged', async (which, step, role) => {
    const [from, to] = [await newSite('source'), await newSite('before')]
    const id = await ordered(from, to)
    const site = which === 'the source' ? from : to
    work(step, () => leave(site))
    const reason = `The account that started this operation no longer has the role ${role} on site ${site.id}. An account with access can retry the operation`
    expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error: `${reason}.` })
    expect(await says(to)).toEqual(['before', 'before'])
    expect(await says(from)).toEqual(['source', 'source'])
    expect([await closedBy(to), host.held.has(to.id)]).toEqual([null, false])
    const state = await host.services.siteDatabase.state({ siteId: to.id, siteDirectory: to.directory, uid: null })
    expect(state).toMatchObject({ hasPrevious: false, hasNext: false })
    expect((await told(to)).events).toEqual(['site_sync_failed'])
    expect(await told(from)).toEqual({
      log: [
        expect.stringContaining('site.sync_out_ordered'),
        `site.sync_out_failed: The sync to site ${to.id} failed: ${reason}`,
      ],
      events: ['site_sync_failed'],
    })
  })

  test('can be retried by the owner, and reports to both sites when it is done', async () => {
    const [from, to] = [await newSite('source'), await newSite('before')]
    const id = await ordered(from, to)
    let hasLeft = false
    work('check', async () => {
      if (!hasLeft) await leave(from)
      hasLeft = true
    })
    expect(await ended(api.database, id)).toMatchObject({ state: 'failed' })
    // The role on the destination lets a collaborator retry, but it is not enough.
    expect((await friend.call('POST', `/v1/operations/${id}/retry`)).status).toBe(200)
    expect(await ended(api.database, id)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('no longer'),
    })
    expect((await owner.call('POST', `/v1/operations/${id}/retry`)).status).toBe(200)
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
    expect(await says(to)).toEqual(['source', 'source'])
    expect((await told(to)).events.at(-1)).toBe('site_sync_success')
    expect((await told(from)).events.at(-1)).toBe('site_sync_success')
    expect((await told(from)).log.at(-1)).toBe(
      `site.synced_out: Copied themes files, the database to site ${to.id} by a sync`,
    )
  })
})
