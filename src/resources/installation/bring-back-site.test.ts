/**
 * Tests of recovering a site whose directory is gone from its backups, and the release that it ran on if it exists
 * nowhere else.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../test/support/fake-host.ts'
import type { SourceEntry } from '../../backups/backup-store.ts'
import type { SourceTask } from '../../hosting/core-library/core-source.ts'
import type { Log } from '../../platform/log/log.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import type { Worker } from '../../platform/operations/worker/worker.ts'
import { type BackupKind, CORE_BACKUP, coreOwner, siteOwner } from '../backups/backup.ts'
import { backupIn, nameIn } from '../backups/backups.fixture.ts'
import { keptCore } from '../backups/public.ts'
import { takeBackup } from '../backups/take/take-backup.ts'
import type { HostServices } from '../kit/host-services.ts'
import { recoverSite } from './recover-site.job.ts'

let api: TestApi
let host: FakeHost
let worker: Worker | undefined
let owner: Person
let site: number
let directory: string
let logged: { msg: string; backup?: number }[]

beforeEach(async () => {
  api = await testApi('sqlite')
  host = await fakeHost(api)
  owner = await api.person('owner@example.com')
  site = await api.site(owner, 'lost')
  directory = await host.giveDirectory(site)
  logged = []
})
afterEach(async () => {
  await worker?.stop(5000)
  await host.close()
  await api.close()
})

const { signal } = new AbortController()
const fileOf = (path: string) => join(directory, 'web', path)
const write = (path: string, text: string) => writeFile(fileOf(path), text)
const read = (path: string) => readFileSync(fileOf(path), 'utf8')

/**
 * Backs up the site.
 * @param ago seconds since it was taken
 */
async function backUp(kind: BackupKind, ago: number): Promise<number> {
  const id = await backupIn(api, site, { kind, takenAt: Date.now() - ago * 1000 })
  await takeBackup(host.services, { siteId: site, name: await nameIn(api, id), kind, signal })
  return id
}
/** Removes its content from the storage. */
const lose = async (id: number) => api.backups.repository(siteOwner(site)).remove(await nameIn(api, id))

async function recover(services: Partial<HostServices> = {}) {
  const given = { ...host.services, ...services } as HostServices
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) }) as Log
  worker = startWorker(api.database, [{ ...recoverSite, backoff: { firstMs: 1, mostMs: 1 } }], {
    ...{ runner: 'host', hostId: host.hostId, services: given, lookEveryMs: 20, log },
  })
  const id = await api.database.transaction((tx) =>
    enqueue(tx, recoverSite, { siteId: site }, { siteId: site, accountId: owner.accountId, hostId: host.hostId }),
  )
  return ended(api.database, id)
}
const activity = async () =>
  (await api.database.read.selectFrom('activity').select('message').where('site_id', '=', site).execute())
    .map(({ message }) => message)
    .filter((message) => /Recovering|recovered/.test(message))

test('logs the name of a lost backup, and uses the one before it, of files and of the database', async () => {
  await write('page.txt', 'older')
  host.setTitle(directory, 'older')
  await backUp('fs', 200)
  await backUp('db', 200)
  await write('page.txt', 'newest')
  host.setTitle(directory, 'newest')
  const newest = [await backUp('fs', 100), await backUp('db', 100)]
  await lose(newest[0] as number)
  await lose(newest[1] as number)
  await rm(directory, { recursive: true })
  const fetched: string[] = []
  const ensureCore = async (version: string) => void fetched.push(version)
  expect(await recover({ ensureCore })).toMatchObject({ state: 'succeeded', error: null })
  expect([read('page.txt'), host.title(directory), fetched]).toEqual(['older', 'older', ['6.8']])
  // No leftovers of the replaced content remain next to it.
  expect(readdirSync(join(directory, 'private/database')).filter((name) => !/-(wal|shm)$/.test(name))).toEqual([
    'site.sqlite',
  ])
  expect(logged.map(({ msg, backup }) => [msg, backup])).toEqual([
    ["a backup of a site's files is unusable", newest[0]],
    ["a backup of a site's database is unusable", newest[1]],
  ])
  expect(await activity()).toEqual(['The site was recovered from its backups after a restore of Stead.'])
  expect(host.held.has(site)).toBe(false)
})

test('fails, says so, and reopens without a backup of its database', async () => {
  await backUp('fs', 100)
  await rm(directory, { recursive: true })
  const says = 'The site has no usable backup of its database'
  expect(await recover()).toMatchObject({ state: 'failed', error: says })
  expect(await activity()).toEqual([`Recovering the site from its backups failed: ${says}.`])
})

