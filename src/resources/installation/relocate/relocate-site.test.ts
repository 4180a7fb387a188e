/** Tests of moving a site between two hosts that share a database and the backup storage. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { testBackups } from '../../../backups/backup-store.fixture.ts'
import { loadRoute } from '../../../edge/routing/routes.store.ts'
import { PhpTaskError } from '../../../hosting/php/task-error.ts'
import type { DatabaseContent, SitePlace } from '../../../hosting/site-database/database-content.ts'
import { totalsOf } from '../../../hosting/site-database/database-sums.ts'
import { hostJobs, jobs } from '../../../jobs.ts'
import { requestCancel, requeueOperation } from '../../../platform/operations/control.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, gate, startWorker, until } from '../../../platform/operations/harness.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { siteOwner } from '../../backups/backup.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { putRoute } from '../../sites/addresses/route.store.ts'
import { changeSite } from '../../sites/site.store.ts'
import { configureSite } from '../../sites/switches/configure-site.job.ts'
import { evacuateHosts } from '../hosts/evacuate-hosts.job.ts'

/** Returns an object with another method. */
function instead<Of extends object, Name extends keyof Of>(
  of: Of,
  name: Name,
  work: (own: Of[Name], ...given: Of[Name] extends (...given: infer Given) => unknown ? Given : never) => unknown,
): Of {
  return new Proxy(of, {
    get(target, key) {
      const value = target[key as keyof Of]
      const own = typeof value === 'function' ? value.bind(target) : value
      return key === name ? (...given: never) => work(own, ...given) : own
    },
  })
}

