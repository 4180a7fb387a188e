import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { SiteFiles } from '../site-files.ts'
import { withFault } from '../stage/cut-off.fixture.ts'
import { anyTree, newDirectory, readTree, sorted, writeTree } from '../trees.fixture.ts'
import { CopyTree, type CopyTreeOptions } from './copy-tree.ts'

const plain = { quotaOf: async () => undefined, keepFreeBytes: 0 }
const files = new SiteFiles(plain)
const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0

let from: Awaited<ReturnType<typeof newDirectory>>
let to: Awaited<ReturnType<typeof newDirectory>>
beforeEach(async () => {
  from = await newDirectory()
  to = await newDirectory()
})
afterEach(() => execFileSync('rm', ['-rf', from.siteDirectory, to.siteDirectory]))

/** Copies without a thread. */
async function copyHere(options: CopyTreeOptions): Promise<void> {
  const copy = new CopyTree(options)
  while (copy.next());
}
const here = new SiteFiles({ ...plain, copy: copyHere })

const copyTo = (target: string) =>
  copyHere({
    ...{ from: from.web, to: target, uid: null },
    room: { folder: to.siteDirectory, keepFreeBytes: 0, quota: undefined, usage: { bytes: 0, files: 0 } },
  })

test('copies any tree as it is: names, contents, links, modes, times', async () => {
  let number = 0
  await fc.assert(
    fc.asyncProperty(anyTree, async (tree) => {
      const web = join(from.siteDirectory, `web${++number}`)
      await rename(from.web, web).catch(() => {})
      await mkdir(from.web)
      writeTree(from.web, tree)
      const target = join(to.siteDirectory, `copy${number}`)
      await copyTo(target)
      expect(sorted(readTree(target))).toEqual(sorted(readTree(from.web)))
    }),
    { numRuns: 50 },
  )
})

test('copies a file again that changes during the copy', async () => {
  const file = join(from.web, 'f')
  await writeFile(file, 'old')
  const real = fs.copyFileSync
  let copies = 0
  fs.copyFileSync = (...given) => {
    real(...given)
    if (++copies === 1) writeFileSync(file, 'a newer one')
  }
  syncBuiltinESMExports()
  try {
    await copyTo(join(to.siteDirectory, 'copy'))
  } finally {
    fs.copyFileSync = real
    syncBuiltinESMExports()
  }
  expect(readFileSync(join(to.siteDirectory, 'copy/f'), 'utf8')).toBe('a newer one')
})

test('replaces the web root, with empty folders for the core, and without entries that a walk leaves out', async () => {
  await mkdir(join(from.web, 'wp-includes'))
  await writeFile(join(from.web, 'wp-includes/x.php'), 'of no site')
  await writeFile(join(from.web, 'index.php'), 'text')
  await symlink('/etc/passwd', join(from.web, 'out'))
  await writeFile(join(to.web, 'old'), 'old')
  const { mode } = lstatSync(to.web)
  const done: number[] = []
  await files.copy(from, to, { onProgress: (bytes) => done.push(bytes) })
  expect(readdirSync(to.web, { recursive: true }).sort()).toEqual(['index.php', 'wp-admin', 'wp-includes'])
  expect(lstatSync(to.web).mode).toBe(mode)
  expect(done.at(-1)).toBe(4)
  expect(readdirSync(to.siteDirectory).sort()).toEqual(['private', 'web'])
  await files.copy(from, to)
  expect(readFileSync(join(to.web, 'index.php'), 'utf8')).toBe('text')
})

test.skipIf(!isLinuxRoot)('gives all files to the owner of the new site directory', async () => {
  const uid = 54_321
  await mkdir(join(from.web, 'd'))
  await writeFile(join(from.web, 'd/f'), 'text', { mode: 0o640 })
  await symlink('d', join(from.web, 'l'))
  execFileSync('chown', ['-h', `${uid}:${uid}`, to.web])
  await files.copy(from, { ...to, uid })
  for (const path of ['', 'd', 'd/f', 'l', 'wp-admin', 'wp-includes'])
    expect(lstatSync(join(to.web, path)), path).toMatchObject({ uid, gid: uid })
  expect(lstatSync(join(to.web, 'd/f')).mode & 0o7777).toBe(0o640)
})

