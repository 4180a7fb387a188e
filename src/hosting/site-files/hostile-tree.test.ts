/** Runs each operation on a site's files against one folder that holds everything a hostile site can put there. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestBackups, testBackups } from '../../backups/backup-store.fixture.ts'
import type { BackupRepository } from '../../backups/backup-store.ts'
import { measureTree } from './disk-usage.ts'
import type { LeftOut, WantedEntry } from './file-content.ts'
import { removeTree } from './remove-tree.ts'
import { ALL } from './scope.ts'
import { SiteFiles } from './site-files.ts'
import { newDirectory, walkHere } from './trees.fixture.ts'

const MB = 1 << 20
const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0
const FILES = 3000
const LEVELS = 300
const MANY_LEVELS = 4000
const options = { quotaOf: async () => undefined, keepFreeBytes: 0, granularityMs: 0, walk: walkHere }
const files = new SiteFiles(options)

type SiteDirectory = Awaited<ReturnType<typeof newDirectory>>
let hostile: SiteDirectory
let other: SiteDirectory
let store: TestBackups
let servers: Server[]
beforeEach(async () => {
  hostile = await newDirectory()
  other = await newDirectory()
  store = await testBackups()
  servers = []
})
afterEach(async () => {
  for (const each of servers) each.close()
  await store.close()
  execFileSync('rm', ['-rf', hostile.siteDirectory, other.siteDirectory])
})

/** Fills the web root of a site directory with hostile entries. */
async function makeHostile({ web: at }: SiteDirectory, levels = LEVELS): Promise<void> {
  const script = `const fs = require('node:fs'); process.chdir(process.argv[1])
    for (let i = 0; i < ${FILES}; i++) fs.writeFileSync('many-' + i, 'x')
    fs.mkdirSync('deep'); process.chdir('deep')
    for (let i = 0; i < ${levels}; i++) { fs.mkdirSync('d'); process.chdir('d') }`
  execFileSync(process.execPath, ['-e', script, at])
  // 255 bytes that are not UTF-8, as a file and as a folder.
  const odd = (byte: number) => Buffer.concat([Buffer.from(`${at}/`), Buffer.alloc(255, byte)])
  await writeFile(odd(0xff), 'x')
  await mkdir(odd(0xfe))
  await writeFile(Buffer.concat([odd(0xfe), Buffer.from([0x2f, 0x80, 0x0a])]), 'x')
  await writeFile(join(at, '-rf --no-preserve-root'), 'x')
  await writeFile(join(at, 'two\nlines'), 'x')
  execFileSync('mkfifo', [join(at, 'fifo')])
  const server = createServer().listen(join(at, 'socket'))
  servers.push(server)
  await once(server, 'listening')
  if (isLinuxRoot) execFileSync('mknod', [join(at, 'device'), 'c', '1', '5'])
  await writeFile(join(at, 'becomes-root'), '#!/bin/sh')
  await chmod(join(at, 'becomes-root'), 0o6755)
  execFileSync('ln', [join(at, 'many-0'), join(at, 'hard')])
  execFileSync('ln', ['-s', '/etc', join(at, 'out')])
  await mkdir(join(at, 'shut'))
  await writeFile(join(at, 'shut/inner'), 'x')
  await chmod(join(at, 'shut/inner'), 0)
  await chmod(join(at, 'shut'), 0)
}

async function* stored(repository: BackupRepository, name: string): AsyncGenerator<WantedEntry> {
  for await (const entry of repository.entries(name))
    if (entry.kind !== 'file') yield entry
    else yield { ...entry, open: async () => repository.readFile(entry) }
}

/** Checks the files that another site must have after receiving these. */
function isWhatCanBe({ web }: SiteDirectory): void {
  const names = readdirSync(web).filter((name) => !/^many-|^wp-/.test(name))
  expect(names.sort()).toEqual(['-rf --no-preserve-root', 'becomes-root', 'deep', 'hard', 'shut', 'two\nlines'].sort())
  expect(readdirSync(web).filter((name) => name.startsWith('many-'))).toHaveLength(FILES)
  expect(lstatSync(join(web, 'becomes-root')).mode & 0o7000).toBe(0)
  // A file with two names becomes two files.
  expect(lstatSync(join(web, 'hard')).nlink).toBe(1)
  expect(readFileSync(join(web, 'hard'), 'utf8')).toBe('x')
}

