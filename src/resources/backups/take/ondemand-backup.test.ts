import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type Reply, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { type TestBackups, testBackups } from '../../../backups/backup-store.fixture.ts'
import { BackupDamaged, type BackupRepository } from '../../../backups/backup-store.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { ended, gate, startWorker, until } from '../../../platform/operations/harness.ts'
import { deleteTimes, scheduledDeleteTime, siteOwner } from '../backup.ts'
import { backupIn, nameIn, store } from '../backups.fixture.ts'
import { type FakeContent, fakeContent } from '../content.fixture.ts'
import { deleteBackupJob } from './delete-backup.job.ts'
import { measureDownload } from './measure-backup.job.ts'
import { takeBackupJob } from './take-backup.job.ts'

const DAY_MS = 86_400_000
const backoff = { firstMs: 5, mostMs: 5 }

describe('how long backups are kept', () => {
  const at = (...days: number[]) => days.map((day, index) => ({ id: index + 1, completedAt: day * DAY_MS }))
  const kept = (...days: number[]) =>
    Object.fromEntries(deleteTimes(at(...days)).map(({ id, deleteAt }) => [id, deleteAt / DAY_MS]))

  test('the newest stays for 30 days, an older one for 7 days after the next one, and never longer than 30', () => {
    expect(kept()).toEqual({})
    expect(kept(10)).toEqual({ 1: 40 })
    expect(kept(1, 2, 3)).toEqual({ 1: 9, 2: 10, 3: 33 })
    // In any order, including two completed at the same time.
    expect(kept(3, 1, 3)).toEqual({ 1: 10, 2: 10, 3: 33 })
    // Almost expired: the next one removes nothing at once, and extends nothing.
    expect(kept(0, 20)).toEqual({ 1: 27, 2: 50 })
    expect(kept(0, 28)).toEqual({ 1: 30, 2: 58 })
  })

  test('scheduled ones stay for 30 days if files or the first database of a day, otherwise for 7', () => {
    expect(scheduledDeleteTime('fs', 0, false)).toBe(30 * DAY_MS)
    expect(scheduledDeleteTime('db', 0, false)).toBe(7 * DAY_MS)
    expect(scheduledDeleteTime('db', 0, true)).toBe(30 * DAY_MS)
  })
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`on-demand backups on ${dialect}`, () => {
    let stored: TestBackups
    let api: TestApi
    let host: FakeHost
    let owner: Person
    let site: number
    let content: FakeContent
    let stop: () => Promise<void>
    let repository: BackupRepository

    beforeEach(async () => {
      stored = await testBackups()
      api = await testApi(dialect, { backups: stored.backups })
      host = await fakeHost(api)
      owner = await api.person('owner@example.com')
      site = await api.site(owner, 'backed-up')
      await host.giveDirectory(site)
      content = fakeContent()
      repository = api.backups.repository(siteOwner(site))
      const { siteFiles, siteDatabase } = content
      const services = { ...host.services, siteFiles, siteDatabase }
      const definitions = [takeBackupJob, deleteBackupJob, measureDownload].map((each) => ({ ...each, backoff }))
      const worker = startWorker(api.database, definitions, { runner: 'host', hostId: host.hostId, services })
      stop = () => worker.stop(0)
    })
    afterEach(async () => {
      await stop()
      await host.close()
      await api.close()
      await stored.close()
    })

    const path = (rest = '') => `/v1/sites/${site}/ondemand-backups${rest}`
    const order = (type: string) => owner.call('POST', path(), { backup_type: type })
    const operationOf = ({ headers }: Reply) => Number(headers['operation-id'])
    const end = (reply: Reply) => ended(api.database, operationOf(reply))
    const events = async () =>
      (await api.database.read.selectFrom('events').select(['type', 'data']).orderBy('id').execute())
        .filter(({ type }) => type.startsWith('ondemand'))
        .map(({ type, data }) => [type, JSON.parse(data)])
    const messages = async () =>
      (await api.database.read.selectFrom('activity').select(['action', 'message']).orderBy('id').execute())
        .filter(({ action }) => action.startsWith('backup'))
        .map(({ action, message }) => `${action}: ${message}`)

    test('measures a file backup that completes before it is measured afterwards, in as many rounds as needed', async () => {
      const cutOff = AbortSignal.abort(new Error('the round is over'))
      const { timeout } = AbortSignal
      let rounds = 0
      // Cuts off the step, and the first round after it.
      vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) =>
        ms === 600_000 && ++rounds <= 2 ? cutOff : timeout(ms),
      )
      const ordered = await order('fs')
      expect((await end(ordered)).state).toBe('succeeded')
      const { requestId } = ordered.body.data
      expect((await events()).at(-1)).toMatchObject(['ondemand_backup_created', { bytes: null }])
      const measured = api.database.read.selectFrom('operations').select('id').where('type', '=', 'backup.measure')
      expect((await ended(api.database, (await measured.executeTakeFirstOrThrow()).id)).state).toBe('succeeded')
      vi.mocked(AbortSignal.timeout).mockRestore()
      expect(rounds).toBe(3)
      const { bytes } = (await owner.call('GET', path(`/${requestId}`))).body.data
      const url = path(`/${requestId}/download`)
      const headers = { authorization: `Bearer ${owner.token}` }
      expect(bytes).toBe(String((await api.app.inject({ method: 'GET', url, headers })).rawPayload.length))
    })

    test('with STEAD_MEASURE_BACKUPS=false a file backup has no length, and nothing measures it later', async () => {
      Object.assign(host.services.config, { measureBackups: false })
      const ordered = await order('fs')
      expect((await end(ordered)).state).toBe('succeeded')
      expect((await events()).at(-1)).toMatchObject(['ondemand_backup_created', { bytes: null }])
      const measuring = api.database.read.selectFrom('operations').select('id').where('type', '=', 'backup.measure')
      expect(await measuring.execute()).toEqual([])
    })

    test.each(['fs', 'db'] as const)('yields to visitors of the host: %s', async (type) => {
      const visitors = vi.spyOn(host.services.pool, 'servesVisitors').mockReturnValueOnce(true)
      const opened = gate()
      content.wait = opened.opened
      const ordered = await order(type)
      // Takes long enough to have something to yield for.
      const begun = performance.now()
      await vi.waitUntil(() => performance.now() - begun > 50)
      opened.open()
      expect((await end(ordered)).state).toBe('succeeded')
      expect(visitors).toHaveBeenCalled()
    })

    test('reports what a database backup lacks once, in its operation, in the log and by mail, until it changes', async () => {
      const mails = async () =>
        (await api.database.read.selectFrom('operations').select('input').where('type', '=', 'mail.send').execute())
          .map(({ input }) => JSON.parse(input) as { subject: string; text: string })
          .filter(({ subject }) => subject.includes('warning about'))
      const told = async () => (await messages()).filter((message) => message.startsWith('backup.limited'))
      const take = async (warning: string | undefined) => {
        content.warning = warning
        const reply = await order('db')
        expect((await end(reply)).state).toBe('succeeded')
        return (await owner.call('GET', `/v1/operations/${operationOf(reply)}`)).body.data.steps[0].warning
      }
      const uuid = 'Only MariaDB can restore all of t (column id: uuid)'
      expect(await take(uuid)).toBe(uuid)
      expect(await told()).toEqual([`backup.limited: A database backup was completed with a warning. ${uuid}`])
      expect((await mails())[0]?.text).toContain(uuid)
      await take(uuid)
      expect([(await mails()).length, (await told()).length]).toEqual([1, 1])
      expect(await take(uuid.replace('uuid', 'inet6'))).toContain('inet6')
      // The same subject is mailed once an hour.
      expect([(await mails()).length, (await told()).length]).toEqual([1, 2])
    })

    test('reports what the storage has lost of earlier ones in their titles, in the log and by mail, until it is restored', async () => {
      const titles = async (): Promise<string[]> =>
        (await owner.call('GET', `/v1/sites/${site}/backups/fs`)).body.data.map(({ title }: { title: string }) =>
          title.replace(/of .{16}/, 'of then'),
        )
      const told = async () => (await messages()).filter((message) => message.startsWith('backup.damaged'))
      const take = async () => expect((await end(await order('fs'))).state).toBe('succeeded')
      const lost = { 'lost.jpg': 'x'.repeat(5000) }
      const kept = content.files
      content.files = { ...kept, ...lost }
      await take()
      const [pack] = await stored.storage.list(`${siteOwner(site)}/packs/`)
      content.files = kept
      await stored.storage.remove([pack?.name as string])
      await take()
      expect(await titles()).toEqual(['Files of then (on-demand)', 'Files of then, damaged (on-demand)'])
      expect(await told()).toEqual([
        expect.stringMatching(
          /^backup\.damaged: Backup \d+ cannot be restored completely: the storage lost a part of its list$/,
        ),
      ])
      const mails = await api.database.read
        .selectFrom('operations')
        .select('input')
        .where('type', '=', 'mail.send')
        .execute()
      expect(mails.filter(({ input }) => input.includes('some backups are damaged'))).toHaveLength(1)
      content.files = { ...kept, ...lost }
      await take()
      expect(await titles()).toEqual(Array(3).fill('Files of then (on-demand)'))
      expect(await told()).toHaveLength(1)
    })

    test.each(['fs', 'db'] as const)(
      '200: takes %s, reads it back, finds it by its requestId, and reports it',
      async (type) => {
        const opened = gate()
        content.wait = opened.opened
        const before = Math.floor(Date.now() / 1000)
        const ordered = await order(type)
        expect(ordered.status).toBe(200)
        const { requestId, requested, deleteAt, ...rest } = ordered.body.data
        expect(rest).toEqual({
          id: null,
          siteId: site,
          completed: null,
          status: 'creating',
          type,
          bytes: null,
          backupTimestamp: null,
          createdBy: 'owner (owner@example.com)',
          removedIn: '30 days',
        })
        expect(requested).toBeGreaterThanOrEqual(before)
        expect(deleteAt - requested).toBe(30 * 86_400)
        expect((await owner.call('GET', path(`/${requestId}`))).body.data).toMatchObject({
          id: null,
          status: 'creating',
        })
        expect(await events()).toEqual([])

        opened.open()
        expect((await end(ordered)).state).toBe('succeeded')
        const { data } = (await owner.call('GET', path(`/${requestId}`))).body
        // The size of the download, which for files is an archive with the core.
        const headers = { authorization: `Bearer ${owner.token}` }
        const url = path(`/${requestId}/download`)
        const bytes = (await api.app.inject({ method: 'GET', url, headers })).rawPayload.length
        const head = await api.app.inject({ method: 'HEAD', url, headers })
        expect([head.statusCode, head.headers['content-length']]).toEqual([200, String(bytes)])
        expect(data).toMatchObject({ id: String(requestId), status: 'completed', type, bytes: String(bytes) })
        expect(data.backupTimestamp).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
        expect(data.completed).toBeGreaterThanOrEqual(before)
        expect(data.deleteAt - data.completed).toBe(30 * 86_400)
        expect(data).not.toHaveProperty('requestId')
        expect(await events()).toEqual([
          ['ondemand_backup_created', { id: String(requestId), type, bytes: String(bytes) }],
        ])
        // The stored content is the site's, and can be read again.
        if (type === 'db') {
          const read: Uint8Array[] = []
          for await (const piece of repository.readStream(await nameIn(api, requestId))) read.push(piece)
          expect(Buffer.concat(read).toString()).toBe(content.dump)
          expect(content.closed).toBe(1)
        } else {
          const kept: string[] = []
          for await (const { path } of repository.entries(await nameIn(api, requestId))) kept.push(path)
          expect(kept).toEqual(Object.keys(content.files))
          // Files that all sites of the release share are stored once.
          const shared: string[] = []
          for await (const { path } of api.backups.repository('core-6.8').entries('core')) shared.push(path)
          expect(shared).toEqual([
            'wp-admin',
            'wp-admin/index.php',
            'wp-includes',
            'wp-includes/load.php',
            'wp-includes/version.php',
          ])
        }
      },
    )

    test('400 backup_limit_reached: for the fourth of a type, even when requested at once, and a deletion frees a slot at once', async () => {
      const opened = gate()
      content.wait = opened.opened
      for (let index = 0; index < 2; index++) await backupIn(api, site)
      const both = await Promise.all([order('db'), order('db')])
      expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
      expect(both.find(({ status }) => status === 400)?.body.errors).toEqual([
        'A site can have 3 on-demand backups of type db, and this site has reached the limit. Delete one to create another.',
      ])
      expect((await order('fs')).status).toBe(200)
      const [, , oldest] = (await owner.call('GET', path())).body.data.filter(
        ({ type }: { type: string }) => type === 'db',
      )
      expect((await owner.call('DELETE', path(`/${oldest.id}`))).body.data.status).toBe('deleting')
      expect((await order('db')).status).toBe(200)
      opened.open()
    })

    test('200: a newer one of the type shortens the life of the one before, and its deletion restores it', async () => {
      const first = await backupIn(api, site, { takenAt: Date.now() - DAY_MS })
      const other = await backupIn(api, site, { kind: 'fs' })
      const timeOf = async (id: number) => (await owner.call('GET', path(`/${id}`))).body.data.deleteAt
      const [before, ofOther] = [await timeOf(first), await timeOf(other)]
      const second = await order('db')
      await end(second)
      const id = second.body.data.requestId
      const { completed, deleteAt } = (await owner.call('GET', path(`/${id}`))).body.data
      expect(deleteAt - completed).toBe(30 * 86_400)
      expect((await timeOf(first)) - completed).toBe(7 * 86_400)
      expect((await owner.call('GET', path(`/${first}`))).body.data.removedIn).toBe('7 days')
      expect(await timeOf(other)).toBe(ofOther)
      await end(await owner.call('DELETE', path(`/${id}`)))
      expect(await timeOf(first)).toBe(before)
    })

    test('200: a deleted one is deleting, then gone, also from the storage, and a repeated request is the same deletion', async () => {
      const ordered = await order('db')
      await end(ordered)
      const id = ordered.body.data.requestId
      const hold = await api.database.transaction(async (tx) => {
        // Another operation of the site delays it.
        const values = { type: 'test.hold', runner: 'control' as const, input: '{}', state: 'running' as const }
        const row = {
          host_id: null,
          site_id: site,
          account_id: null,
          source: null,
          ending: null,
          cancel_requested: 0 as const,
        }
        const times = {
          run_at: 0,
          waits_since: null,
          lease_owner: 'me',
          lease_until: 9e15,
          created_at: 0,
          started_at: 1,
        }
        const rest = { attempts: 1, error: null, progress: 0, finished_at: null }
        return tx
          .insertInto('operations')
          .values({ ...values, ...row, ...times, ...rest })
          .returning('id')
          .executeTakeFirstOrThrow()
      })
      const deletion = await owner.call('DELETE', path(`/${id}`))
      expect(deletion.body.data).toMatchObject({ id: String(id), status: 'deleting', removedIn: 'less than a minute' })
      const again = await owner.call('DELETE', path(`/${id}`))
      expect([again.status, again.body.data.status, again.headers['operation-id']]).toEqual([
        200,
        'deleting',
        undefined,
      ])
      expect((await owner.call('GET', `/v1/sites/${site}/backups/db`)).body.data).toEqual([])
      expect((await owner.call('GET', path())).body.data).toHaveLength(1)
      await api.database.transaction((tx) => tx.deleteFrom('operations').where('id', '=', hold.id).execute())
      expect((await end(deletion)).state).toBe('succeeded')
      expect((await owner.call('GET', path(`/${id}`))).status).toBe(404)
      expect(await repository.list()).toEqual([])
      // The content that only it had is marked, and removed a day later, because until then another backup may reuse
      // it.
      expect(await repository.storedBytes()).toBeGreaterThan(0)
      expect(await stored.storage.list(`${siteOwner(site)}/marks/`)).toHaveLength(1)
      expect((await events()).at(-1)).toEqual(['ondemand_backup_deleted', { id: String(id), type: 'db' }])
    })

    test('keeps a backup that the storage fails to delete, and retries an hour later', async () => {
      const ordered = await order('db')
      await end(ordered)
      await stop()
      const remove = async () => {
        throw new PermanentFailure('the storage is away')
      }
      const refusing = (of: string) =>
        new Proxy(api.backups.repository(of), {
          get: (target, name: keyof BackupRepository) =>
            name === 'remove' ? remove : (target[name] as () => unknown).bind(target),
        })
      const services = { ...host.services, backups: { ...api.backups, repository: refusing } }
      const worker = startWorker(api.database, [deleteBackupJob], { runner: 'host', hostId: host.hostId, services })
      stop = () => worker.stop(0)
      const before = Date.now()
      const deletion = await owner.call('DELETE', path(`/${ordered.body.data.requestId}`))
      expect(await end(deletion)).toMatchObject({ state: 'failed', error: 'the storage is away' })
      const row = await api.database.read
        .selectFrom('backups')
        .select(['state', 'error', 'delete_at'])
        .executeTakeFirstOrThrow()
      expect(row).toMatchObject({ state: 'failed', error: 'the storage is away' })
      expect(row.delete_at).toBeGreaterThanOrEqual(before + 3_600_000)
      expect(row.delete_at).toBeLessThan(Date.now() + 3_700_000)
      expect(await repository.list()).toHaveLength(1)
    })

    test('400: for one that is being created, an unknown type, and a site that is not ready yet', async () => {
      const opened = gate()
      content.wait = opened.opened
      const { requestId } = (await order('db')).body.data
      const refused = await owner.call('DELETE', path(`/${requestId}`))
      expect([refused.status, refused.body.message]).toEqual([
        400,
        'The backup is creating. Wait until it is completed.',
      ])
      for (const body of [{}, { backup_type: 'files' }, { backup_type: null }])
        expect((await owner.call('POST', path(), body)).status).toBe(400)
      for (const [state, status] of [
        ['deploying', 400],
        ['cloning', 400],
        ['disabled', 200],
      ] as const) {
        await api.database.transaction((tx) => tx.updateTable('sites').set({ state }).where('id', '=', site).execute())
        expect([state, (await order('fs')).status]).toEqual([state, status])
      }
      opened.open()
    })

    test('canceled in the middle, leaves nothing behind and frees its slot', async () => {
      content.wait = new Promise(() => {})
      const ordered = await order('db')
      const id = operationOf(ordered)
      await until(async () => (await owner.call('GET', `/v1/operations/${id}`)).body.data.state === 'running')
      expect((await owner.call('POST', `/v1/operations/${id}/cancel`)).status).toBe(200)
      expect((await end(ordered)).state).toBe('canceled')
      expect((await owner.call('GET', path())).body.data).toEqual([])
      expect(await repository.list()).toEqual([])
      expect(await messages()).toEqual([expect.stringContaining('backup.created')])
    })

    test('a failed one is in no list and takes no slot, and can be retried after the operation and the log said why', async () => {
      content.fault = new PermanentFailure('The database of the site is lost')
      const ordered = await order('db')
      const files = await order('fs')
      expect(await end(ordered)).toMatchObject({ state: 'failed', error: 'The database of the site is lost' })
      content.fault = undefined
      // The other backups of the site continue.
      expect((await end(files)).state).not.toBe('queued')
      const id = ordered.body.data.requestId
      expect((await owner.call('GET', path(`/${id}`))).status).toBe(404)
      expect(await repository.find(await nameIn(api, id))).toBeUndefined()
      expect(await messages()).toContain(
        `backup.failed: Database backup ${id} failed: The database of the site is lost`,
      )
      const retry = `/v1/operations/${operationOf(ordered)}/retry`
      for (let index = 0; index < 3; index++) await backupIn(api, site)
      expect((await owner.call('POST', retry)).status).toBe(200)
      expect((await end(ordered)).error).toContain('Delete one first')
      await api.database.transaction((tx) => tx.deleteFrom('backups').where('state', '=', 'completed').execute())
      expect((await owner.call('POST', retry)).status).toBe(200)
      expect((await end(ordered)).state).toBe('succeeded')
      expect((await owner.call('GET', path(`/${id}`))).body.data).toMatchObject({ id: String(id), status: 'completed' })
    })

    test('never completes one that differs when it is read back, and writes it again', async () => {
      const verify = repository.verify.bind(repository)
      const damaged: string[] = []
      const damage = (which: BackupRepository): BackupRepository =>
        new Proxy(which, {
          get: (target, name: keyof BackupRepository) =>
            name !== 'verify'
              ? (target[name] as () => unknown).bind(target)
              : async (...given: Parameters<typeof verify>) => {
                  if (damaged.push(given[0]) < 2) throw new BackupDamaged('chunk 12ab is lost')
                  return target.verify(...given)
                },
        })
      await stop()
      const backups = { ...api.backups, repository: (of: string) => damage(api.backups.repository(of)) }
      const { siteFiles, siteDatabase } = content
      const services = { ...host.services, siteFiles, siteDatabase, backups }
      const definitions = [{ ...takeBackupJob, backoff }]
      const worker = startWorker(api.database, definitions, { runner: 'host', hostId: host.hostId, services })
      stop = () => worker.stop(0)
      const ordered = await order('db')
      const operation = await end(ordered)
      expect(operation.state).toBe('succeeded')
      const name = await nameIn(api, ordered.body.data.requestId)
      expect(damaged).toEqual([name, name])
      // The same attempt wrote it a second time.
      expect(content.closed).toBe(1)
      expect((await repository.verify(name)).sizeBytes).toBe(content.dump.length)
    })

    test('treats a number that an outdated control database reuses as another backup', async () => {
      const first = await order('db')
      expect((await end(first)).state).toBe('succeeded')
      const id = first.body.data.requestId
      const before = await nameIn(api, id)
      await api.database.transaction(async (tx) => {
        await tx.deleteFrom('backups').execute()
        await (dialect === 'postgres'
          ? sql`select setval('backups_id_seq', ${id}, false)`
          : sql`update sqlite_sequence set seq = ${id - 1} where name = 'backups'`
        ).execute(tx)
      })
      content.dump = content.dump.replace('-- Dump completed', '-- another\n-- Dump completed')
      const again = await order('db')
      expect((await end(again)).state).toBe('succeeded')
      expect(again.body.data.requestId).toBe(id)
      const name = await nameIn(api, id)
      expect(Buffer.concat(await Array.fromAsync(repository.readStream(name))).toString()).toBe(content.dump)
      expect(new Set((await repository.list()).map((each) => each.name))).toEqual(new Set([before, name]))
    })

    test('reads and removes a backup from before backups had names by its number', async () => {
      const id = await backupIn(api, site)
      await api.database.transaction((tx) =>
        tx.updateTable('backups').set({ name: null }).where('id', '=', id).execute(),
      )
      await store(api, site, id)
      expect((await repository.list()).map(({ name }) => name)).toEqual([`b${id}`])
      const deletion = await owner.call('DELETE', path(`/${id}`))
      expect((await end(deletion)).state).toBe('succeeded')
      expect(await repository.list()).toEqual([])
    })

    test('never completes a dump that ends too early or is not SQL', async () => {
      for (const dump of [content.dump.replace('-- Dump completed\n', ''), `${content.dump}CREATE TABLE (;\n`]) {
        content.dump = dump
        const ordered = await order('db')
        expect(await end(ordered)).toMatchObject({
          state: 'failed',
          error: expect.stringContaining('is incomplete'),
        })
        expect(await repository.list()).toEqual([])
      }
    })
  })
}
