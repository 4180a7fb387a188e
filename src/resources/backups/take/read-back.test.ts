/** Tests of reading back written backups, and of what it finds. */
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestBackups, testBackups } from '../../../backups/backup-store.fixture.ts'
import { BackupDamaged, type BackupRepository, type SourceEntry } from '../../../backups/backup-store.ts'
import { fakeContent } from '../content.fixture.ts'
import { lookThrough } from '../restore/restore-content.ts'
import { orRemove, readBack } from './read-back.ts'

let opened: TestBackups
let repository: BackupRepository
beforeEach(async () => {
  opened = await testBackups()
  repository = opened.backups.repository('site-1')
})
afterEach(() => opened.close())

const { signal } = new AbortController()
/** Returns the number of objects that a sweep removes a day later. */
const marks = async () => (await opened.storage.list('site-1/marks/')).length
const dump = async (name: string, text: string) => {
  await repository.writeStream(Readable.from([Buffer.from(text)]), { name })
}

test('removes a backup that differs from what was written with what only it needs, and keeps it after any other error', async () => {
  await dump('b1', `one ${'x'.repeat(3000)}`)
  await expect(
    orRemove(repository, { name: 'b1', signal }, async () => {
      throw new Error('the storage is away')
    }),
  ).rejects.toThrow('away')
  expect([(await repository.list()).length, await marks()]).toEqual([1, 0])
  await expect(
    orRemove(repository, { name: 'b1', signal }, async () => {
      throw new BackupDamaged('chunk 12 is lost')
    }),
  ).rejects.toThrow('chunk 12')
  expect([(await repository.list()).length, await marks()]).toEqual([0, 1])
})

test('reads a dump to its last line, and does not take files for one', async () => {
  await dump('b1', fakeContent().dump)
  await readBack(repository, { name: 'b1', kind: 'db', signal })
  await dump('b2', fakeContent().dump.slice(0, -20))
  await expect(readBack(repository, { name: 'b2', kind: 'db', signal })).rejects.toThrow('Backup b2 is incomplete')
  await repository.writeTree(Readable.from([file('a.txt', 'no dump')]), { name: 'b3' })
  await readBack(repository, { name: 'b3', kind: 'fs', signal })
})

const file = (path: string, content: string): SourceEntry => ({
  ...{ kind: 'file', path, mode: 0o644, mtimeMs: 1, sizeBytes: content.length, stamp: '1' },
  open: async () => Readable.from([Buffer.from(content)]),
})
const folder = (path: string): SourceEntry => ({ kind: 'folder', path, mode: 0o755, mtimeMs: 1 })

test('scanning files counts what was requested, and names a missing part', async () => {
  const entries = [folder('a'), file('a/one.txt', '1234'), file('wp-config.php', 'x'), file('wp.txt', '12')]
  await repository.writeTree(Readable.from(entries), { name: 'b1' })
  expect(await lookThrough(repository, 'b1', { signal })).toEqual({ bytes: 7, hasConfig: true })
  expect(await lookThrough(repository, 'b1', { paths: ['a', 'wp.txt'], signal })).toEqual({ bytes: 6, hasConfig: true })
  const missing = lookThrough(repository, 'b1', { paths: ['a/one.txt', 'wp'], signal })
  await expect(missing).rejects.toThrow('The file backup does not contain wp')
  await repository.writeTree(Readable.from([folder('wp-config.php'), file('b.txt', '1')]), { name: 'b2' })
  expect(await lookThrough(repository, 'b2', { signal })).toEqual({ bytes: 1, hasConfig: false })
  await expect(lookThrough(repository, 'b2', { signal: AbortSignal.abort(new Error('asked to end')) })).rejects.toThrow(
    'asked to end',
  )
})