describe.each(dialects)('a site that moves between hosts, on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let hosts: [FakeHost, FakeHost]
  let workers: Worker[]
  let site: number
  let directory: string
  let count = 0
  beforeEach(async (context) => {
    if (skip) return context.skip()
    workers = []
    api = await testApi(dialect, { settings: { STEAD_BACKUP_DIR: '/backups' } })
    owner = await api.person('owner@example.com')
    const seen = Date.UTC(2100, 0)
    const values = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}' }
    await api.database.transaction(async (tx) => {
      await tx.updateTable('hosts').set({ seen_at: seen, name: 'near' }).execute()
      await tx
        .insertInto('hosts')
        .values({ ...values, seen_at: seen })
        .execute()
    })
    const rows = await api.database.read.selectFrom('hosts').select('id').orderBy('id').execute()
    hosts = (await Promise.all(rows.map(({ id }) => fakeHost(api, { asked: id })))) as [FakeHost, FakeHost]
    site = await api.site(owner, `moved-${++count}`)
    directory = await hosts[0].giveDirectory(site)
    await api.database.transaction(async (tx) => {
      await tx.updateTable('sites').set({ host_id: hosts[0].hostId }).where('id', '=', site).execute()
      await putRoute(tx, site, 'moved.test', 1)
      await changeSite(tx, site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1)
    })
    await writeFile(join(directory, 'web/page.txt'), 'mine')
    hosts[0].setTitle(directory, 'mine')
  })
  afterEach(async () => {
    for (const worker of workers ?? []) await worker.stop(5000)
    for (const host of hosts ?? []) await host.close()
    await api?.close()
  })

  const work = (host: FakeHost, services: Partial<HostServices> = {}) => {
    const worker = startWorker(api.database, hostJobs, {
      ...{ runner: 'host', hostId: host.hostId, services: { ...host.services, ...services }, lookEveryMs: 20 },
    })
    workers.push(worker)
    return worker
  }
  const relocate = (body: object = {}) => owner.call('POST', `/v1/sites/${site}/relocate`, body)
  const move = async (body?: object) => {
    const answer = await relocate(body)
    expect([answer.status, answer.body.errors]).toEqual([200, null])
    return Number(answer.headers['operation-id'])
  }
  const homes = () =>
    api.database.read.selectFrom('site_homes').select(['id', 'host_id', 'site_id', 'state']).orderBy('id').execute()
  const log = async () => {
    const rows = api.database.read.selectFrom('activity').select('message').where('site_id', '=', site).orderBy('id')
    return (await rows.execute()).map(({ message }) => message)
  }
  const content = async (host: FakeHost) => {
    const path = (await host.services.siteDirectories.ofSite(site))?.path as string
    return [await readFile(join(path, 'web/page.txt'), 'utf8'), host.title(path)]
  }
  const removals = () =>
    api.database.read
      .selectFrom('operations')
      .select(['id', 'host_id', 'state'])
      .where('type', '=', 'site.remove_copy')
      .orderBy('id')
      .execute()
  /** Checks that the site is whole and open where it was, and nowhere else. */
  async function isWhereItWas() {
    await until(async () => (await removals()).every(({ state }) => state === 'succeeded'))
    expect((await removals()).map(({ host_id }) => host_id)).toEqual([hosts[1].hostId])
    const own = { host_id: hosts[0].hostId, site_id: site, state: 'taken' }
    expect(await homes()).toEqual([expect.objectContaining(own)])
    expect(hosts[1].directoriesOnDisk()).toEqual([])
    const route = await loadRoute(api.database.read, 'moved.test')
    expect([route?.hostId, route?.isClosed]).toEqual([hosts[0].hostId, false])
    expect(hosts.map(({ held }) => held.has(site))).toEqual([false, false])
    expect(await content(hosts[0])).toEqual(['mine', 'mine'])
  }

  test('is served by the other host with all its content and its queue, and the old host keeps its directory for a day', async () => {
    const [near, far] = hosts
    const target = { siteId: site, accountId: owner.accountId, hostId: near.hostId }
    const id = await move({ host: 'far' })
    const queued = await api.database.transaction((tx) => enqueue(tx, configureSite, { siteId: site }, target))
    const before = await loadRoute(api.database.read, 'moved.test')
    // Writes while the first files are copied.
    const siteFiles = instead(near.services.siteFiles, 'size', async (size, place) => {
      const found = await size(place)
      await writeFile(join(directory, 'web/late.txt'), 'late')
      near.setTitle(directory, 'late')
      return found
    })
    work(near, { siteFiles })
    work(far)
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
    const after = await loadRoute(api.database.read, 'moved.test')
    expect(after).toMatchObject({ hostId: far.hostId, upstream: 'http://127.0.0.1:2', isClosed: false })
    expect(after?.place).not.toBe(before?.place)
    expect(await content(far)).toEqual(['mine', 'late'])
    const there = (await far.services.siteDirectories.ofSite(site))?.path as string
    expect(await readFile(join(there, 'web/late.txt'), 'utf8')).toBe('late')
    expect(hosts.map(({ held }) => held.has(site))).toEqual([false, false])
    expect(near.disconnected).toContain(site)
    expect((await ended(api.database, queued)).state).toBe('succeeded')
    const bound = api.database.read.selectFrom('operations').select('host_id').where('id', 'in', [id, queued])
    expect(await bound.orderBy('id').execute()).toEqual([{ host_id: near.hostId }, { host_id: far.hostId }])
    expect((await log()).filter((message) => message.includes('host'))).toEqual([
      'Requested the move to the host far',
      'Moved the site to the host far. Its homepage is unchanged.',
    ])
    // A start of the old host leaves the copy, and a day later it goes.
    await near.services.siteDirectories.reconcile({ isTakenOver: false })
    expect(existsSync(directory)).toBe(true)
    const [removal] = await removals()
    const { run_at } = await api.database.read
      .selectFrom('operations')
      .select('run_at')
      .where('id', '=', removal?.id as number)
      .executeTakeFirstOrThrow()
    expect(run_at - Date.now()).toBeGreaterThan(23 * 3_600_000)
    await api.database.transaction((tx) =>
      tx
        .updateTable('operations')
        .set({ run_at: 0 })
        .where('id', '=', removal?.id as number)
        .execute(),
    )
    expect(await ended(api.database, removal?.id as number)).toMatchObject({ state: 'succeeded' })
    expect([existsSync(directory), near.directoriesOnDisk()]).toEqual([false, []])
    expect((await homes()).map(({ host_id }) => host_id)).toEqual([far.hostId])
    expect(await content(far)).toEqual(['mine', 'late'])
  })

  test('comes back to the first host while that still has the old directory', async () => {
    const [near, far] = hosts
    for (const host of hosts) work(host)
    expect((await ended(api.database, await move())).state).toBe('succeeded')
    far.setTitle((await far.services.siteDirectories.ofSite(site))?.path as string, 'changed')
    expect((await ended(api.database, await move())).state).toBe('succeeded')
    expect(await content(near)).toEqual(['mine', 'changed'])
    const own = await near.services.siteDirectories.ofSite(site)
    expect(own?.path).not.toBe(directory)
    // The removal of the first directory leaves the site.
    const [removal] = await removals()
    await api.database.transaction((tx) => tx.updateTable('operations').set({ run_at: 0 }).execute())
    await ended(api.database, removal?.id as number)
    expect([existsSync(directory), await content(near)]).toEqual([false, ['mine', 'changed']])
  })

  describe('with a database whose parts can be summed up', () => {
    /** Gives a host such a database. @returns what it loads: everything, or only changes */
    function summing(host: FakeHost, { differs = false, others = (): number => 0 } = {}) {
      const { siteDatabase } = host.services
      const loads: string[] = []
      const sumOf = (siteDirectory: string) => [1, Buffer.from(host.title(siteDirectory)).toString('hex')] as const
      const other = { text: 'create', parts: null, sums: { '': [1, '1'] as const } }
      const sums = async (place: SitePlace) => ({
        wp_options: { text: 'create', parts: null, sums: { '': sumOf(place.siteDirectory) } },
        ...Object.fromEntries(
          Array.from({ length: others() }, (_, n) => [`wp_${n}_a_table_of_a_large_network`, other]),
        ),
      })
      const own: Partial<DatabaseContent> = {
        async snapshot(place) {
          const snapshot = await siteDatabase.snapshot(place)
          return { ...snapshot, dump: snapshot.dump.bind(snapshot), sums: () => sums(place) }
        },
        async load(...given) {
          loads.push('all')
          return siteDatabase.load(...given)
        },
        totals: async (place) => (differs ? {} : totalsOf(await sums(place))),
        async bringLevel(place, sql, { whole }) {
          loads.push(`only ${whole.join()}`)
          await siteDatabase.load(place, sql, { tables: whole, keepsOthers: true })
          await siteDatabase.switch(place)
          await siteDatabase.cleanUp(place)
        },
      }
      return { loads, siteDatabase: { ...siteDatabase, ...own } }
    }
    /** Changes the site when the new host has the first copy. */
    const changingLate = () =>
      instead(hosts[0].services.pool, 'hold', async (hold, ...given) => {
        await hold(...given)
        hosts[0].setTitle(directory, '1a')
      })

    test('gets only what has changed since the first copy, while it is closed', async () => {
      hosts[0].setTitle(directory, '10')
      const { siteDatabase } = summing(hosts[0])
      const there = summing(hosts[1])
      work(hosts[0], { siteDatabase, pool: changingLate() })
      work(hosts[1], { siteDatabase: there.siteDatabase })
      const id = await move()
      expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
      expect(there.loads).toEqual(['all', 'only wp_options'])
      expect(await content(hosts[1])).toEqual(['mine', '1a'])
      const own = (await hosts[1].services.siteDirectories.ofSite(site))?.path as string
      expect(existsSync(join(own, 'compared'))).toBe(false)
      const names = (await api.backups.repository(siteOwner(site)).list()).map(({ name }) => name)
      expect(names.filter((name) => /^(ahead|behind)-/.test(name))).toEqual([])
    })

    test('gets all of it again if the sums of the first copy are not those of the old host', async () => {
      hosts[0].setTitle(directory, '10')
      const { siteDatabase } = summing(hosts[0])
      const there = summing(hosts[1], { differs: true })
      work(hosts[0], { siteDatabase, pool: changingLate() })
      work(hosts[1], { siteDatabase: there.siteDatabase })
      expect(await ended(api.database, await move())).toMatchObject({ state: 'succeeded', error: null })
      expect(there.loads).toEqual(['all', 'all'])
      expect(await content(hosts[1])).toEqual(['mine', '1a'])
    })

    test.each([
      ['that it has', 6000, 6000, ['all']],
      ['that are new', 0, 6000, ['all', 'all']],
    ])('gets all of it while it is closed, for many tables %s', async (_what, before, after, loads) => {
      hosts[0].setTitle(directory, '10')
      let count = before
      const others = () => count
      const { siteDatabase } = summing(hosts[0], { others })
      const there = summing(hosts[1], { others })
      const pool = instead(hosts[0].services.pool, 'hold', async (hold, ...given) => {
        await hold(...given)
        hosts[0].setTitle(directory, '1a')
        count = after
      })
      work(hosts[0], { siteDatabase, pool })
      work(hosts[1], { siteDatabase: there.siteDatabase })
      expect(await ended(api.database, await move())).toMatchObject({ state: 'succeeded', error: null })
      expect([there.loads, await content(hosts[1])]).toEqual([loads, ['mine', '1a']])
      // Rows of operations stay small.
      const inputs = await api.database.read.selectFrom('operations').select('input').execute()
      const results = await api.database.read.selectFrom('operation_steps').select('result').execute()
      const texts = [...inputs.map(({ input }) => input), ...results.map(({ result }) => result ?? '')]
      expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(20_000)
    })

    test('stays where it is if its sums differ in the end, and a retry begins with a new copy', async () => {
      hosts[0].setTitle(directory, '10')
      const { siteDatabase } = summing(hosts[0])
      const there = summing(hosts[1])
      let isWrong = true
      const bringLevel: DatabaseContent['bringLevel'] = async (place, ...rest) => {
        await there.siteDatabase.bringLevel(place, ...rest)
        if (isWrong) hosts[1].setTitle(place.siteDirectory, '1b')
      }
      work(hosts[0], { siteDatabase, pool: changingLate() })
      work(hosts[1], { siteDatabase: { ...there.siteDatabase, bringLevel } })
      const id = await move()
      const error = 'The database could not be moved exactly: rows of the table wp_options are not the same'
      expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error })
      expect(await content(hosts[0])).toEqual(['mine', '1a'])
      expect(existsSync(join(directory, 'database-sums'))).toBe(false)
      isWrong = false
      hosts[0].setTitle(directory, '1c')
      await api.database.transaction((tx) => requeueOperation(tx, id, jobs))
      expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
      expect(await content(hosts[1])).toEqual(['mine', '1a'])
    })
  })

  describe('stays where it was', () => {
    const refused = async (says: string, { near = {}, far = {} }: { near?: object; far?: object }) => {
      work(hosts[0], near)
      work(hosts[1], far)
      const id = await move()
      expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error: says })
      expect(await log()).toContain(`The move to another host failed, and the site stays where it is: ${says}.`)
      await isWhereItWas()
      return id
    }

    test('if its WordPress refuses to work on the new host, and a retry moves it', async () => {
      const { pool } = hosts[1].services
      let isRefusing = true
      const runTask = async (...given: Parameters<typeof pool.runTask>) => {
        if (isRefusing && given[1] === 'check-copy') throw new PhpTaskError('it cannot write')
        return pool.runTask(...given)
      }
      const says = 'WordPress does not respond on the new host: it cannot write'
      const id = await refused(says, { far: { pool: { ...pool, runTask } } })
      isRefusing = false
      await api.database.transaction((tx) => requeueOperation(tx, id, jobs))
      expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
      expect(await content(hosts[1])).toEqual(['mine', 'mine'])
    })

    test('if its homepage is another one there', async () => {
      const { pool } = hosts[1].services
      const handle = async () => ({ status: 404, headers: [], body: [Buffer.from('gone')] })
      const says =
        'WordPress does not respond on the new host: its homepage responds with status 404 there, but with 200 here'
      await refused(says, { far: { pool: { ...pool, handle } } })
    })

    test('if the database differs there', async () => {
      const altered = instead(hosts[1].services.siteDatabase, 'switch', async (own, place) => {
        await own(place)
        hosts[1].setTitle(place.siteDirectory, 'another')
      })
      const says = 'The database could not be moved exactly: rows of the table wp_options are not the same'
      await refused(says, { far: { siteDatabase: altered } })
    })

    test('if a file differs there', async () => {
      const siteFiles = instead(hosts[1].services.siteFiles, 'cleanUp', async (cleanUp, place) => {
        await writeFile(join(place.siteDirectory, 'web/page.txt'), 'another')
        await cleanUp(place)
      })
      await refused('The files could not be moved exactly: page.txt differs', { far: { siteFiles } })
    })

    test('if the new host does not see the same storage', async () => {
      const { backups, close } = await testBackups()
      const says = 'The new host cannot read the backup storage of the other host. Use the same on both'
      await refused(says, { far: { backups } })
      await close()
    })

    test.skipIf(dialect === 'sqlite')('if the new host stops reporting while the site is closed', async () => {
      const closed = gate()
      const { siteDatabase } = hosts[1].services
      const load = async (...[, , options]: Parameters<typeof siteDatabase.load>) => {
        closed.open()
        await new Promise((_resolve, reject) => options?.signal?.addEventListener('abort', reject))
      }
      work(hosts[0])
      work(hosts[1], { siteDatabase: { ...siteDatabase, load } as never })
      const id = await move()
      await closed.opened
      expect(await loadRoute(api.database.read, 'moved.test')).toMatchObject({ isClosed: true })
      await api.database.transaction((tx) =>
        tx.updateTable('hosts').set({ seen_at: 0 }).where('id', '=', hosts[1].hostId).execute(),
      )
      const error = 'The new host stopped reporting during the move'
      expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error })
      await isWhereItWas()
    })

    test('if canceled', async () => {
      const begun = gate()
      const { siteDatabase } = hosts[1].services
      const load = async (...[, , options]: Parameters<typeof siteDatabase.load>) => {
        begun.open()
        await new Promise((_resolve, reject) => options?.signal?.addEventListener('abort', reject))
      }
      work(hosts[0])
      work(hosts[1], { siteDatabase: { ...siteDatabase, load } as never })
      const id = await move()
      await begun.opened
      // Edges serve their stored pages meanwhile.
      expect(await loadRoute(api.database.read, 'moved.test')).toMatchObject({ isClosed: true, isMoving: true })
      await api.database.transaction((tx) => requestCancel(tx, id, Date.now()))
      expect((await ended(api.database, id)).state).toBe('canceled')
      await isWhereItWas()
    })
  })

  test('is left alone by a start of the new host in the middle, and is lost with its own host', async () => {
    const begun = gate()
    const [near, far] = hosts
    const { siteDatabase } = far.services
    const load = async (...[, , options]: Parameters<typeof siteDatabase.load>) => {
      begun.open()
      await new Promise((_resolve, reject) => options?.signal?.addEventListener('abort', reject))
    }
    const here = work(near)
    const there = work(far, { siteDatabase: { ...siteDatabase, load } as never })
    const id = await move()
    await begun.opened
    await there.stop(0)
    await far.services.siteDirectories.reconcile({ isTakenOver: false })
    expect(far.directoriesOnDisk()).toHaveLength(1)
    // The host with the site dies, and its only copy with it.
    await here.stop(0)
    await api.database.transaction((tx) =>
      tx.updateTable('hosts').set({ state: 'lost' }).where('id', '=', near.hostId).execute(),
    )
    const services = { config: api.config, database: api.database, definitions: jobs }
    workers.push(startWorker(api.database, [evacuateHosts], { services: services as never, lookEveryMs: 20 }))
    await ended(api.database, await api.database.transaction((tx) => enqueue(tx, evacuateHosts, {})))
    expect((await findOperation(api.database.read, id))?.state).toBe('failed')
    work(far)
    await until(async () => (await removals()).every(({ state }) => state === 'succeeded'))
    // The undo points of the move are backups, so the site is recovered from them.
    await until(async () => (await content(far).catch(() => []))[0] === 'mine')
    const own = await far.services.siteDirectories.ofSite(site)
    expect(far.directoriesOnDisk()).toEqual([`h${own?.id}`])
  })

  test('ends its move on a host that is lost after the site has left', async () => {
    for (const host of hosts) work(host)
    const id = await move()
    await ended(api.database, id)
    await api.database.transaction(async (tx) => {
      const open = { state: 'running', finished_at: null, lease_owner: 'w', lease_until: 1 } as const
      await tx.updateTable('operations').set(open).where('id', '=', id).execute()
      await tx.updateTable('hosts').set({ state: 'lost' }).where('id', '=', hosts[0].hostId).execute()
    })
    const services = { config: api.config, database: api.database, definitions: jobs }
    workers.push(startWorker(api.database, [evacuateHosts], { services: services as never, lookEveryMs: 20 }))
    await ended(api.database, await api.database.transaction((tx) => enqueue(tx, evacuateHosts, {})))
    expect((await findOperation(api.database.read, id))?.state).toBe('failed')
    // The lost host quarantines its copy if it returns.
    expect((await homes()).map(({ host_id }) => host_id)).toEqual([hosts[1].hostId])
    expect(await content(hosts[1])).toEqual(['mine', 'mine'])
  })

  describe('a request is refused', () => {
    const refusal = async (body: object = {}) => {
      const answer = await relocate(body)
      return [answer.status, answer.body.code]
    }
    const change = (values: object, name = 'far') =>
      api.database.transaction((tx) => tx.updateTable('hosts').set(values).where('name', '=', name).execute())

    test('counts sites that are on their way to a host as if they were there', async () => {
      const other = await api.site(owner, 'other-site')
      await change({ max_sites: 1 })
      await api.database.transaction((tx) =>
        tx.updateTable('sites').set({ host_id: hosts[0].hostId }).where('id', '=', other).execute(),
      )
      expect((await owner.call('POST', `/v1/sites/${other}/relocate`, { host: 'far' })).status).toBe(200)
      expect(await refusal({ host: 'far' })).toEqual([400, 'host_unfit'])
    })

    /** What the list of hosts says about both hosts. */
    const reasons = async () => {
      const { data } = (await owner.call('GET', `/v1/sites/${site}/hosts`)).body
      return data.map(({ name, reason }: { name: string; reason: string | null }) => [name, reason])
    }

    test('for a host that is unknown, the same, cordoned, full, silent, or lacks what the site needs', async () => {
      expect(await refusal({ host: 'h9' })).toEqual([400, 'host_unknown'])
      expect(await refusal({ host: 'near' })).toEqual([400, 'site_on_host'])
      const here = ['near', 'The site is on this host.']
      expect(await reasons()).toEqual([here, ['far', null]])
      const noPhp = 'The host cannot run the site with PHP 8.3 and its database.'
      const refused = { containment: { runtimes: { '8.3': 'refused', '8.4': 'refused', '8.5': 'refused' } } }
      const unfit: [object, string][] = [
        [{ state: 'cordoned' }, 'The host gets no new sites.'],
        [{ max_sites: 0 }, 'The host has no room.'],
        [{ datacenters: 'elsewhere' }, `The host does not serve the datacenter ${api.config.datacenters[0]?.code}.`],
        [{ facts: JSON.stringify({ hasWasm: false }) }, noPhp],
        [{ facts: JSON.stringify(refused) }, noPhp],
        ...(dialect === 'postgres' ? [[{ seen_at: 0 }, 'The host does not report.'] as [object, string]] : []),
      ]
      for (const [values, reason] of unfit) {
        await change(values)
        expect(await reasons()).toEqual([here, ['far', reason]])
        const asked = [await refusal({ host: 'far' }), await refusal()]
        expect([values, asked]).toEqual([
          values,
          [
            [400, 'host_unfit'],
            [503, 'no_host'],
          ],
        ])
        await change({ state: 'active', max_sites: 9, datacenters: '', facts: '{}', seen_at: Date.UTC(2100, 0) })
      }
    })

    test('while the site moves, and for others than the operator', async () => {
      await move()
      expect(await refusal()).toEqual([400, 'relocation_open'])
      const stranger = await api.person('stranger@example.com')
      expect((await stranger.call('POST', `/v1/sites/${site}/relocate`, {})).status).toBe(403)
    })
  })
})
