import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../test/support/fake-host.ts'
import { type FileServer, startFileServer } from '../../../test/support/file-server.ts'
import { whileUnderWay } from '../../../test/support/overlap.ts'
import { DiskFull } from '../../hosting/site-directories/disk-space.ts'
import { hostJobs } from '../../jobs.ts'
import { lockForUpdate } from '../../platform/db/database.ts'
import type { Definition } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import type { Worker } from '../../platform/operations/worker/worker.ts'
import { closeSite, openSite } from '../sites/switches/closing.store.ts'
import { siteFilled } from '../sites/wordpress/site-filled.ts'
import { wishFor } from './lay-on-site.ts'
import { changeMuPlugin, dropForgotten, hostForWork, muPluginOfWork } from './mu-plugin.store.ts'
import { FOLDER, MOST_MU_PLUGINS, MOST_PLUGIN_BYTES } from './mu-plugin.ts'

const jobNamed = (name: string) => hostJobs.find((job) => job.name === name) as unknown as Definition
const settings = { STEAD_ALLOW_PRIVATE_FETCH: 'true' }

describe.each(dialects)('must-use plugins on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let host: FakeHost
  let worker: Worker | undefined
  let server: FileServer
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect, { settings })
    host = await fakeHost(api)
    server = await startFileServer()
    server.files.set('/tool.php', '<?php // one')
    owner = await api.person('owner@example.com')
  })
  afterEach(async () => {
    await worker?.stop(5000)
    worker = undefined
    server?.close()
    await host?.close()
    await api?.close()
  })

  const work = () => {
    worker ??= startWorker(api.database, hostJobs as unknown as Definition[], {
      ...{ runner: 'host', hostId: host.hostId, services: host.services as never, lookEveryMs: 30 },
    })
  }
  const site = async (name: string) => {
    const id = await api.site(owner, name)
    await host.giveDirectory(id)
    return id
  }
  const directoryOf = async (id: number) => (await host.services.siteDirectories.ofSite(id))?.path as string
  const place = async (id: number, name = 'tool.php') => join(await directoryOf(id), 'web', FOLDER, name)
  const on = async (id: number, name?: string) => {
    const file = await place(id, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  const put = async (id: number, text: string) => {
    const file = await place(id)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
  }
  const add = (over: object = {}, who = owner) =>
    who.call('POST', '/v1/mu-plugins', {
      ...{ path: `${server.base}/tool.php`, existing_sites: true, future_sites: true },
      ...over,
    })
  const outcomeOf = async (reply: { headers: Record<string, unknown> }) => {
    work()
    const id = Number(reply.headers['operation-id'])
    await ended(api.database, id)
    return (await owner.call('GET', `/v1/operations/${id}`)).body.data
  }
  const outcomes = async (reply: { headers: Record<string, unknown> }) =>
    Object.fromEntries(
      ((await outcomeOf(reply)).results ?? []).map((each: { siteId: number; outcome: string }) => [
        each.siteId,
        each.outcome,
      ]),
    )
  const eventsOf = async () => {
    const rows = await api.database.read.selectFrom('events').selectAll().orderBy('id').execute()
    return rows
      .filter(({ type }) => type.startsWith('mu_plugin'))
      .map(({ type, site_id, data }) => ({ type, site_id, data }))
  }

  test('has the fields of the API description, with the names that each response uses', async () => {
    const added = await add({ future_sites: false })
    const { id } = added.body.data
    const common = { id, created: expect.any(String), path: `${server.base}/tool.php`, slug: 'tool.php' }
    expect(added.body.data).toEqual({ ...common, existing_sites: true, future_sites: false })
    const shown = { ...common, existingSites: true, futureSites: false }
    expect((await owner.call('GET', `/v1/mu-plugins/${id}`)).body.data).toEqual(shown)
    const list = await owner.call('GET', '/v1/mu-plugins')
    expect(list.body).toMatchObject({ data: [shown], page: { totalItems: 1 } })
    const again = await owner.call('PUT', `/v1/mu-plugins/${id}`)
    expect(again.body.data).toEqual(added.body.data)
    const stranger = await api.person('stranger@example.com')
    expect((await stranger.call('GET', '/v1/mu-plugins')).body.data).toEqual([])
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await stranger.call(method, `/v1/mu-plugins/${id}`)).status).toBe(404)
  })

  test.each([
    ['nonsense', 'https URL'],
    ['ftp://example.com/a.php', 'https URL'],
    ['https://me:secret@example.com/a.php', 'user name or password'],
    ['https://example.com/a.zip', 'one .php file'],
    ['https://example.com/', 'one .php file'],
    ['https://example.com/a.php/..%2F..%2Fx.php', 'file name'],
    ['https://example.com/%00.php', 'file name'],
    ['https://example.com/.hidden.php', 'file name'],
    ['https://example.com/a b.php', 'file name'],
    [`https://example.com/${'x'.repeat(101)}.php`, 'file name'],
    ['https://example.com/stead-tools.php', 'Stead uses the file name'],
    ['https://example.com/SQLite-Database-Integration.php', 'Stead uses the file name'],
  ])('refuses the address %s, and starts nothing', async (path, reason) => {
    const reply = await add({ path })
    expect([reply.status, reply.headers['operation-id']]).toEqual([400, undefined])
    expect(reply.body.errors).toEqual([expect.stringContaining(reason)])
    expect((await owner.call('GET', '/v1/mu-plugins')).body.data).toEqual([])
  })

  test('two of one account have different names, ignoring case, and another account may use the same', async () => {
    expect((await add()).status).toBe(200)
    const twice = await add({ path: 'https://example.com/else/Tool.php?x=1' })
    expect([twice.status, twice.body.errors]).toEqual([
      400,
      [expect.stringContaining('has a must-use plugin Tool.php')],
    ])
    expect((await add({}, await api.person('other@example.com'))).status).toBe(200)
  })

  test('limits the number of plugins of an account', async () => {
    const rows = Array.from({ length: MOST_MU_PLUGINS }, (_, index) => ({
      ...{ account_id: owner.accountId, path: 'x', slug: `a${index}.php`, existing_sites: 0, future_sites: 0 },
      ...{ sha256: null, operation_id: null, created_at: 1, deleted_at: null },
    }))
    await api.database.transaction((tx) =>
      tx
        .insertInto('mu_plugins')
        .values(rows as never)
        .execute(),
    )
    const reply = await add()
    expect([reply.status, reply.body.errors]).toEqual([400, [expect.stringContaining('can have 50 must-use plugins')]])
  })

  test('remembers a deleted one as long as a site has it, or its removal is in progress', async () => {
    const has = await site('has-it')
    const insert = (slug: string, values: object) =>
      api.database.transaction(async (tx) => {
        const common = {
          account_id: owner.accountId,
          path: 'x',
          slug,
          existing_sites: 1,
          future_sites: 0,
          created_at: 1,
        }
        const row = { ...common, sha256: null, operation_id: null, deleted_at: 1, ...values }
        return (
          await tx
            .insertInto('mu_plugins')
            .values(row as never)
            .returning('id')
            .executeTakeFirstOrThrow()
        ).id
      })
    const operation = await api.database.transaction((tx) =>
      enqueue(tx, jobNamed('mu_plugin.remove'), { pluginId: 1 }, { hostId: host.hostId }),
    )
    const [onSite, leaving, ending, kept] = [
      await insert('a.php', {}),
      await insert('b.php', { operation_id: operation }),
      await insert('c.php', { operation_id: operation }),
      await insert('d.php', { deleted_at: null }),
    ]
    await insert('e.php', {})
    await api.database.transaction((tx) =>
      tx
        .insertInto('mu_plugin_sites')
        .values({ plugin_id: onSite, site_id: has } as never)
        .execute(),
    )
    const left = async () =>
      (await api.database.read.selectFrom('mu_plugins').select('id').orderBy('id').execute()).map(({ id }) => id)
    await api.database.transaction((tx) => dropForgotten(tx, ending))
    expect(await left()).toEqual([onSite, leaving, kept])
  })

  test('installs on all sites of the account, and no others, then again, then removes it', async () => {
    const [first, second] = [await site('first'), await site('second')]
    const stranger = await api.person('stranger@example.com')
    const theirs = await api.site(stranger, 'theirs')
    await host.giveDirectory(theirs)
    const added = await add()
    expect(await outcomeOf(added)).toMatchObject({ state: 'succeeded', type: 'mu_plugin.install', siteId: null })
    expect(await outcomes(added)).toEqual({ [first]: 'installed', [second]: 'installed' })
    expect([await on(first), await on(second), await on(theirs)]).toEqual(['<?php // one', '<?php // one', undefined])
    server.files.set('/tool.php', '<?php // two')
    const { id } = added.body.data
    const again = await owner.call('PUT', `/v1/mu-plugins/${id}`)
    expect(await outcomes(again)).toEqual({ [first]: 'updated', [second]: 'updated' })
    expect([await on(first), await on(second)]).toEqual(['<?php // two', '<?php // two'])
    expect(await outcomes(await owner.call('PUT', `/v1/mu-plugins/${id}`))).toEqual({
      [first]: 'unchanged',
      [second]: 'unchanged',
    })
    const gone = await owner.call('DELETE', `/v1/mu-plugins/${id}`)
    expect((await owner.call('GET', '/v1/mu-plugins')).body.data).toEqual([])
    expect(await outcomes(gone)).toEqual({ [first]: 'removed', [second]: 'removed' })
    expect([await on(first), await on(second)]).toEqual([undefined, undefined])
    expect(await api.database.read.selectFrom('mu_plugins').selectAll().execute()).toEqual([])
    const told = await eventsOf()
    expect(told.map(({ type, site_id }) => [type, site_id])).toEqual([
      ['mu_plugin_install_success', null],
      ['mu_plugin_update_success', null],
      ['mu_plugin_update_success', null],
      ['mu_plugin_deleted', null],
    ])
    expect(JSON.parse(told[0]?.data as string)).toMatchObject({ id, slug: 'tool.php', sites: { installed: 2 } })
  })

  test('a change purges the pages of the sites that it changes', async () => {
    const id = await site('paged')
    const epoch = async () =>
      (await api.database.read.selectFrom('sites').select('cache_epoch').where('id', '=', id).executeTakeFirstOrThrow())
        .cache_epoch
    const before = await epoch()
    const added = await add()
    await outcomeOf(added)
    expect(await epoch()).toBe(before + 1)
    await outcomeOf(await owner.call('PUT', `/v1/mu-plugins/${added.body.data.id}`))
    expect(await epoch()).toBe(before + 1)
  })

  test('checks with a PHP process that visitors of other sites do not delay', async () => {
    const start = vi.spyOn(host.services.pool, 'startSpare')
    await outcomeOf(await add())
    expect(start).toHaveBeenCalledWith(expect.anything(), { lowPriority: false })
  })

  test.each([
    [
      'PHP that PHP cannot read',
      '<?php broken',
      'PHP 8.3 cannot parse tool.php: syntax error, unexpected token on line 2',
    ],
    ['a page', '<html>not there', 'does not start with <?php'],
    ['a mark of its encoding before PHP', '\ufeff<?php', 'does not start with <?php'],
    ['nothing', 404, 'status 404'],
    ['too much', `<?php //${'x'.repeat(MOST_PLUGIN_BYTES)}`, 'larger than'],
  ] as const)('installs %s on no site, and sites keep what they have', async (_what, file, reason) => {
    const id = await site('kept')
    const added = await add()
    await outcomeOf(added)
    server.files.set('/tool.php', file)
    server.files.set('/other.php', file)
    const plugin = added.body.data.id
    const again = await outcomeOf(await owner.call('PUT', `/v1/mu-plugins/${plugin}`))
    expect(again).toMatchObject({ state: 'failed', error: expect.stringContaining(reason) })
    expect(await on(id)).toBe('<?php // one')
    const other = await outcomeOf(await add({ path: `${server.base}/other.php?token=secret` }))
    expect(other).toMatchObject({ state: 'failed' })
    expect(other.error).not.toContain('secret')
    expect(await on(id, 'other.php')).toBeUndefined()
    const told = (await eventsOf()).slice(1)
    expect(told.map(({ type }) => type)).toEqual(['mu_plugin_update_failed', 'mu_plugin_install_failed'])
    expect(JSON.parse(told[0]?.data as string).reason).toContain(reason.replace(/^tool.php /, ''))
    // None of it counts as the account's.
    const used = api.database.read.selectFrom('mu_plugin_contents').select('sha256').where('used_at', 'is not', null)
    expect(await used.execute()).toHaveLength(1)
    // It is corrected, and fetched again.
    server.files.set('/tool.php', '<?php // three')
    await outcomeOf(await owner.call('PUT', `/v1/mu-plugins/${plugin}`))
    expect(await on(id)).toBe('<?php // three')
  })

  test('installs one that was refused at first with a later PUT', async () => {
    const id = await site('late')
    server.files.set('/tool.php', '<?php broken')
    const added = await add()
    expect(await outcomeOf(added)).toMatchObject({ state: 'failed' })
    server.files.set('/tool.php', '<?php // now')
    expect(await outcomes(await owner.call('PUT', `/v1/mu-plugins/${added.body.data.id}`))).toEqual({
      [id]: 'installed',
    })
  })

  test('does not replace or remove a file of the site’s own, or one that was changed there', async () => {
    const [own, changed] = [await site('own'), await site('changed')]
    await put(own, '<?php // of the site')
    const added = await add()
    const result = await outcomeOf(added)
    expect(await outcomes(added)).toEqual({ [own]: 'skipped', [changed]: 'installed' })
    expect(result.results[0].message).toContain('Delete or rename it')
    expect(result.steps.at(-1).warning).toContain(`Site ${own}`)
    await put(changed, '<?php // by hand')
    server.files.set('/tool.php', '<?php // two')
    const { id } = added.body.data
    expect(await outcomes(await owner.call('PUT', `/v1/mu-plugins/${id}`))).toEqual({
      [own]: 'skipped',
      [changed]: 'skipped',
    })
    rmSync(await place(own))
    expect(await outcomes(await owner.call('PUT', `/v1/mu-plugins/${id}`))).toMatchObject({ [own]: 'installed' })
    expect(await outcomes(await owner.call('DELETE', `/v1/mu-plugins/${id}`))).toEqual({
      [own]: 'removed',
      [changed]: 'kept',
    })
    expect([await on(own), await on(changed)]).toEqual([undefined, '<?php // by hand'])
  })

  test('does not follow links out of a site', async () => {
    const [folder, file] = [await site('linked-folder'), await site('linked-file')]
    const outside = join(await directoryOf(folder), 'outside')
    mkdirSync(outside)
    mkdirSync(join(await directoryOf(folder), 'web/wp-content'), { recursive: true })
    symlinkSync(outside, join(await directoryOf(folder), 'web', FOLDER))
    mkdirSync(join(await directoryOf(file), 'web', FOLDER), { recursive: true })
    writeFileSync(join(outside, 'target.php'), '<?php // not yours')
    symlinkSync(join(outside, 'target.php'), await place(file))
    const added = await add()
    expect(await outcomes(added)).toEqual({ [folder]: 'skipped', [file]: 'skipped' })
    expect(existsSync(join(outside, 'tool.php'))).toBe(false)
    await outcomes(await owner.call('DELETE', `/v1/mu-plugins/${added.body.data.id}`))
    expect(readFileSync(join(outside, 'target.php'), 'utf8')).toBe('<?php // not yours')
  })

  test('gives a new site those for future sites, and a clone those of its source too, before they serve pages', async () => {
    const source = await site('source')
    await outcomeOf(await add({ future_sites: false }))
    server.files.set('/later.php', '<?php // later')
    await outcomeOf(await add({ path: `${server.base}/later.php`, existing_sites: false }))
    expect([await on(source), await on(source, 'later.php')]).toEqual(['<?php // one', undefined])
    const made = await owner.call('POST', '/v1/sites', { name: 'made-later' })
    await outcomeOf(made)
    const fresh = made.body.data.id
    expect([await on(fresh), await on(fresh, 'later.php')]).toEqual([undefined, '<?php // later'])
    await api.database.transaction((tx) =>
      tx
        .updateTable('sites')
        .set({ core_version: '6.8', written_address: 'old.example.com' })
        .where('id', '=', source)
        .execute(),
    )
    const cloned = await owner.call('POST', `/v1/sites/${source}/clone`, { name: 'cloned-later' })
    expect(await outcomeOf(cloned)).toMatchObject({ error: null, state: 'succeeded' })
    const clone = cloned.body.data.id
    expect([await on(clone), await on(clone, 'later.php')]).toEqual(['<?php // one', '<?php // later'])
    server.files.set('/tool.php', '<?php // two')
    const [tool] = (await owner.call('GET', '/v1/mu-plugins')).body.data
    expect(await outcomes(await owner.call('PUT', `/v1/mu-plugins/${tool.id}`))).toEqual({
      [source]: 'updated',
      [clone]: 'updated',
    })
  })

  test('gives a site whose files were restored its plugins again, and none that were deleted since', async () => {
    const id = await site('restored')
    server.files.set('/gone.php', '<?php // gone')
    const gone = await add({ path: `${server.base}/gone.php` })
    await outcomeOf(gone)
    const added = await add()
    await outcomeOf(added)
    server.files.set('/future.php', '<?php // future')
    await outcomeOf(await add({ path: `${server.base}/future.php`, existing_sites: false }))
    server.files.set('/tool.php', '<?php // two')
    await outcomeOf(await owner.call('PUT', `/v1/mu-plugins/${added.body.data.id}`))
    await outcomeOf(await owner.call('DELETE', `/v1/mu-plugins/${gone.body.data.id}`))
    // As in an older backup.
    await put(id, '<?php // one')
    writeFileSync(await place(id, 'gone.php'), '<?php // gone')
    writeFileSync(await place(id, 'own.php'), '<?php // own')
    await siteFilled(host.services, id)
    expect([await on(id), await on(id, 'gone.php'), await on(id, 'own.php')]).toEqual([
      '<?php // two',
      undefined,
      '<?php // own',
    ])
    // It is not a new site.
    expect(await on(id, 'future.php')).toBeUndefined()
  })

  test('updates a site that another operation works on afterwards, in its turn', async () => {
    const id = await site('closed')
    const operation = await api.database.transaction(async (tx) => {
      const values = { type: 'site.restore', runner: 'control', site_id: id, account_id: owner.accountId, input: '{}' }
      const row = {
        ...values,
        state: 'running',
        attempts: 1,
        run_at: 0,
        cancel_requested: 0,
        progress: 0,
        created_at: 1,
      }
      const begun = { ...row, started_at: 1, lease_owner: 'me', lease_until: 9e15 }
      const { id: made } = await tx
        .insertInto('operations')
        .values(begun as never)
        .returning('id')
        .executeTakeFirstOrThrow()
      await closeSite(tx, id, made, 1)
      return made
    })
    const added = await add()
    const { results } = await outcomeOf(added)
    expect(results).toEqual([
      expect.objectContaining({ siteId: id, outcome: 'scheduled', operationId: expect.any(Number) }),
    ])
    expect(await on(id)).toBeUndefined()
    await api.database.transaction(async (tx) => {
      await openSite(tx, id, operation, 2)
      await tx
        .updateTable('operations')
        .set({ state: 'succeeded', finished_at: 2, lease_owner: null, lease_until: null })
        .where('id', '=', operation)
        .execute()
    })
    expect(await ended(api.database, results[0].operationId)).toMatchObject({ state: 'succeeded' })
    expect(await on(id)).toBe('<?php // one')
  })

  test('one site whose files cannot be written does not stop the others, and is retried automatically', async () => {
    const [bad, good] = [await site('bad'), await site('good')]
    const { checkRoom } = host.services.siteFiles
    let faults = 1
    host.services.siteFiles.checkRoom = async (directory, bytes) => {
      if (directory.siteId === bad && faults-- > 0) throw new Error('EIO')
      await checkRoom.call(host.services.siteFiles, directory, bytes)
    }
    const added = await add()
    const { results } = await outcomeOf(added)
    expect(await outcomes(added)).toEqual({ [bad]: 'scheduled', [good]: 'installed' })
    expect(await ended(api.database, results[0].operationId)).toMatchObject({ state: 'succeeded' })
    expect([await on(bad), await on(good)]).toEqual(['<?php // one', '<?php // one'])
  })

  test('installs again on a site whose files are replaced at this moment', async () => {
    const [id, other] = [await site('moved'), await site('quiet')]
    const { checkRoom } = host.services.siteFiles
    const added = await add()
    const operation = Number(added.headers['operation-id'])
    host.services.siteFiles.checkRoom = async (directory, bytes) => {
      await checkRoom.call(host.services.siteFiles, directory, bytes)
      if (directory.siteId !== id) return
      await api.database.transaction((tx) => closeSite(tx, id, operation, 2))
      await api.database.transaction((tx) => openSite(tx, id, operation, 2))
    }
    const { results } = await outcomeOf(added)
    expect(await outcomes(added)).toEqual({ [id]: 'scheduled', [other]: 'installed' })
    expect(await ended(api.database, results[0].operationId)).toMatchObject({ state: 'succeeded' })
  })

  test('a plugin cannot be deleted while its operation decides what its sites should have', async () => {
    const { id } = (await add()).body.data
    const [seen] = await whileUnderWay(
      api.database,
      async (tx) => {
        await lockForUpdate(tx, 'accounts', owner.accountId)
        await changeMuPlugin(tx, id, { deleted_at: 1 })
      },
      [() => api.database.transaction((tx) => muPluginOfWork(tx, id))],
    )
    expect(seen?.isDeleted).toBe(true)
  })

  test('tells a site that has no space for it', async () => {
    const id = await site('full')
    host.services.siteFiles.checkRoom = async () => {
      throw new DiskFull('The site would take 12 MB of disk space, and may have 10 MB')
    }
    const { results } = await outcomeOf(await add())
    expect(results).toEqual([
      expect.objectContaining({ siteId: id, outcome: 'failed', message: expect.stringContaining('10 MB') }),
    ])
    expect(await on(id)).toBeUndefined()
  })

  test('removes nothing when the content was replaced at this moment', () => {
    const gone = { slug: 'a.php', known: new Set('x'), sha256: 'x', content: undefined }
    expect(() => wishFor(gone)).toThrow('was just changed')
  })

  test('the host of a site runs the operation for it', async () => {
    const [here, there] = [await site('here'), await api.site(owner, 'there')]
    const more = await site('here-too')
    const other = await api.database.transaction(async (tx) => {
      const values = {
        name: 'h2',
        address: 'http://127.0.0.1:2',
        datacenters: '',
        max_sites: 9,
        facts: '{}',
        seen_at: 0,
      }
      const { id } = await tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow()
      await tx.updateTable('sites').set({ host_id: id }).where('id', '=', there).execute()
      return id
    })
    const added = await add()
    const { results } = await outcomeOf(added)
    expect(await outcomes(added)).toEqual({ [here]: 'installed', [more]: 'installed', [there]: 'scheduled' })
    const second = await fakeHost(api, { asked: other })
    await second.giveDirectory(there)
    const id = results.find(({ siteId }: { siteId: number }) => siteId === there).operationId
    const elsewhere = startWorker(api.database, hostJobs as unknown as Definition[], {
      ...{ runner: 'host', hostId: other, services: second.services as never, lookEveryMs: 30 },
    })
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
    await elsewhere.stop(5000)
    const path = (await second.services.siteDirectories.ofSite(there))?.path as string
    expect(readFileSync(join(path, 'web', FOLDER, 'tool.php'), 'utf8')).toBe('<?php // one')
    await second.close()
  })

  test('work on a plugin waits for earlier requests', async () => {
    const added = await add()
    const again = await owner.call('PUT', `/v1/mu-plugins/${added.body.data.id}`)
    const waits = await api.database.read.selectFrom('operation_waits').selectAll().execute()
    const ids = [again, added].map(({ headers }) => Number(headers['operation-id']))
    expect(waits).toEqual([{ operation_id: ids[0], for_id: ids[1] }])
  })

  test('the work begins on the host with most of the sites, preferably one that reports', async () => {
    const values = { address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
    const other = await api.database.transaction(async (tx) => {
      const { id } = await tx
        .insertInto('hosts')
        .values({ ...values, name: 'h2' })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    })
    const seen = (at: number) =>
      api.database.transaction((tx) =>
        tx.updateTable('hosts').set({ seen_at: at }).where('id', '=', host.hostId).execute(),
      )
    const begins = () => hostForWork(api.database.read, owner.accountId)
    expect(await begins()).toBe(host.hostId)
    await seen(0)
    const id = await api.site(owner, 'moved')
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ host_id: other }).where('id', '=', id).execute(),
    )
    expect(await begins()).toBe(other)
    await seen(Date.now())
    expect(await begins()).toBe(host.hostId)
  })

  test('deleting one that is still being installed, and adding it again, keeps the last request', async () => {
    const id = await site('hasty')
    const first = await add()
    const gone = await owner.call('DELETE', `/v1/mu-plugins/${first.body.data.id}`)
    server.files.set('/tool.php', '<?php // anew')
    const anew = await add()
    expect(await outcomeOf(first)).toMatchObject({ state: 'canceled' })
    expect(await outcomeOf(gone)).toMatchObject({ state: 'succeeded' })
    expect(await outcomeOf(anew)).toMatchObject({ state: 'succeeded' })
    expect(await on(id)).toBe('<?php // anew')
  })
})