test('completes an interrupted copy in the next attempt, and leaves no site directory without a web root', async () => {
  await mkdir(join(from.web, 'd'))
  await writeFile(join(from.web, 'd/f'), 'text')
  await writeFile(join(to.web, 'old'), 'old')
  for (let at = 1; ; at++) {
    const isStruck = await withFault({ at, kind: 'cut off' }, () => here.copy(from, to))
    await here.copy(from, to)
    expect(readdirSync(to.web, { recursive: true }).sort()).toEqual(['d', 'd/f', 'wp-admin', 'wp-includes'])
    expect(readdirSync(to.siteDirectory).sort()).toEqual(['private', 'web'])
    if (!isStruck) return expect(at).toBeGreaterThan(15)
  }
})

describe('room', () => {
  test('counts a file that is all hole by its length, and leaves the site as it was when the disk is full', async () => {
    await writeFile(join(from.web, 'hole'), '')
    await truncate(join(from.web, 'hole'), 50 << 20)
    await writeFile(join(to.web, 'old'), 'old')
    const limited = new SiteFiles({ ...plain, quotaOf: async () => ({ bytes: 10 << 20, files: 1000 }) })
    await expect(limited.copy(from, to)).rejects.toThrow(DiskFull)
    const full = new SiteFiles({ ...plain, keepFreeBytes: Number.MAX_SAFE_INTEGER })
    await expect(full.copy(from, to)).rejects.toThrow(/disk of the host is full/)
    expect(readdirSync(to.web)).toEqual(['old'])
    expect(readdirSync(to.siteDirectory).sort()).toEqual(['private', 'web'])
  })

  test('leaves the site as it was after an abort', async () => {
    await writeFile(join(to.web, 'old'), 'old')
    await expect(files.copy(from, to, { signal: AbortSignal.abort(new Error('given up')) })).rejects.toThrow('given up')
    expect(readdirSync(to.web)).toEqual(['old'])
  })
})

// Another process writes, appends, removes, and swaps, like a running site. Each file repeats one letter, so that a
// torn one is noticed.
const WRITER = `
  const fs = require('node:fs'); process.chdir(process.argv[1]); let round = 0
  const letter = () => String.fromCharCode(97 + (round++ % 26))
  fs.mkdirSync('d'); process.stdout.write('ready')
  for (;;) {
    fs.writeFileSync('new', letter().repeat(5000)); fs.renameSync('new', 'whole')
    fs.mkdirSync('d/e', { recursive: true }); fs.writeFileSync('d/e/f', letter().repeat(100)); fs.appendFileSync('log', 'x')
    fs.rmSync('d', { recursive: true }); fs.symlinkSync('/etc', 'd'); fs.unlinkSync('d'); fs.mkdirSync('d')
  }`

test.skipIf(process.platform !== 'linux')('copies a site that keeps writing, and nothing from outside it', async () => {
  const writer = spawn(process.execPath, ['-e', WRITER, from.web], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(writer.stdout, 'data')
    for (let round = 0; round < 100; round++) await copyTo(join(to.siteDirectory, `copy${round}`))
  } finally {
    writer.kill('SIGKILL')
    await once(writer, 'exit')
  }
  const names = new Set<string>()
  for (let round = 0; round < 100; round++)
    for (const [path, thing] of readTree(join(to.siteDirectory, `copy${round}`))) {
      names.add(path)
      if (path === 'whole') expect(thing.kind === 'file' && new Set(thing.text).size).toBe(1)
    }
  expect([...names].filter((name) => !['d', 'd/e', 'd/e/f', 'log', 'new', 'whole'].includes(name))).toEqual([])
  expect(names).toContain('whole')
})