describe.skipIf(!isLinuxRoot)('a folder with everything a hostile site can put there', () => {
  test('is backed up without entries that no site needs, and restored elsewhere without harm', async () => {
    await makeHostile(hostile)
    const repository = store.backups.repository('site-1')
    const left: LeftOut[] = []
    const entries = files.walk(hostile, { onLeftOut: (each) => left.push(each) })
    await repository.writeTree(entries, { name: 'b1' })
    expect(new Set(left.map(({ why }) => why))).toEqual(new Set(['kind', 'link', 'name', 'depth']))
    expect(left.filter(({ why }) => why === 'kind').map(({ path }) => path)).toEqual(['device', 'fifo', 'socket'])
    await files.prepare(other, stored(repository, 'b1'), { scope: ALL })
    await files.switch(other)
    await files.cleanUp(other)
    isWhatCanBe(other)
  })

  test('is cloned to another site without harmful entries', async () => {
    await makeHostile(hostile)
    await files.copy(hostile, other)
    isWhatCanBe(other)
  })

  test('does not block a restore: wanted entries arrive, and the old ones are removed with everything in them', async () => {
    await makeHostile(hostile)
    const file = { kind: 'file', mode: 0o644, mtimeMs: 1000, sizeBytes: 2, stamp: 'of the backup' } as const
    const open = async () =>
      (async function* () {
        yield Buffer.from('ok')
      })()
    const paths = ['deep', 'device', 'fifo', 'index.php', 'out', 'shut', 'socket']
    const wanted = async function* (): AsyncGenerator<WantedEntry> {
      for (const path of paths) yield { ...file, path, open }
    }
    await files.prepare(hostile, wanted(), { scope: ALL })
    await files.switch(hostile)
    await files.cleanUp(hostile)
    for (const path of paths) expect(readFileSync(join(hostile.web, path), 'utf8')).toBe('ok')
    expect(lstatSync('/dev/zero').isCharacterDevice()).toBe(true)
    expect((await readdir(hostile.siteDirectory)).sort()).toEqual(['private', 'web'])
    // Names that are not valid text are out of reach of any change, so they stay.
    const rest = (await readdir(hostile.web, { encoding: 'buffer' })).filter((name) => name.length === 255)
    expect(rest).toHaveLength(2)
  })

  test('is measured, and is deleted with the site', async () => {
    await makeHostile(hostile, MANY_LEVELS)
    expect((await measureTree(hostile.siteDirectory)).files).toBeGreaterThan(FILES + MANY_LEVELS)
    await removeTree(hostile.siteDirectory)
    await expect(readdir(hostile.siteDirectory)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('files that are longer than the disk space they take', () => {
  const quota = 2 * MB
  const limited = new SiteFiles({ ...options, quotaOf: async () => ({ bytes: quota, files: 1000 }) })
  const walked = () => Array.fromAsync(limited.walk(hostile))

  test('a backup or a sync reads neither a hole of 8 TB nor a thousand smaller ones', async () => {
    writeFileSync(join(hostile.web, 'hole'), '')
    truncateSync(join(hostile.web, 'hole'), 8 * 2 ** 40)
    await expect(walked()).rejects.toThrow('much longer than what they take of the disk')
    await rm(join(hostile.web, 'hole'))
    for (let n = 0; n < 1000; n++) {
      writeFileSync(join(hostile.web, `hole-${n}`), '')
      truncateSync(join(hostile.web, `hole-${n}`), MB)
    }
    await expect(walked()).rejects.toThrow('much longer than what they take of the disk')
  })

  test('counts one file with many names once on the disk, and once for each name when it is read', async () => {
    writeFileSync(join(hostile.web, 'a'), Buffer.alloc(MB, 'x'))
    for (let n = 0; n < 20; n++) execFileSync('ln', [join(hostile.web, 'a'), join(hostile.web, `a${n}`)])
    await expect(walked()).rejects.toThrow('much longer than what they take of the disk')
  })

  test('reads a site that is over its quota and really takes that space', async () => {
    for (let n = 0; n < 10; n++) writeFileSync(join(hostile.web, `${n}`), Buffer.alloc(MB, 'x'))
    expect(await walked()).toHaveLength(10)
  })

  test('a restore works with any content, because it does not read the files that it removes', async () => {
    writeFileSync(join(hostile.web, 'hole'), '')
    truncateSync(join(hostile.web, 'hole'), 8 * 2 ** 40)
    await limited.prepare(hostile, (async function* () {})(), { scope: ALL })
    await limited.switch(hostile)
    await limited.cleanUp(hostile)
    expect(await readdir(hostile.web)).toEqual([])
  })
})
