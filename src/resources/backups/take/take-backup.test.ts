/** Tests of running backups, and of what sites of a release share. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { type TestBackups, testBackups } from '../../../backups/backup-store.fixture.ts'
import { BackupDamaged } from '../../../backups/backup-store.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import { coreOwner, siteOwner, TRUST_MS } from '../backup.ts'
import { backupIn, nameIn, store } from '../backups.fixture.ts'
import { type FakeContent, fakeContent } from '../content.fixture.ts'
import { copyAhead, forgetUnfinished } from '../restore/undo-point.ts'
import { keepCore, verifyCore } from './keep-core.ts'
import { takeBackup } from './take-backup.ts'

let api: TestApi
let host: FakeHost
let owner: Person
let site: number
let content: FakeContent
const opened: TestBackups[] = []

beforeEach(async () => {
  api = await testApi('sqlite')
  host = await fakeHost(api)
  owner = await api.person('owner@example.com')
  site = await api.site(owner, 'growing')
  await host.giveDirectory(site)
  content = fakeContent()
})
afterEach(async () => {
  await host.close()
  await api.close()
  for (const each of opened.splice(0)) await each.close()
})

const { signal } = new AbortController()
const open = async (folder?: string) => {
  const made = await testBackups({ ...(folder && { folder }) })
  opened.push(made)
  return made
}

const releaseOf = async () => {
  const { siteDirectories } = host.services
  const directory = (await siteDirectories.ofSite(site)) as SiteDirectory
  return { version: '6.8', corePath: siteDirectories.corePath(directory), signal }
}

/** Changes a byte of each pack. */
async function damage({ storage }: TestBackups, owner: string): Promise<void> {
  for (const { name } of await storage.list(`${owner}/packs/`)) {
    const bytes = (await storage.get(name)) as Buffer
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
    await storage.put(name, bytes)
  }
}

test('estimates the remaining work again for a site that has grown since its last backup', async () => {
  content.files = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`f${n}`, `${n}`.repeat(1000)]))
  const said: [number, number][] = []
  await takeBackup(
    { ...host.services, ...content },
    {
      ...{ siteId: site, name: 'b1-grown', kind: 'fs', estimatedBytes: 1500, signal },
      progress: (done, total) => said.push([done, total]),
    },
  )
  const half = said.find(([done]) => done >= 10_000)
  expect(half?.[1]).toBe(20_000)
  expect(said.at(-1)).toEqual([20_000, 20_000])
})

test('leaves the files of a release to a control, and says if that cannot get them', async () => {
  content.files = { 'a.txt': 'a' }
  const asked: string[] = []
  const take = (name: string, warning?: string) => {
    const storeCore = async (version: string) => {
      asked.push(version)
      return warning
    }
    const services = { ...host.services, ...content, storeCore }
    return takeBackup(services, { siteId: site, name, kind: 'fs', signal })
  }
  expect(await take('b1-own')).not.toHaveProperty('warning')
  expect((await take('b2-own', 'No WordPress here')).warning).toBe('No WordPress here')
  expect(asked).toEqual(['6.8', '6.8'])
  expect(await host.services.backups.repository(coreOwner('6.8')).list()).toEqual([])
})

test('reads back files of a release from a process that died before a site reuses them', async () => {
  const release = await releaseOf()
  const before = await open()
  await keepCore(before.backups, release)
  await damage(before, coreOwner('6.8'))
  const { backups } = await open(before.folder)
  await keepCore(backups, { ...release, trustMs: TRUST_MS.scheduled })
  await verifyCore(backups, '6.8', signal)
})

test('a backup that trusts nothing finds damaged files of a release, and writes them again', async () => {
  const release = await releaseOf()
  const own = await open()
  await keepCore(own.backups, release)
  await damage(own, coreOwner('6.8'))
  await keepCore(own.backups, { ...release, trustMs: TRUST_MS.scheduled })
  await expect(verifyCore(own.backups, '6.8', signal)).rejects.toThrow(BackupDamaged)
  await keepCore(own.backups, { ...release, trustMs: TRUST_MS.scheduled })
  await verifyCore(own.backups, '6.8', signal)
  await damage(own, coreOwner('6.8'))
  await keepCore(own.backups, release)
  await verifyCore(own.backups, '6.8', signal)
})

test.each(['fs', 'db'] as const)('a %s backup is complete despite damaged packs in the storage', async (kind) => {
  const own = await open()
  const services = { ...host.services, ...content, backups: own.backups }
  const order = { siteId: site, kind, signal }
  await takeBackup(services, { ...order, name: 'b1-before' })
  await damage(own, siteOwner(site))
  await takeBackup(services, { ...order, name: 'b2-after' })
  const repository = own.backups.repository(siteOwner(site))
  for (const name of ['b2-after', 'b1-before']) await repository.verify(name)
})

test('removes an incomplete undo point with everything written of it, and keeps complete ones', async () => {
  const { database, backups } = api
  const operation = { type: 'test.any', runner: 'host', state: 'failed', input: '{}', cancel_requested: 0 } as const
  const times = { attempts: 1, progress: 0, run_at: 1, created_at: 1, finished_at: 2 }
  const made = await database.transaction((tx) =>
    tx
      .insertInto('operations')
      .values({ ...operation, ...times, account_id: owner.accountId })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  const point = async (isWhole: boolean) => {
    const id = await backupIn(api, site, { origin: 'undo' })
    await store(api, site, id)
    const state = isWhole ? 'completed' : 'creating'
    await database.transaction((tx) =>
      tx.updateTable('backups').set({ operation_id: made.id, state }).where('id', '=', id).execute(),
    )
    return id
  }
  const [whole, begun] = [await point(true), await point(false)]
  const names = [await nameIn(api, whole), await nameIn(api, begun)]
  const context = { services: host.services, operationId: made.id, transaction: database.transaction }
  // That of the other kind may be written at this moment.
  await forgetUnfinished(context as never, site, 'fs')
  expect(await database.read.selectFrom('backups').select('id').execute()).toHaveLength(2)
  await forgetUnfinished(context as never, site)
  expect((await database.read.selectFrom('backups').select('id').execute()).map(({ id }) => id)).toEqual([whole])
  expect((await backups.repository(siteOwner(site)).list()).map(({ name }) => name)).toEqual([names[0]])
})

test('writes the copy ahead of a restore again when it, or what it reuses, is damaged', async () => {
  const own = await open()
  const directory = { siteId: site, siteDirectory: '', uid: 0 }
  const order = { content: directory, operationId: 7, signal, onProgress: () => {} }
  const services = { ...host.services, ...content, backups: own.backups }
  await copyAhead(services, order)
  await damage(own, siteOwner(site))
  await copyAhead(services, order)
  const repository = own.backups.repository(siteOwner(site))
  await repository.verify('ahead-7')
  await damage(own, siteOwner(site))
  await copyAhead(services, { ...order, operationId: 8 })
  await repository.verify('ahead-8')
})
