import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { usableFolder } from './usable-folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'usable-'))
})
afterEach(() => rm(folder, { recursive: true }))

const use = (path: string) => usableFolder(path, 0o700, 'STEAD_BACKUP_DIR')

test('creates a folder with those above it, also twice at once', async () => {
  const path = join(folder, 'a/b/c')
  await Promise.all([use(path), use(path)])
  expect((await stat(path)).mode & 0o777).toBe(0o700)
})

test('refuses a file, and a path below one', async () => {
  await writeFile(join(folder, 'file'), '')
  await expect(use(join(folder, 'file'))).rejects.toThrow('is a file. Choose another with STEAD_BACKUP_DIR')
  await expect(use(join(folder, 'file/below'))).rejects.toThrow('is below a path that is not a folder')
})

test.skipIf(!existsSync('/proc/self'))('refuses a place where no folder can be created', async () => {
  await expect(use('/proc/stead-backups/a')).rejects.toThrow(/^The folder \/proc\/stead-backups\/a (cannot|is not)/)
})
