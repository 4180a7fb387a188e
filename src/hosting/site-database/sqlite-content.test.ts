import { execFile } from 'node:child_process'
import { chown, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { giveToSite, testUid } from '../../../test/support/site-directory.ts'
import type { SitePlace } from './database-content.ts'
import { SiteUnavailable } from './site-database.ts'
import { createTable, makeSchema } from './sql/plugin-schema.ts'
import { DumpReader } from './sql/read-dump.ts'
import { createSqliteContent } from './sqlite-content.ts'

let folder: string
let directory: SitePlace
let place: string
/** Whether the process had to end, for each time that the site was held. */
let held: boolean[]
const pool = {
  async between<Result>(_siteId: number, work: () => Promise<Result>, { endsProcess = false } = {}) {
    held.push(endsProcess)
    return work()
  },
}
const content = createSqliteContent({ pool, sandbox: 'auto' })

const wordpress = `
  CREATE TABLE wp_options (option_id bigint(20) unsigned NOT NULL auto_increment, option_name varchar(191) NOT NULL default '',
    option_value longtext NOT NULL, PRIMARY KEY (option_id), UNIQUE KEY option_name (option_name)) AUTO_INCREMENT=40;
  CREATE TABLE wp_posts (ID bigint(20) unsigned NOT NULL auto_increment, post_date datetime NOT NULL default '0000-00-00 00:00:00',
    post_content longtext NOT NULL, ping tinyint(1) default NULL, PRIMARY KEY (ID), KEY post_content (post_content(191), post_date));
  CREATE TABLE wp_term_relationships (object_id bigint(20) NOT NULL default 0, term_id bigint(20) NOT NULL default 0, PRIMARY KEY (object_id, term_id));
  -- Dump completed`

function makeTables(database: DatabaseSync, text: string): void {
  makeSchema(database)
  const reader = new DumpReader()
  const events = [...reader.write(Buffer.from(text)), ...reader.finish()]
  for (const event of events) if (event.kind === 'create') createTable(database, event.table)
}

beforeEach(async () => {
  held = []
  folder = await mkdtemp(join(tmpdir(), 'stead-database-'))
  const siteDirectory = join(folder, 'h1')
  directory = { siteId: 1, siteDirectory, uid: testUid }
  place = join(siteDirectory, 'private/database')
  await mkdir(place, { recursive: true })
  const database = open()
  makeTables(database, wordpress)
  database.exec(`
    insert into wp_options values (1, 'siteurl', 'http://old.example.com'), (7, 'quote''s', 'a\\b"c''d' || char(10) || '😀');
    insert into wp_posts values (1, '0000-00-00 00:00:00', '', NULL), (9, '2026-01-01 00:00:00', 'first', 1);
    insert into wp_term_relationships values (3, 2), (1, 1);`)
  database.close()
  await giveToSite(siteDirectory)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const open = (file = join(place, 'site.sqlite')) => new DatabaseSync(file)

/** Returns the whole content of a database: its schema, the plugin's tables, the site's rows. */
function all(file?: string): unknown {
  const database = open(file)
  const schema = database
    .prepare("select name, sql from sqlite_schema where name not like 'sqlite_%' order by name")
    .all()
  const rows = schema.flatMap(({ name, sql }) =>
    String(sql).startsWith('CREATE TABLE')
      ? [[name, database.prepare(`select * from "${name}" order by 1, 2, 3, 4`.replace(/order by.*/, '')).all()]]
      : [],
  )
  database.close()
  return JSON.parse(JSON.stringify([schema, rows]).replaceAll(/"(CREATE|UPDATE)_TIME":("[^"]*"|null),/g, ''))
}

async function textOf(tables?: readonly string[]): Promise<Buffer> {
  const snapshot = await content.snapshot(directory)
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of snapshot.dump({ tables })) pieces.push(piece)
    return Buffer.concat(pieces)
  } finally {
    await snapshot.close()
  }
}

async function* pieces(text: Uint8Array | string, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const ownFiles = () => readdir(join(directory.siteDirectory, 'database'))

test('loads and switches in a dump as the same database, which belongs to the site', async () => {
  const before = all()
  const text = await textOf()
  const progress: number[] = []
  expect(await content.load(directory, pieces(text), { onProgress: (done) => progress.push(done) })).toEqual({
    tables: 3,
    rows: 6,
  })
  expect(progress.at(-1)).toBe(text.length)
  expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: true, hasPrevious: false })
  expect(held).toEqual([false])
  await content.switch(directory)
  expect(held).toEqual([false, true])
  expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: true })
  expect(all()).toEqual(before)
  const { uid, mode } = await stat(join(place, 'site.sqlite'))
  expect([uid, mode & 0o777]).toEqual([testUid ?? process.getuid?.(), 0o600])
  expect((await textOf()).equals(text)).toBe(true)
  await content.cleanUp(directory)
  expect(await ownFiles()).toEqual([])
})