test('does not use an older backup when the storage is away', async () => {
  await write('page.txt', 'older')
  await backUp('fs', 200)
  await backUp('fs', 100)
  await rm(directory, { recursive: true })
  const { siteFiles } = host.services
  const prepare = async () => {
    throw new Error('the storage is away')
  }
  const broken = Object.assign(Object.create(siteFiles), { prepare })
  expect(await recover({ siteFiles: broken })).toMatchObject({ state: 'failed', error: 'the storage is away' })
  expect(logged.filter(({ msg }) => msg.includes('cannot be used'))).toEqual([])
})

test('gives a site of another release the files of its own at the top of the web root, and keeps its configuration', async () => {
  const core = host.services.siteDirectories.corePath({ coreVersion: '6.8' })
  await writeFile(join(core, 'index.php'), '<?php // of 6.8')
  await writeFile(join(core, 'wp-config.php'), '<?php // nobody’s')
  await write('index.php', '<?php // of 6.7')
  await write('own.php', 'its own')
  await write('wp-config.php', "<?php define('AUTH_KEY', 'its own');")
  const id = await backUp('fs', 100)
  await backUp('db', 100)
  await api.database.transaction((tx) =>
    tx.updateTable('backups').set({ core_version: '6.7' }).where('id', '=', id).execute(),
  )
  await rm(directory, { recursive: true })
  expect(await recover()).toMatchObject({ state: 'succeeded', error: null })
  expect([read('index.php'), read('own.php')]).toEqual(['<?php // of 6.8', 'its own'])
  expect(read('wp-config.php')).toContain("define('AUTH_KEY', 'its own');")
})

test('leaves a site whose directory exists unchanged', async () => {
  await write('page.txt', 'as it is')
  const fetched: string[] = []
  const ensureCore = async (version: string) => void fetched.push(version)
  expect(await recover({ ensureCore })).toMatchObject({ state: 'succeeded' })
  expect([read('page.txt'), await activity(), host.disconnected, fetched]).toEqual(['as it is', [], [], []])
})

test('unpacks a release that backups contain, with its unshared files from another, and refuses one that none contains', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stead-kept-'))
  const like = join(folder, 'like')
  await mkdir(join(like, 'wp-includes'), { recursive: true })
  await mkdir(join(like, 'wp-content/themes'), { recursive: true })
  await writeFile(join(like, 'wp-includes/version.php'), 'of another')
  await writeFile(join(like, 'wp-content/themes/style.css'), 'theme')
  await writeFile(join(like, 'index.php'), '<?php')
  const entry = (path: string, content?: string): SourceEntry =>
    content === undefined
      ? { kind: 'folder', path, mode: 0o755, mtimeMs: 1 }
      : {
          ...{ kind: 'file', path, mode: 0o644, mtimeMs: 1, sizeBytes: content.length, stamp: '1' },
          open: async () => Readable.from([Buffer.from(content)]),
        }
  const entries = [
    ...[entry('wp-admin'), entry('wp-admin/css'), entry('wp-admin/css/a.css', 'a {}')],
    ...[entry('wp-includes'), entry('wp-includes/version.php', 'of 5.9')],
  ]
  await api.backups.repository(coreOwner('5.9')).writeTree(Readable.from(entries), { name: CORE_BACKUP })
  const source = keptCore({ backups: api.backups, template: async () => ({ corePath: like }) })
  const task = (asked = signal) => ({ workDir: folder, signal: asked, report() {} }) as SourceTask
  await expect(source.find('5.8', task())).rejects.toThrow('no backup contains a site with this version')
  const into = join(folder, 'into')
  const found = await source.find('5.9', task())
  expect(found.version).toBe('5.9')
  await found.unpack(into)
  expect(readdirSync(into).sort()).toEqual(['index.php', 'wp-admin', 'wp-content', 'wp-includes'])
  expect(readFileSync(join(into, 'wp-includes/version.php'), 'utf8')).toBe('of 5.9')
  expect(readFileSync(join(into, 'wp-admin/css/a.css'), 'utf8')).toBe('a {}')
  expect(readFileSync(join(into, 'wp-content/themes/style.css'), 'utf8')).toBe('theme')
  const ended = await source.find('5.9', task(AbortSignal.abort(new Error('asked to end'))))
  await expect(ended.unpack(join(folder, 'other'))).rejects.toThrow('asked to end')
  expect(existsSync(join(folder, 'other/index.php'))).toBe(false)
  expect([await source.versions(task()), await source.identity()]).toEqual([[], 'backups'])
  await rm(folder, { recursive: true })
})
