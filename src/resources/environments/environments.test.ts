import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../test/support/fake-host.ts'
import { hostJobs } from '../../jobs.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import type { Worker } from '../../platform/operations/worker/worker.ts'
import { putRoute } from '../sites/addresses/route.store.ts'
import { restoreFromTrash } from '../sites/public.ts'
import { changeSite } from '../sites/site.store.ts'
import { noteReplacedDatabase } from './environment.store.ts'
import { MOST_ENVIRONMENTS } from './environment.ts'

let number = 0

describe.each(dialects)('the links of environments on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let friend: Person
  beforeAll(async () => {
    if (skip) return
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    friend = await api.person('friend@example.com')
  })
  beforeEach((context) => {
    if (skip) context.skip()
  })
  afterAll(() => api?.close())

  const newSite = () => api.site(owner, `linked-${++number}`)
  const link = (live: number, id: number, by = owner) =>
    by.call('POST', `/v1/sites/${live}/environments`, { site_id: id })
  const unlink = (live: number, id: number) => owner.call('DELETE', `/v1/sites/${live}/environments/${id}`)
  const linksOf = async (id: number, by = owner) => {
    const { data } = (await by.call('GET', `/v1/sites/${id}/environments`)).body
    return [data.live?.id ?? null, data.environments.map((each: { id: number }) => each.id)]
  }
  const linked = async () => {
    const [live, environment] = [await newSite(), await newSite()]
    expect((await link(live, environment)).status).toBe(200)
    return { live, environment }
  }
  const refusal = async (answer: ReturnType<typeof link>) => {
    const { status, body } = await answer
    return [status, body.errors[0]]
  }
  const recover = async (id: number) => {
    const { name } = await api.database.read
      .selectFrom('sites')
      .select('name')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    await api.home(id)
    await api.database.transaction((tx) => restoreFromTrash(tx, name, { config: api.config, now: Date.now() }))
  }

  test('are the same from the live site and from each environment', async () => {
    const { live, environment } = await linked()
    const second = await newSite()
    await link(live, second)
    for (const id of [live, environment, second]) expect(await linksOf(id)).toEqual([live, [environment, second]])
    const alone = await newSite()
    expect(await linksOf(alone)).toEqual([alone, []])
  })

  test('a copy is linked to its source, and is a staging site unless the request says otherwise', async () => {
    const live = await newSite()
    const { body } = await owner.call('POST', `/v1/sites/${live}/environments`, { name: `copy-${live}` })
    expect(body.data).toMatchObject({ state: 'cloning', staging: true, wpEnvironmentType: 'staging' })
    expect(body.data.syncedAt).toBe(body.data.linkedAt)
    expect(await linksOf(live)).toEqual([live, [body.data.id]])
    const other = await owner.call('POST', `/v1/sites/${live}/environments`, { name: `live-${live}`, staging: false })
    expect(other.body.data.staging).toBe(false)
  })

  test('of an existing site, Stead does not know when both had the same content', async () => {
    const live = await newSite()
    const environment = (await owner.call('POST', `/v1/sites/${live}/clone`, { name: `clone-${live}` })).body.data.id
    expect((await link(live, environment)).body.data.syncedAt).toBe(null)
  })

  test('a clone of an environment, or of a live site, has no link', async () => {
    const { live, environment } = await linked()
    for (const source of [live, environment]) {
      const { id } = (await owner.call('POST', `/v1/sites/${source}/clone`, { name: `free-${source}` })).body.data
      expect(await linksOf(id)).toEqual([id, []])
    }
    expect(await linksOf(live)).toEqual([live, [environment]])
  })

  test('are listed for several live sites, and can be left out of the list of sites', async () => {
    const [one, two] = [await linked(), await linked()]
    const listed = async (by: Person, query = '') =>
      (await by.call('GET', `/v1/sites${query}`)).body.data.map(({ id }: { id: number }) => id)
    const ofMany = async (by: Person, ...ids: number[]) =>
      (await by.call('GET', `/v1/environments?site_ids=${ids}`)).body.data.map(
        ({ liveSiteId, site }: { liveSiteId: number; site: { id: number } }) => [liveSiteId, site.id],
      )
    expect(await ofMany(owner, one.live, two.live)).toEqual([
      [one.live, one.environment],
      [two.live, two.environment],
    ])
    expect(await ofMany(owner, one.environment)).toEqual([])
    const { body } = await owner.call('GET', `/v1/environments?site_ids=${one.live}`)
    expect(body.data[0].site.status).toMatchObject({ status: 'live' })
    expect((await owner.call('GET', '/v1/environments?site_ids=1,x')).status).toBe(400)
    const grouped = await listed(owner, '?environments=grouped')
    expect(grouped).toEqual(expect.arrayContaining([one.live, two.live]))
    for (const { environment } of [one, two]) expect(grouped).not.toContain(environment)
    expect(await listed(owner)).toContain(one.environment)
    const first = await owner.call('GET', '/v1/sites?environments=grouped&paginate=true&page=1&per_page=1')
    expect(first.body.page.totalItems).toBe(grouped.length)

    const mate = await api.person('mate@example.com')
    await api.collaborate(mate, one.environment, [])
    // The live site is hidden, so nothing leads to the environment but the environment.
    expect(await listed(mate, '?environments=grouped')).toEqual([one.environment])
    expect(await ofMany(mate, one.live)).toEqual([])
    await api.collaborate(mate, one.live, [])
    expect(await listed(mate, '?environments=grouped')).toEqual([one.live])
    expect(await ofMany(mate, one.live)).toEqual([[one.live, one.environment]])
    expect((await owner.call('DELETE', `/v1/sites/${one.live}`)).status).toBe(200)
    expect(await listed(owner, '?environments=grouped')).toContain(one.environment)
  })

  test('a request names a copy or a site, and not both', async () => {
    const [live, other] = [await newSite(), await newSite()]
    for (const body of [{}, { name: 'both-names', site_id: other }])
      expect((await owner.call('POST', `/v1/sites/${live}/environments`, body)).status).toBe(400)
    expect(await linksOf(live)).toEqual([live, []])
  })

  test('a live site has a limited number of environments', async () => {
    const live = await newSite()
    for (let index = 0; index < MOST_ENVIRONMENTS; index++) expect((await link(live, await newSite())).status).toBe(200)
    expect(await refusal(link(live, await newSite()))).toEqual([400, expect.stringContaining('reached the limit')])
  })

  test('there are no chains, no second live sites, and no links between accounts', async () => {
    const { live, environment } = await linked()
    const other = await newSite()
    const foreign = await api.site(friend, `foreign-${++number}`)
    await api.collaborate(owner, foreign, ['clone_site'])
    const cases = [
      [environment, other, 'is an environment itself'],
      [other, live, 'has environments itself'],
      [other, environment, 'already is an environment'],
      [other, other, 'cannot be its own environment'],
      [other, foreign, 'different accounts'],
    ] as const
    for (const [to, id, reason] of cases)
      expect(await refusal(link(to, id))).toEqual([400, expect.stringContaining(reason)])
    expect(await linksOf(live)).toEqual([live, [environment]])
    expect(await linksOf(other)).toEqual([other, []])
  })

  test('unlinking deletes no site, and only under the own live site', async () => {
    const { live, environment } = await linked()
    const other = await linked()
    expect((await unlink(other.live, environment)).status).toBe(404)
    expect((await unlink(live, environment)).status).toBe(200)
    expect((await unlink(live, environment)).status).toBe(404)
    for (const id of [live, environment]) expect(await linksOf(id)).toEqual([id, []])
    expect(await linksOf(other.live)).toEqual([other.live, [other.environment]])
  })

  describe('with a site in the trash', () => {
    test('hides a link, and shows it again when the site returns', async () => {
      for (const gone of ['live', 'environment'] as const) {
        const both = await linked()
        const stays = both[gone === 'live' ? 'environment' : 'live']
        expect((await owner.call('DELETE', `/v1/sites/${both[gone]}`)).status).toBe(200)
        expect(await linksOf(stays)).toEqual([stays, []])
        const path = `/v1/sites/${both.live}/environments/${both.environment}/pull`
        expect((await owner.call('POST', path, { preset: 'code' })).status).toBe(404)
        await recover(both[gone])
        expect(await linksOf(stays)).toEqual([both.live, [both.environment]])
      }
    })

    test('ends a link when the other site gets a new one', async () => {
      const { live, environment } = await linked()
      const other = await newSite()
      await owner.call('DELETE', `/v1/sites/${live}`)
      expect((await link(other, environment)).status).toBe(200)
      await recover(live)
      expect(await linksOf(live)).toEqual([live, []])
      expect(await linksOf(environment)).toEqual([other, [environment]])
    })

    test('makes no chain when it returns', async () => {
      const [first, second] = [await linked(), await linked()]
      const other = await newSite()
      await owner.call('DELETE', `/v1/sites/${first.environment}`)
      expect((await link(other, first.live)).status).toBe(200)
      await recover(first.environment)
      expect(await linksOf(first.environment)).toEqual([first.environment, []])
      await owner.call('DELETE', `/v1/sites/${second.live}`)
      expect((await link(second.environment, await newSite())).status).toBe(200)
      await recover(second.live)
      expect(await linksOf(second.live)).toEqual([second.live, []])
    })
  })

  test('a collaborator sees only its own sites of them, and needs the role on both sites', async () => {
    const { live, environment } = await linked()
    const second = await newSite()
    await link(live, second)
    await api.collaborate(friend, environment, ['clone_site'])
    expect(await linksOf(environment, friend)).toEqual([null, [environment]])
    await api.collaborate(friend, live, ['clone_site'])
    expect(await linksOf(environment, friend)).toEqual([live, [environment]])
    const other = await newSite()
    expect((await link(live, other, friend)).status).toBe(404)
    await api.collaborate(friend, other, ['wp_access'])
    expect((await link(live, other, friend)).status).toBe(403)
    await api.collaborate(friend, other, ['clone_site'])
    expect((await link(live, other, friend)).status).toBe(200)
  })

  test('a push needs restore_site on the live site and download_backups on the environment; a pull the reverse', async () => {
    const { live, environment } = await linked()
    const path = `/v1/sites/${live}/environments/${environment}`
    const asked = async (
      ofLive: 'restore_site' | 'download_backups',
      ofEnvironment: 'restore_site' | 'download_backups',
    ) => {
      await api.collaborate(friend, live, [ofLive])
      await api.collaborate(friend, environment, [ofEnvironment])
      const statuses = []
      for (const way of ['push', 'pull'])
        statuses.push((await friend.call('POST', `${path}/${way}`, { preset: 'code', dry_run: true })).status)
      return statuses
    }
    expect(await asked('restore_site', 'restore_site')).toEqual([403, 403])
    expect(await asked('download_backups', 'download_backups')).toEqual([403, 403])
    expect(await asked('restore_site', 'download_backups')).toEqual([200, 403])
    expect(await asked('download_backups', 'restore_site')).toEqual([403, 200])
  })

  test.each([
    [{ preset: 'code', folders: ['themes'] }, 'folders: requires the preset chosen'],
    [{ preset: 'content', tables: ['wp_posts'] }, 'tables: requires the preset chosen'],
    [{ preset: 'everything', database: false }, 'database: requires the preset chosen'],
    [{ preset: 'chosen' }, 'folders: name folders, tables or the database'],
    [{ preset: 'chosen', database: false }, 'folders: name folders, tables or the database'],
    [{ preset: 'chosen', database: true, tables: ['wp_posts'] }, 'tables: leave it out'],
  ])('400 for %j', async (body, reason) => {
    const { live, environment } = await linked()
    const answer = owner.call('POST', `/v1/sites/${live}/environments/${environment}/push`, body)
    expect(await refusal(answer)).toEqual([400, expect.stringContaining(reason)])
  })

  describe('know since when the databases differ', () => {
    const replaced = (of: Parameters<typeof noteReplacedDatabase>[1]) =>
      api.database.transaction((tx) => noteReplacedDatabase(tx, of))
    const levelOf = async (siteId: number) =>
      (
        await api.database.read
          .selectFrom('site_environments')
          .select('level_at')
          .where('site_id', '=', siteId)
          .executeTakeFirstOrThrow()
      ).level_at
    const copied = async () => {
      const live = await newSite()
      const environment = (await owner.call('POST', `/v1/sites/${live}/environments`, { name: `level-${live}` })).body
        .data.id as number
      return { live, environment, first: (await levelOf(environment)) as number }
    }

    test('after a pull, and after a push', async () => {
      const { live, environment } = await copied()
      await replaced({ siteId: environment, from: live, at: 77, by: 1 })
      expect(await levelOf(environment)).toBe(77)
      await replaced({ siteId: live, from: environment, at: 78, by: 2 })
      expect(await levelOf(environment)).toBe(78)
    })

    test('after the undo of the last sync as before, and after another restore since the copy', async () => {
      const { live, environment, first } = await copied()
      await replaced({ siteId: environment, from: live, at: 77, by: 1 })
      await replaced({ siteId: environment, from: live, at: 78, by: 2 })
      await replaced({ siteId: environment, from: environment, by: 3, undoOf: 2 })
      expect(await levelOf(environment)).toBe(77)
      await replaced({ siteId: environment, from: live, at: 79, by: 4 })
      await replaced({ siteId: environment, from: environment, by: 5, undoOf: 1 })
      expect(await levelOf(environment)).toBe(first)
      await replaced({ siteId: environment, from: live, at: 80, by: 6 })
      await replaced({ siteId: live, from: live, by: 7 })
      expect(await levelOf(environment)).toBe(first)
    })

    test('no longer after an import or a copy of a third site, until the next sync', async () => {
      for (const from of [null, 999_999]) {
        const { live, environment } = await copied()
        await replaced({ siteId: environment, from, by: 1 })
        expect(await levelOf(environment)).toBe(null)
        await replaced({ siteId: environment, from: environment, by: 2 })
        expect(await levelOf(environment)).toBe(null)
        await replaced({ siteId: environment, from: live, at: 79, by: 3 })
        expect(await levelOf(environment)).toBe(79)
      }
    })

    test('and a push from one environment makes the others unknown', async () => {
      const { live, environment } = await copied()
      const second = await newSite()
      await link(live, second)
      await replaced({ siteId: live, from: second, at: 77, by: 1 })
      expect(await levelOf(second)).toBe(77)
      expect(await levelOf(environment)).toBe(null)
    })
  })
})

