import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { measureTree } from './disk-usage.ts'
import { removeTree } from './remove-tree.ts'

const run = promisify(execFile)
const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0
const nobody = 65_534
let base: string
let tree: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'stead-remove-'))
  tree = join(base, 'h1')
  await mkdir(join(tree, 'web'), { recursive: true })
})
afterEach(() => run('rm', ['-rf', base]))

/** Creates nested folders: `levels` of them, each with a name of 200 bytes and a file next to it. */
async function dig(at: string, levels: number): Promise<void> {
  const code = `process.chdir(process.argv[1]); const fs = require('node:fs')
    for (let i = 0; i < ${levels}; i++) { const name = 'd'.repeat(200); fs.mkdirSync(name); fs.writeFileSync('f', 'x'); process.chdir(name) }`
  await run(process.execPath, ['-e', code, at])
}

/**
 * Removes a tree as a user that is not root.
 * @returns the error's text
 */
async function removeAs(uid: number, path: string): Promise<string> {
  const copy = join(base, 'remove-tree.ts')
  await writeFile(copy, await readFile(join(import.meta.dirname, 'remove-tree.ts')))
  await chmod(base, 0o755)
  const code = `const { removeTree } = await import(process.argv[1]); await removeTree(process.argv[2]).then(() => {}, (error) => console.log(error.message))`
  const words = ['--no-warnings', '--input-type=module', '-e', code, copy, path]
  return (await run(process.execPath, words, { uid, gid: uid, cwd: '/' })).stdout.trim()
}