/** The files at each moment at which a switch, or its reversal, can be interrupted. */
const current = 'private/database/site.sqlite'
describe('completes with the same call after an interruption:', () => {
  const put = (name: string, text: string) => writeFile(join(directory.siteDirectory, name), text)
  const files = async () => {
    const found: Record<string, string> = {}
    for (const name of [current, 'database/next.sqlite', 'database/previous.sqlite', `${current}-journal`])
      found[name] = await readFile(join(directory.siteDirectory, name), 'utf8').catch(() => '')
    return Object.values(found)
  }
  beforeEach(async () => {
    await mkdir(join(directory.siteDirectory, 'database'))
    await rm(join(place, 'site.sqlite'))
  })

  test.each([
    ['before all', { [current]: 'old', 'database/next.sqlite': 'new', 'database/previous.sqlite': 'older' }],
    ['the older is gone', { [current]: 'old', 'database/next.sqlite': 'new' }],
    ['nothing is in place', { 'database/next.sqlite': 'new', 'database/previous.sqlite': 'old' }],
    [
      'a journal is left',
      { 'database/next.sqlite': 'new', 'database/previous.sqlite': 'old', [`${current}-journal`]: 'x' },
    ],
    ['all is done', { [current]: 'new', 'database/previous.sqlite': 'old' }],
  ])('a switch, when %s', async (_when, there) => {
    for (const [name, text] of Object.entries(there)) await put(name, text)
    await content.switch(directory)
    expect(await files()).toEqual(['new', '', 'old', ''])
    await content.switch(directory)
    expect(await files()).toEqual(['new', '', 'old', ''])
  })

  test.each([
    ['before all', { [current]: 'new', 'database/previous.sqlite': 'old', [`${current}-journal`]: 'x' }],
    [
      'nothing is in place',
      { 'database/dropped.sqlite': 'new', 'database/previous.sqlite': 'old', [`${current}-journal`]: 'x' },
    ],
  ])('its reversal, when %s', async (_when, there) => {
    for (const [name, text] of Object.entries(there)) await put(name, text)
    await content.switchBack(directory)
    expect(await files()).toEqual(['old', '', '', ''])
    expect(await ownFiles()).toEqual([])
  })
})

describe('neither reads nor follows what a site puts in place of its database:', () => {
  test.each([
    ['a link', (path: string) => symlink('/etc/passwd', path)],
    ['a FIFO', (path: string) => promisify(execFile)('mkfifo', [path])],
    ['a folder', (path: string) => mkdir(join(path, 'deep'), { recursive: true })],
  ])('%s', async (_name, make) => {
    const text = await textOf()
    await rm(join(place, 'site.sqlite'))
    await make(join(place, 'site.sqlite'))
    await expect(content.snapshot(directory)).rejects.toThrow(SiteUnavailable)
    await content.load(directory, pieces(text))
    await content.switch(directory)
    expect((await textOf()).equals(text)).toBe(true)
    await content.cleanUp(directory)
    expect(await ownFiles()).toEqual([])
  })

  test('a folder that leads elsewhere', async () => {
    const text = await textOf()
    const elsewhere = join(folder, 'elsewhere')
    await rename(place, elsewhere)
    await symlink(elsewhere, place)
    await content.load(directory, pieces(text))
    await content.switch(directory)
    expect(await readdir(elsewhere)).toEqual(['site.sqlite'])
    expect((await textOf()).equals(text)).toBe(true)
  })

  test('a damaged database', async () => {
    const bytes = await readFile(join(place, 'site.sqlite'))
    await writeFile(
      join(place, 'site.sqlite'),
      Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xee)]),
    )
    await expect(textOf()).rejects.toThrow(SiteUnavailable)
    expect(await ownFiles()).toEqual([])
  })
})

test('does not read a file that is not a database', async () => {
  await rm(join(place, 'site.sqlite'))
  await expect(content.snapshot(directory)).rejects.toThrow(SiteUnavailable)
  await writeFile(join(place, 'site.sqlite'), 'x'.repeat(4096))
  await expect(content.snapshot(directory)).rejects.toThrow(SiteUnavailable)
  expect(await ownFiles()).toEqual([])
})

test('drops everything, including files of others', async () => {
  await content.load(directory, pieces(await textOf()))
  await content.snapshot(directory)
  await writeFile(join(place, 'site.sqlite-journal'), 'x')
  await content.drop(directory)
  expect(await readdir(place)).toEqual([])
  await expect(lstat(join(directory.siteDirectory, 'database'))).rejects.toThrow('ENOENT')
  await content.drop(directory)
  expect(await content.size(directory)).toBe(0)
})

test('removes a snapshot that was not closed, with the next one of another process', async () => {
  await content.snapshot(directory)
  const other = createSqliteContent({ pool, sandbox: 'auto' })
  const next = await other.snapshot(directory)
  expect(await ownFiles()).toHaveLength(1)
  await next.close()
  if (testUid !== null) await chown(place, testUid, testUid)
})
