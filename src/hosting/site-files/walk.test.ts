import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readdirSync } from 'node:fs'
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SourceEntry } from '../../backups/backup-store.ts'
import type { FileScope, LeftOut, WalkOptions } from './file-content.ts'
import { comparePaths, staysInside } from './paths.ts'
import { syncScopes, union } from './scope.ts'
import { SiteFiles } from './site-files.ts'
import { anyTree, newDirectory, readTree, sorted, type Thing, walkHere, writeTree } from './trees.fixture.ts'

const LINUX = process.platform === 'linux'
const plain = { quotaOf: async () => undefined, keepFreeBytes: 0 }
const files = new SiteFiles(plain)
const precise = new SiteFiles({ ...plain, granularityMs: 0, walk: walkHere })

let directory: Awaited<ReturnType<typeof newDirectory>>
let swapper: ChildProcess | undefined
beforeEach(async () => {
  directory = await newDirectory()
})
afterEach(async () => {
  if (swapper && swapper.exitCode === null) {
    swapper.kill('SIGKILL')
    await once(swapper, 'exit')
  }
  swapper = undefined
  execFileSync('rm', ['-rf', directory.siteDirectory])
})

const write = async (path: string, text = path) => {
  await mkdir(join(directory.web, path, '..'), { recursive: true })
  await writeFile(join(directory.web, path), text)
}

async function walk(options: WalkOptions = {}, from = precise): Promise<SourceEntry[]> {
  return Array.fromAsync(from.walk(directory, options))
}

const pathsOf = async (options?: WalkOptions) => (await walk(options)).map(({ path }) => path)

async function textOf(entry: SourceEntry | undefined): Promise<string | undefined> {
  if (entry?.kind !== 'file') throw new Error('no file')
  const content = await entry.open()
  return content && Buffer.concat(await Array.fromAsync(content)).toString()
}

async function leftOut(scope?: FileScope): Promise<LeftOut[]> {
  const found: LeftOut[] = []
  await walk({ onLeftOut: (thing) => found.push(thing), ...(scope && { scope }) })
  return found
}

const asThing = async (entry: SourceEntry): Promise<[string, Thing]> => {
  const { path, kind, mtimeMs } = entry
  if (kind === 'folder') return [path, { kind, mode: entry.mode, mtimeMs }]
  if (kind === 'link') return [path, { kind, mtimeMs, target: entry.target }]
  const text = (await textOf(entry)) ?? 'gone'
  expect(entry.sizeBytes).toBe(Buffer.byteLength(text))
  return [path, { kind, mode: entry.mode, mtimeMs, text }]
}

test('a walk yields all entries, each folder before its content', async () => {
  await fc.assert(
    fc.asyncProperty(anyTree, async (tree) => {
      await rm(directory.web, { recursive: true })
      await mkdir(directory.web)
      writeTree(directory.web, tree)
      expect(await Promise.all((await walk()).map(asThing))).toEqual(sorted(readTree(directory.web)))
    }),
    { numRuns: 50 },
  )
})

test('its thread yields the same, in more than one batch', async () => {
  for (let folder = 0; folder < 4; folder++) {
    await mkdir(join(directory.web, `d${folder}`))
    await Promise.all(
      Array.from({ length: 400 }, (_each, at) => writeFile(join(directory.web, `d${folder}/${at}`), 'x')),
    )
  }
  const names = (entries: SourceEntry[]) => entries.map(({ path }) => path)
  const apart = await walk({}, files)
  expect(names(apart)).toEqual(names(await walk()))
  expect(apart).toHaveLength(1604)
  expect(await textOf(apart.at(-1))).toBe('x')
  expect(await files.size(directory)).toEqual({ bytes: 1600, files: 1600 })
})

test('orders paths by their bytes, a folder together with its content', () => {
  const unit = fc.constantFrom('a', '/', '.', '-', 'é', '😀', '\uffee', '\ue000', '\u0001', '0')
  const text = fc.string({ unit, maxLength: 6 })
  // `/` sorts lower than all other bytes that a path may have.
  const bytes = (path: string) => Buffer.from(path.replaceAll('/', '\0'))
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(comparePaths(a, b))).toBe(Buffer.compare(bytes(a), bytes(b)))
    }),
    { numRuns: 2000 },
  )
})

test('leaves out the core, whatever is in its folders', async () => {
  for (const path of ['index.php', 'wp-admin/index.php', 'wp-includes/a/b.php', 'wp-content/wp-admin/mine.php'])
    await write(path)
  expect(await pathsOf()).toEqual(['index.php', 'wp-content', 'wp-content/wp-admin', 'wp-content/wp-admin/mine.php'])
  expect(await pathsOf({ scope: { paths: ['wp-admin', 'wp-includes/a'] } })).toEqual([])
})