describe.skipIf(process.platform !== 'linux')('anything a site can put in its folder', () => {
  test('measures and removes a tree that is deeper than the longest path', async () => {
    await dig(join(tree, 'web'), 300)
    expect((await measureTree(tree)).files).toBeGreaterThanOrEqual(600)
    await expect(rm(tree, { recursive: true, force: true })).rejects.toThrow(/ENAMETOOLONG/)
    await removeTree(tree)
    expect(await readdir(base)).toEqual([])
  })

  test('removes names that are not valid text, and names like those of folders that were moved up', async () => {
    const odd = Buffer.concat([Buffer.from(`${tree}/web/`), Buffer.from([0xff, 0xfe, 0x0a])])
    await mkdir(odd)
    await writeFile(Buffer.concat([odd, Buffer.from([0x2f, 0x80])]), 'x')
    await mkdir(join(tree, 'moved-0/a/b/c'), { recursive: true })
    await mkdir(join(tree, 'web/moved-1/a/b'), { recursive: true })
    await writeFile(join(tree, 'moved-2'), 'x')
    await removeTree(tree)
    expect(await readdir(base)).toEqual([])
  })

  test('removes links, and keeps their targets', async () => {
    await mkdir(join(base, 'outside/kept'), { recursive: true })
    await writeFile(join(base, 'outside/kept/file'), 'kept')
    await symlink(join(base, 'outside'), join(tree, 'web/link'))
    await symlink(join(base, 'outside/kept/file'), join(tree, 'file-link'))
    await symlink(join(base, 'outside'), join(base, 'h2'))
    await removeTree(tree)
    await removeTree(join(base, 'h2'))
    await removeTree(join(base, 'never-was'))
    expect(await readdir(base)).toEqual(['outside'])
    expect(await readFile(join(base, 'outside/kept/file'), 'utf8')).toBe('kept')
  })

  test('removes 5,000 files in one folder and 500 folders with content', async () => {
    const code = `process.chdir(process.argv[1]); const fs = require('node:fs')
      for (let i = 0; i < 5000; i++) fs.writeFileSync('f' + i, ''); for (let i = 0; i < 500; i++) fs.mkdirSync('d' + i + '/sub', { recursive: true })`
    await run(process.execPath, ['-e', code, join(tree, 'web')])
    await removeTree(tree)
    expect(await readdir(base)).toEqual([])
  })

  test('completes a removal that was killed midway', async () => {
    await dig(join(tree, 'web'), 100)
    await mkdir(join(tree, 'web/many'))
    for (let i = 0; i < 200; i++) await mkdir(join(tree, `web/many/${i}/a/b`), { recursive: true })
    const code = `const { removeTree } = await import(process.argv[1]); process.stdout.write('begun'); await removeTree(process.argv[2])`
    const words = [
      '--no-warnings',
      '--input-type=module',
      '-e',
      code,
      join(import.meta.dirname, 'remove-tree.ts'),
      tree,
    ]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    while (existsSync(join(tree, 'web')) && child.exitCode === null) await new Promise(setImmediate)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await removeTree(tree)
    expect(await readdir(base)).toEqual([])
  })

  test('removes a folder while a process keeps writing there for a while, and swaps folders for links to others', async () => {
    await mkdir(join(base, 'outside'))
    for (let i = 0; i < 50; i++) await writeFile(join(base, `outside/${i}`), 'kept')
    const code = `process.chdir(process.argv[1]); const fs = require('node:fs'); const outside = process.argv[2]
      const quietly = (work) => { try { work() } catch {} }
      process.stdout.write('begun')
      for (let i = 0; i < 4000; i++) {
        for (const folder of ['web', 'web/a', 'web/a/b', 'web/a/b/c']) quietly(() => fs.mkdirSync(folder))
        quietly(() => fs.writeFileSync('web/a/b/f' + i, 'x'))
        quietly(() => fs.renameSync('web/a/b', 'web/a/away')); quietly(() => fs.symlinkSync(outside, 'web/a/b'))
        quietly(() => fs.unlinkSync('web/a/b'))
      }`
    const writer = spawn(process.execPath, ['-e', code, tree, join(base, 'outside')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(writer.stdout, 'data')
    await removeTree(tree)
    if (writer.exitCode === null) await once(writer, 'exit')
    await removeTree(tree)
    expect(await readdir(base)).toEqual(['outside'])
    expect(await readdir(join(base, 'outside'))).toHaveLength(50)
  })

  test('removes a folder while a process keeps adding entries, and replaces folders with links', async () => {
    const code = `process.chdir(process.argv[1]); const fs = require('node:fs')
      const quietly = (work) => { try { work() } catch {} }
      process.stdout.write('begun')
      const end = Date.now() + 1500
      while (Date.now() < end) {
        quietly(() => fs.mkdirSync('again')); quietly(() => fs.mkdirSync('again/below'))
        quietly(() => fs.rmdirSync('again/below')); quietly(() => fs.rmdirSync('again'))
        quietly(() => fs.symlinkSync('nowhere', 'again')); quietly(() => fs.unlinkSync('again'))
      }`
    const writer = spawn(process.execPath, ['-e', code, tree], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(writer.stdout, 'data')
    await removeTree(tree)
    if (writer.exitCode === null) await once(writer, 'exit')
    expect(await readdir(base)).toEqual([])
  })

  test.skipIf(!isLinuxRoot)('removes folders without any permission, as a user that is not root', async () => {
    await mkdir(join(tree, 'web/shut/inner'), { recursive: true })
    await writeFile(join(tree, 'web/shut/inner/file'), 'x')
    await run('chown', ['-R', `${nobody}:${nobody}`, tree])
    for (const path of ['web/shut/inner', 'web/shut', 'web', '.']) await chmod(join(tree, path), 0)
    await chown(base, nobody, nobody)
    expect(await removeAs(nobody, tree)).toBe('')
    expect(existsSync(tree)).toBe(false)
  })

  test.skipIf(!isLinuxRoot)('reports what the system refuses to remove without a path', async () => {
    await mkdir(join(tree, 'web/of-another/inner'), { recursive: true })
    await chown(tree, nobody, nobody)
    await chown(join(tree, 'web'), nobody, nobody)
    expect(await removeAs(nobody, tree)).toBe('Files could not be removed (EACCES)')
    await removeTree(tree)
    expect(existsSync(tree)).toBe(false)
  })
})