describe('a push and a pull', () => {
  let api: TestApi
  let owner: Person
  let host: FakeHost
  let worker: Worker
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

  const folders = ['themes', 'plugins', 'mu-plugins', 'uploads', 'languages']
  interface MadeSite {
    readonly id: number
    readonly directory: string
  }
  async function newSite(text: string): Promise<MadeSite> {
    const name = `moved-${++number}`
    const id = await api.site(owner, name)
    const directory = await host.giveDirectory(id)
    await api.database.transaction(async (tx) => {
      await putRoute(tx, id, `${name}.test`, 1)
      await changeSite(tx, id, { writtenAddress: `${name}.test`, coreVersion: '6.8' }, 1)
    })
    for (const folder of folders) {
      await mkdir(join(directory, 'web/wp-content', folder), { recursive: true })
      await writeFile(join(directory, 'web/wp-content', folder, 'file.txt'), text)
    }
    await writeFile(join(directory, 'web/page.txt'), text)
    host.setTitle(directory, text)
    return { id, directory }
  }
  const says = async ({ directory }: MadeSite) => {
    const texts = [...folders.map((folder) => `wp-content/${folder}/file.txt`), 'page.txt'].map((path) =>
      readFile(join(directory, 'web', path), 'utf8'),
    )
    return [...(await Promise.all(texts)), host.title(directory)]
  }
  async function pair() {
    const [live, environment] = [await newSite('live'), await newSite('staging')]
    await owner.call('POST', `/v1/sites/${live.id}/environments`, { site_id: environment.id })
    return { live, environment, path: `/v1/sites/${live.id}/environments/${environment.id}` }
  }
  async function done(path: string, body: object): Promise<number> {
    const answer = await owner.call('POST', path, body)
    expect([answer.status, answer.body.errors]).toEqual([200, null])
    const id = Number(answer.headers['operation-id'])
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
    return id
  }

  test.each([
    ['everything', {}, 'themes plugins mu-plugins uploads languages root database'],
    ['code', {}, 'themes plugins mu-plugins'],
    ['content', {}, 'uploads database'],
    ['chosen', { folders: ['mu-plugins'] }, 'mu-plugins'],
    ['chosen', { folders: ['content', 'root'] }, 'mu-plugins languages root'],
    ['chosen', { database: true }, 'database'],
    ['chosen', { tables: ['wp_options'] }, 'database'],
  ])('with the preset %s and %j overwrites these: %s', async (preset, more, overwritten) => {
    const { live, environment, path } = await pair()
    const id = await done(`${path}/push`, { preset, ...more })
    const expected = [...folders, 'root', 'database'].map((each) =>
      overwritten.split(' ').includes(each) ? 'staging' : 'live',
    )
    expect(await says(live)).toEqual(expected)
    expect(new Set(await says(environment))).toEqual(new Set(['staging']))
    const undone = await owner.call('POST', `/v1/operations/${id}/undo`)
    expect(await ended(api.database, undone.body.data.id)).toMatchObject({ state: 'succeeded', error: null })
    expect(new Set(await says(live))).toEqual(new Set(['live']))
  })

  test('copies only the chosen tables', async () => {
    const { live, environment, path } = await pair()
    await done(`${path}/push`, { preset: 'chosen', tables: ['wp_posts'] })
    expect(host.title(live.directory)).toBe('live')
    expect(host.title(environment.directory)).toBe('staging')
  })

  test('need no free slot, and keep backups of the overwritten site for 7 days', async () => {
    const { live, environment, path } = await pair()
    await done(`${path}/push`, { preset: 'everything' })
    const rows = await api.database.read
      .selectFrom('backups')
      .select(['site_id', 'kind', 'origin'])
      .where('site_id', 'in', [live.id, environment.id])
      .execute()
    expect(rows.every(({ origin, site_id }) => origin === 'undo' && site_id === live.id)).toBe(true)
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(['fs', 'db']))
  })

  test('a pull makes the databases level, and its undo returns to the moment before', async () => {
    const { live, environment, path } = await pair()
    const syncedAt = async () =>
      (await owner.call('GET', `/v1/sites/${live.id}/environments`)).body.data.environments[0].syncedAt
    expect(await syncedAt()).toBe(null)
    await done(`${path}/pull`, { preset: 'code' })
    expect(await syncedAt()).toBe(null)
    await done(`${path}/pull`, { preset: 'chosen', tables: ['wp_options'] })
    expect(await syncedAt()).toBe(null)
    const from = Date.now()
    const id = await done(`${path}/pull`, { preset: 'content' })
    expect(Date.parse(await syncedAt())).toBeGreaterThanOrEqual(from)
    expect(host.title(environment.directory)).toBe('live')
    const undone = await owner.call('POST', `/v1/operations/${id}/undo`)
    await ended(api.database, undone.body.data.id)
    expect(await syncedAt()).toBe(null)
  })

  test('with dry_run change nothing, and report what they would', async () => {
    const { live, environment, path } = await pair()
    await writeFile(join(environment.directory, 'web/wp-content/themes/new.css'), 'new')
    await writeFile(join(live.directory, 'web/wp-content/themes/own.css'), 'own!')
    const id = await done(`${path}/push`, { preset: 'everything', dry_run: true })
    expect(new Set(await says(live))).toEqual(new Set(['live']))
    const { body } = await owner.call('GET', `${path}/previews/${id}`)
    expect(body.data).toMatchObject({
      siteId: live.id,
      fromSiteId: environment.id,
      files: {
        added: { count: 1, bytes: 3, first: ['wp-content/themes/new.css'] },
        changed: { count: 6, bytes: 42 },
        removed: { count: 1, bytes: 4, first: ['wp-content/themes/own.css'] },
      },
      database: {
        since: null,
        counts: [{ kind: 'post', new: 2, changed: 1 }],
        newest: [{ title: 'newer than 1970-01-01 00:00:00' }],
      },
    })
    expect(body.data.files.changed.first).not.toContain('wp-content/themes/new.css')
    // Neither under other links nor for the other direction.
    const other = await pair()
    expect((await owner.call('GET', `${other.path}/previews/${id}`)).status).toBe(404)
    await owner.call('DELETE', path)
    expect((await owner.call('GET', `${path}/previews/${id}`)).status).toBe(404)
  })

  test('of chosen tables report only these', async () => {
    const { live, path } = await pair()
    const id = await done(`${path}/push`, { preset: 'chosen', tables: ['wp_options'], dry_run: true })
    const { body } = await owner.call('GET', `${path}/previews/${id}`)
    expect(body.data).toMatchObject({
      siteId: live.id,
      files: null,
      database: { tables: [{ table: 'wp_options', rows: 5, fromRows: 5 }], counts: [], newest: [] },
    })
  })

  test('count what is newer than the last pull', async () => {
    const { path } = await pair()
    const from = Math.floor(Date.now() / 1000) - 1
    await done(`${path}/pull`, { preset: 'content' })
    const id = await done(`${path}/push`, { preset: 'content', dry_run: true })
    const { since, newest } = (await owner.call('GET', `${path}/previews/${id}`)).body.data.database
    expect(Date.parse(since) / 1000).toBeGreaterThanOrEqual(from)
    expect(Date.parse(`${newest[0].title.replace('newer than ', '')}Z`)).toBeLessThan(Date.parse(since))
  })
})