test('walks a scope, without its exceptions and missing paths', async () => {
  for (const path of [
    'wp-config.php',
    'wp-content/themes/t/style.css',
    'wp-content/plugins/p.php',
    'wp-content/languages/de.mo',
  ])
    await write(path)
  for (const path of ['wp-content/uploads/1.jpg', 'wp-content/db.php', 'wp-content/themes.txt', 'own.html'])
    await write(path)
  const named = async (scope: FileScope) => (await pathsOf({ scope })).map((path) => path.split('/').at(-1))
  expect(await named(syncScopes.themes)).toEqual(['themes', 't', 'style.css'])
  expect(await named(syncScopes.content)).toEqual(['wp-content', 'languages', 'de.mo', 'themes.txt'])
  expect(await named(syncScopes.root)).toEqual(['own.html'])
  expect(await named({ paths: ['nowhere', 'own.html', 'own.html/x', 'wp-content/uploads/1.jpg'] })).toEqual([
    'own.html',
    '1.jpg',
  ])
  // In the order of any walk, although wp-content itself is not in scope.
  const { root, themes, uploads } = syncScopes
  await write('z.html')
  expect(await pathsOf({ scope: union([uploads, root, themes]) })).toEqual([
    'own.html',
    'wp-content/themes',
    'wp-content/themes/t',
    'wp-content/themes/t/style.css',
    'wp-content/uploads',
    'wp-content/uploads/1.jpg',
    'z.html',
  ])
  const all = union(Object.values(syncScopes))
  expect((await pathsOf()).filter((path) => !(all.except ?? []).includes(path))).toEqual(await pathsOf({ scope: all }))
  expect(all.except).toEqual([
    'wp-config.php',
    'wp-content/db.php',
    'wp-content/mu-plugins/sqlite-database-integration',
  ])
})

describe('changes during a walk', () => {
  const stampOf = async (from = precise) => {
    const [entry] = await walk({}, from)
    return entry?.kind === 'file' ? entry.stamp : undefined
  }

  test('gives the same stamp to the same content only: any change makes another one, even with the old times restored', async () => {
    await write('f', 'one')
    await utimes(join(directory.web, 'f'), 1, 1)
    const first = await stampOf()
    expect(await stampOf()).toBe(first)
    await write('f', 'two')
    await utimes(join(directory.web, 'f'), 1, 1)
    expect(await stampOf()).not.toBe(first)
  })

  test('gives a file that was changed a moment ago a stamp that never recurs', async () => {
    await write('f', 'one')
    const hesitant = new SiteFiles({ ...plain, granularityMs: 60_000, walk: walkHere })
    expect(await stampOf(hesitant)).not.toBe(await stampOf(hesitant))
  })

  test('leaves out a file that is gone when its turn comes, and stops reading a growing file', async () => {
    for (const path of ['a', 'b', 'c']) await write(path, 'text')
    const [a, b, c] = await walk()
    await rm(join(directory.web, 'a'))
    await rm(join(directory.web, 'b'))
    await mkdir(join(directory.web, 'b'))
    expect([await textOf(a), await textOf(b)]).toEqual([undefined, undefined])
    const content = c?.kind === 'file' ? await c.open() : undefined
    appendFileSync(join(directory.web, 'c'), ' and more')
    expect(Buffer.concat(await Array.fromAsync(content as AsyncIterable<Uint8Array>)).toString()).toBe('text')
  })

  test('ends when it is aborted', async () => {
    await write('f')
    const control = new AbortController()
    const walking = files.walk(directory, { signal: control.signal })
    await walking.next()
    control.abort(new Error('given up'))
    await expect(walking.next()).rejects.toThrow('given up')
    await rm(directory.web, { recursive: true })
    await expect(walk({}, files)).rejects.toThrow()
  })
})

