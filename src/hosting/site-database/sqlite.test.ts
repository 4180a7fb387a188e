import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PhpRuntime } from '../php/runtime.ts'
import { SiteUnavailable } from './site-database.ts'
import { sqliteDatabase } from './sqlite.ts'
import { watchSites } from './watch-sites.ts'

let directory: string
let file: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stead-lost-'))
  file = join(directory, 'private/database/site.sqlite')
  await mkdir(join(directory, 'private/database'), { recursive: true })
  make()
})
afterEach(() => rm(directory, { recursive: true, force: true }))

function make(): void {
  const database = new DatabaseSync(file)
  database.exec('create table wp_options (a)')
  database.close()
}

describe('faults of a site’s database', () => {
  test.each<[string, string | undefined, string | undefined, () => Promise<unknown> | unknown]>([
    ['nothing', undefined, undefined, () => {}],
    ['it is missing', 'its database file is missing', 'its database file is missing', () => rm(file)],
    ['it is empty', 'its database file is empty', 'its database file is empty', () => truncate(file)],
    ['it is something else', undefined, 'its database file is damaged', () => writeFile(file, 'x'.repeat(5000))],
    ['the home is gone', 'its folder is missing', 'its folder is missing', () => rm(directory, { recursive: true })],
    [
      'it is a link',
      undefined,
      'its database file is damaged',
      () =>
        rm(file)
          .then(() => writeFile(`${file}.real`, 'x'.repeat(5000)))
          .then(() => symlink(`${file}.real`, file)),
    ],
  ])('%s', async (_what, glanced, inspected, spoil) => {
    await spoil()
    expect(sqliteDatabase.glance(directory)).toBe(glanced)
    expect(sqliteDatabase.inspect(directory)).toBe(inspected)
  })
})

test('reports a lost site once, starts no PHP for it, and serves it again when it is back', async () => {
  const told: unknown[] = []
  const quiet = { error() {}, info() {} }
  const watch = watchSites({ database: sqliteDatabase, onLost: (...loss) => told.push(loss), log: quiet })
  let started = 0
  const runtime = watch.guard({ start: async () => void started++ } as unknown as PhpRuntime)
  const site = { siteId: 5, siteDirectory: directory, corePath: '', phpVersion: '8.3' as const, uid: null, address: '' }
  watch.check(site)
  await runtime.start(site)
  expect([started, watch.lost()]).toEqual([1, 0])
  await writeFile(file, 'x'.repeat(5000))
  await expect(runtime.start(site)).rejects.toThrow(SiteUnavailable)
  for (let n = 0; n < 3; n++) expect(() => watch.check(site)).toThrow(SiteUnavailable)
  expect(told).toEqual([[5, 'its database file is damaged']])
  expect([started, watch.lost()]).toEqual([1, 1])
  await rm(file)
  make()
  watch.check(site)
  await runtime.start(site)
  expect([started, watch.lost()]).toEqual([2, 0])
})
