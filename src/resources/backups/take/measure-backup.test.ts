import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../../test/support/api.ts'
import { archiveBytes } from '../../../backups/archive/archive.ts'
import { ArchiveLengths, PIECE } from '../../../backups/archive/archive-lengths.ts'
import { Bzip2Threads } from '../../../backups/archive/bzip2-threads.ts'
import { tarBytes, treeBytes } from '../../../backups/archive/tar.ts'
import { type TestBackups, testBackups } from '../../../backups/backup-store.fixture.ts'
import { findBackup } from '../backup.store.ts'
import { type Backup, CORE_BACKUP, coreOwner, siteOwner } from '../backup.ts'
import { backupIn, file, nameIn } from '../backups.fixture.ts'
import { loadLengths } from '../download/archive-lengths.store.ts'
import { archiveOf, knownLengths } from '../download/archive-of.ts'
import { measureBackup } from './measure-backup.ts'

/** Compresses to three blocks. Random noise would take a second for each block. */
const text = Buffer.from(Array.from({ length: 100_000 }, (_, line) => `${line ** 2}`.padStart(15, ' ')).join('\n'))
const { signal } = new AbortController()
const progress = () => {}

let stored: TestBackups
let api: TestApi
let site: number
beforeAll(async () => {
  stored = await testBackups()
  api = await testApi('sqlite', { backups: stored.backups })
  site = await api.site(await api.person('owner@example.com'), 'measured')
  const core = Readable.from([file('wp-includes/large.php', text)])
  await api.backups.repository(coreOwner('6.8')).writeTree(core, { name: CORE_BACKUP })
})
afterAll(async () => {
  await api.close()
  await stored.close()
})

const backUp = async (content: string): Promise<Backup> => {
  const id = await backupIn(api, site, { kind: 'fs' })
  const own = Readable.from([file('index.php', Buffer.from(content))])
  await api.backups.repository(siteOwner(site)).writeTree(own, { name: await nameIn(api, id) })
  return (await findBackup(api.database.read, site, id)) as Backup
}
const services = () => ({ backups: api.backups, database: api.database, pool: { servesVisitors: () => false } })
/** Returns the length of its archive when it is created from scratch. */
const made = async (backup: Backup): Promise<number> => {
  const { sources } = await archiveOf(api.backups, backup)
  const threads = new Bzip2Threads(1)
  let bytes = 0
  for await (const piece of archiveBytes(sources, 0, { lengths: new ArchiveLengths(), threads, signal }))
    bytes += piece.length
  await threads.close()
  return bytes
}

test('reports the exact size of a download, even if another backup has already measured the core', async () => {
  const [first, second] = [await backUp('one'), await backUp('two, which is longer')]
  const lengthOf = (backup: Backup) => measureBackup(services(), backup, { signal, progress })
  expect(await lengthOf(first)).toBe(await made(first))
  const archive = await archiveOf(api.backups, second)
  const coreBytes = await treeBytes(archive.sources.slice(0, 1))
  expect((await knownLengths(api.database.read, second.id, archive)).count).toBe(Math.floor(coreBytes / PIECE))
  expect(await lengthOf(second)).toBe(await made(second))
  expect(await findBackup(api.database.read, site, second.id)).toMatchObject({ archiveBytes: await made(second) })
})

test('measures a core again that was stored again', async () => {
  const backup = await backUp('three')
  const archive = await archiveOf(api.backups, backup)
  const other = { ...archive, core: `${archive.core} and later` }
  expect((await knownLengths(api.database.read, backup.id, other)).count).toBe(0)
})

test('has no length if it takes too long, but keeps what it learned', async () => {
  const backup = await backUp('four')
  expect(await measureBackup(services(), backup, { signal, progress, mostMs: 0 })).toBeNull()
  expect((await findBackup(api.database.read, site, backup.id))?.archiveBytes).toBeNull()
  expect((await loadLengths(api.database.read, backup.id)).count).toBeGreaterThanOrEqual(0)
  const gone = AbortSignal.abort(new Error('it was canceled'))
  await expect(measureBackup(services(), backup, { signal: gone, progress })).rejects.toThrow('it was canceled')
})

test('trees are as long as their tar, without its end', async () => {
  const { sources } = await archiveOf(api.backups, await backUp('five'))
  let bytes = 0
  for await (const piece of tarBytes(sources)) bytes += piece.length
  expect(await treeBytes(sources)).toBe(bytes - 1024)
})