describe.skipIf(!LINUX)('a hostile site’s folder', () => {
  test('leaves out and counts FIFOs, sockets, and links that lead out, and keeps a link that stays inside', async () => {
    await write('sub/file')
    execFileSync('mkfifo', [join(directory.web, 'fifo')])
    for (const [name, target] of [
      ['out', '/etc/passwd'],
      ['up', '../private'],
      ['sub/in', '../sub/file'],
      ['sub/far', '../../private'],
      ['round', 'sub/../../private'],
      ['dangling', 'nowhere'],
    ])
      await symlink(target as string, join(directory.web, name as string))
    expect(await pathsOf()).toEqual(['dangling', 'sub', 'sub/file', 'sub/in'])
    const found = (await leftOut()).map(({ path, why }) => `${path}: ${why}`)
    expect(found.sort()).toEqual(['fifo: kind', 'out: link', 'round: link', 'sub/far: link', 'up: link'])
  })

  test('a chain of links that each keep the rule never leads out', () => {
    expect(staysInside('a/b/c', '../../x')).toBe(true)
    expect(staysInside('a/b/c', '../../../x')).toBe(false)
    // By another link, `a` may be the root: an apparent step back would leave it.
    expect(staysInside('a/b/c', 'x/../../..')).toBe(false)
    expect(staysInside('a', '')).toBe(false)
    expect(staysInside('a', '..')).toBe(false)
    expect(staysInside('a/b', '..')).toBe(true)
  })

  test('leaves out and counts names that are not valid text, and keeps names with any text', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${directory.web}/bad-`), Buffer.from([0xff, 0xfe])]), 'x')
    await writeFile(Buffer.concat([Buffer.from(`${directory.web}/bad-`), Buffer.from([0xfe, 0xff])]), 'x')
    await writeFile(join(directory.web, 'good-\ufffd'), 'x')
    expect(await pathsOf()).toEqual(['good-\ufffd'])
    expect((await leftOut()).map(({ why }) => why)).toEqual(['name'])
  })

  test('stops in trees deeper than the longest path where PHP could not go either', async () => {
    const code = `process.chdir(process.argv[1]); const fs = require('node:fs')
      for (let i = 0; i < 300; i++) { const name = 'd'.repeat(Number(process.argv[2])); fs.mkdirSync(name); fs.writeFileSync('f', 'x'); process.chdir(name) }`
    for (const [name, length] of [
      ['long', 200],
      ['deep', 1],
    ] as const) {
      await mkdir(join(directory.web, name))
      execFileSync(process.execPath, ['-e', code, join(directory.web, name), String(length)])
    }
    const [deep, long] = [await walk({ scope: { paths: ['deep'] } }), await walk({ scope: { paths: ['long'] } })]
    expect(deep).toHaveLength(2 * 199)
    expect(long.length).toBeGreaterThan(35)
    const last = long.findLast(({ kind }) => kind === 'file')
    expect(await textOf(last)).toBe('x')
    expect((await leftOut()).map(({ why }) => why)).toEqual(['depth', 'depth'])
  })

  test('leaves no descriptor open', async () => {
    await write('a/b/c/file')
    const count = () => readdirSync('/proc/self/fd').length
    for (const entry of await walk()) if (entry.kind === 'file') await textOf(entry)
    const before = count()
    for (let round = 0; round < 20; round++) {
      for (const entry of await walk()) if (entry.kind === 'file') await textOf(entry)
      for await (const entry of precise.walk(directory))
        if (entry.kind === 'file') await (await entry.open())?.[Symbol.asyncIterator]().return?.()
    }
    expect(count()).toBeLessThanOrEqual(before + 2)
  })

  test('folders and files that are constantly swapped for links never lead out', async () => {
    await write('sub/page.txt', 'inside')
    await mkdir(join(directory.siteDirectory, 'outside/sub'), { recursive: true })
    for (const path of ['outside/page.txt', 'outside/sub/page.txt'])
      await writeFile(join(directory.siteDirectory, path), 'SECRET')
    swapper = spawn(process.execPath, ['-e', SWAPPER, directory.web, join(directory.siteDirectory, 'outside')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(swapper.stdout as NonNullable<ChildProcess['stdout']>, 'data')
    const seen = new Map<string | undefined, number>()
    for (let round = 0; round < 1500; round++)
      for (const entry of await walk()) {
        const text = entry.kind === 'file' ? await textOf(entry) : entry.kind
        seen.set(text, (seen.get(text) ?? 0) + 1)
      }
    expect(seen.get('SECRET')).toBeUndefined()
    expect(seen.get('inside')).toBeGreaterThan(0)
    expect(seen.get(undefined)).toBeGreaterThan(0)
  })
})

const SWAPPER = `
  const fs = require('node:fs'); const [web, outside] = process.argv.slice(1); process.chdir(web)
  fs.symlinkSync(outside + '/sub', 'link'); fs.symlinkSync(outside + '/page.txt', 'filelink'); fs.writeFileSync('file', 'inside')
  process.stdout.write('ready')
  for (;;) {
    fs.renameSync('sub', 'away'); fs.renameSync('link', 'sub'); fs.renameSync('sub', 'link'); fs.renameSync('away', 'sub')
    fs.renameSync('file', 'faway'); fs.renameSync('filelink', 'file'); fs.renameSync('file', 'filelink'); fs.renameSync('faway', 'file')
  }`

test('opens a file in the current place of its folder, even while the walk runs', async () => {
  for (const path of ['a/1', 'a/2', 'b/1']) await write(path, 'old')
  const texts: (string | undefined)[] = []
  for await (const entry of precise.walk(directory)) {
    if (entry.kind !== 'file') continue
    if (entry.path === 'a/2') {
      await rm(join(directory.web, 'a'), { recursive: true })
      await write('a/2', 'new')
    }
    if (entry.path === 'b/1') await rm(join(directory.web, 'b'), { recursive: true })
    texts.push(await textOf(entry))
  }
  expect(texts).toEqual(['old', 'new', undefined])
})
