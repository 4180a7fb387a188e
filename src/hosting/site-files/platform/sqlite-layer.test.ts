import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { layPlatformFiles, renewPlatformFiles } from './lay-out-directory.ts'
import { databaseDropIn, sqlitePlugin } from './platform-files.ts'
import { layerMark, layerNumber, unpackLayer } from './sqlite-layer.ts'
import { applyHunks, parsePatch } from './unified-patch.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-layer-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('the layer is upstream’s release with all of our patches, with the same times on each copy', async () => {
  for (const name of ['a', 'b']) {
    await mkdir(join(folder, name))
    await unpackLayer(join(folder, name))
  }
  const path = 'wp-includes/database/sqlite/class-wp-mysql-on-sqlite.php'
  expect(readFileSync(join(folder, 'a', path), 'utf8')).toContain('use Stead_MySQL_Nodes;')
  expect(existsSync(join(folder, 'a/wp-includes/database/stead/trait-stead-mysql-nodes.php'))).toBe(true)
  expect(readFileSync(join(folder, 'a', layerMark), 'utf8')).toBe(await layerNumber())
  expect((await stat(join(folder, 'a', path))).mtimeMs).toBe((await stat(join(folder, 'b', path))).mtimeMs)
})

const patch = `Why.

--- a/x.php
+++ b/x.php
@@ -2,2 +2,3 @@
 two
-three
+drei
+vier
@@ -5 +6 @@
-five
+fünf
`

test('a patch makes its changes, and fails when the file has other content', () => {
  const [file] = parsePatch(patch)
  if (!file) throw new Error('no file')
  expect(applyHunks('one\ntwo\nthree\nfour\nfive\n', file)).toBe('one\ntwo\ndrei\nvier\nfour\nfünf\n')
  expect(() => applyHunks('one\ntwo\nthree \nfour\nfive\n', file)).toThrow('does not fit x.php, line 3')
  expect(() => applyHunks('new\none\ntwo\nthree\nfour\nfive\n', file)).toThrow('does not fit')
  expect(() => parsePatch('--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n one\n')).toThrow('cut off')
  expect(() => parsePatch('nothing')).toThrow('changes no file')
})

const laid = (path: string) => join(folder, 'home/web', path)
const markOf = () => readFile(laid(join(sqlitePlugin, layerMark)), 'utf8')
const renew = (failed: unknown[] = []) =>
  renewPlatformFiles([{ path: join(folder, 'home'), uid: null }], join(folder, 'making'), (_directory, error) =>
    failed.push(error),
  )

test('renews an older or interrupted plugin, and adds none to a site directory without the drop-in', async () => {
  await mkdir(laid(sqlitePlugin), { recursive: true })
  await renew()
  expect(existsSync(laid(join(sqlitePlugin, layerMark)))).toBe(false)

  await writeFile(laid(databaseDropIn), 'old')
  await writeFile(laid(join(sqlitePlugin, 'load.php')), 'old')
  const failed: unknown[] = []
  await renew(failed)
  expect(failed).toEqual([])
  expect(await markOf()).toBe(await layerNumber())
  expect(readFileSync(laid(databaseDropIn), 'utf8')).toContain("__DIR__ . '/mu-plugins/sqlite-database-integration'")
  expect(readFileSync(laid(join(sqlitePlugin, 'load.php')), 'utf8')).not.toBe('old')
  expect(existsSync(join(folder, 'making'))).toBe(false)

  // The plugin is current, so nothing is written again.
  await writeFile(laid(join(sqlitePlugin, 'load.php')), 'untouched')
  await renew()
  expect(readFileSync(laid(join(sqlitePlugin, 'load.php')), 'utf8')).toBe('untouched')

  // Simulates a power failure between removing the old folder and moving the new one there.
  await rm(laid(sqlitePlugin), { recursive: true })
  await renew()
  expect(await markOf()).toBe(await layerNumber())
})

test('replaces the drop-in in one step, even when a folder has its name', async () => {
  await mkdir(join(folder, 'from/web/wp-content'), { recursive: true })
  await writeFile(join(folder, 'from/web', databaseDropIn), 'new')
  await mkdir(laid(databaseDropIn), { recursive: true })
  await layPlatformFiles(join(folder, 'home'), join(folder, 'from'), null)
  expect(readFileSync(laid(databaseDropIn), 'utf8')).toBe('new')
})
