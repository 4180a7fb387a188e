import { execFile } from 'node:child_process'
import { chown, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { giveToSite, testUid } from '../../../test/support/home.ts'
import { DumpUnreadable, type SiteHome } from './database-content.ts'
import { checkDump } from './dump-check.ts'
import { SiteUnavailable } from './site-database.ts'
import { createTable, makeSchema } from './sql/plugin-schema.ts'
import { DumpReader } from './sql/read-dump.ts'
import { createSqliteContent } from './sqlite-content.ts'

let folder: string
let home: SiteHome
let place: string
/** How often the site was held, and whether its process had to end. */
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
  const homePath = join(folder, 'h1')
  home = { siteId: 1, homePath, uid: testUid }
  place = join(homePath, 'private/database')
  await mkdir(place, { recursive: true })
  const database = open()
  makeTables(database, wordpress)
  database.exec(`
    insert into wp_options values (1, 'siteurl', 'http://old.example.com'), (7, 'quote''s', 'a\\b"c''d' || char(10) || '😀');
    insert into wp_posts values (1, '0000-00-00 00:00:00', '', NULL), (9, '2026-01-01 00:00:00', 'first', 1);
    insert into wp_term_relationships values (3, 2), (1, 1);`)
  database.close()
  await giveToSite(homePath)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const open = (file = join(place, 'site.sqlite')) => new DatabaseSync(file)

/** All that is in a database: its schema, the plugin's tables, the site's rows. */
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
  const snapshot = await content.snapshot(home)
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

const ownFiles = () => readdir(join(home.homePath, 'database'))

test('a dump that is loaded and switched in is the same database, and belongs to the site', async () => {
  const before = all()
  const text = await textOf()
  const progress: number[] = []
  expect(await content.load(home, pieces(text), { onProgress: (done) => progress.push(done) })).toEqual({
    tables: 3,
    rows: 6,
  })
  expect(progress.at(-1)).toBe(text.length)
  expect(await content.state(home)).toEqual({ hasCurrent: true, hasNext: true, hasPrevious: false })
  expect(held).toEqual([false])
  await content.switch(home)
  expect(held).toEqual([false, true])
  expect(await content.state(home)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: true })
  expect(all()).toEqual(before)
  const { uid, mode } = await stat(join(place, 'site.sqlite'))
  expect([uid, mode & 0o777]).toEqual([testUid ?? process.getuid?.(), 0o600])
  expect((await textOf()).equals(text)).toBe(true)
  await content.settle(home)
  expect(await ownFiles()).toEqual([])
})

test('a dump is of the moment of its snapshot, may be taken twice, and may be of some tables', async () => {
  const snapshot = await content.snapshot(home)
  const database = open()
  database.exec("delete from wp_posts; insert into wp_options values (50, 'late', 'x')")
  database.close()
  const read = async (tables?: string[]) => Buffer.concat(await Array.fromAsync(snapshot.dump({ tables }))).toString()
  const whole = await read()
  expect(whole).toContain("'first'")
  expect(whole).not.toContain("'late'")
  expect(await read()).toBe(whole)
  const some = await read(['WP_posts'])
  expect(some).toContain('CREATE TABLE `wp_posts`')
  expect(some).not.toContain('wp_options')
  await snapshot.close()
  await snapshot.close()
  expect(await ownFiles()).toEqual([])
})

test('what was switched in is taken back', async () => {
  const before = all()
  await content.load(home, pieces('CREATE TABLE wp_options (a int);\n-- Dump completed'))
  await content.switch(home)
  expect(all()).not.toEqual(before)
  await content.switchBack(home)
  await content.switchBack(home)
  expect(all()).toEqual(before)
  expect(await content.state(home)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
  expect(await ownFiles()).toEqual([])
})

test('some tables are put back, and the others stay as they are now', async () => {
  const text = await textOf()
  const database = open()
  database.exec("delete from wp_posts; update wp_options set option_value = 'now' where option_id = 1")
  database.close()
  expect(await content.load(home, pieces(text), { tables: ['wp_posts'] })).toEqual({ tables: 1, rows: 2 })
  await content.switch(home)
  const now = open()
  expect(now.prepare('select ID from wp_posts').all()).toHaveLength(2)
  expect(now.prepare('select option_value as v from wp_options where option_id = 1').get()).toMatchObject({ v: 'now' })
  now.close()
  await expect(content.load(home, pieces(text), { tables: ['wp_none'] })).rejects.toThrow('It has no table wp_none')
})

test('addresses are put in place of others', async () => {
  const changes = [{ from: 'old.example.com', to: 'new.example.com:8081' }]
  await content.load(home, pieces(await textOf()), { changes })
  await content.switch(home)
  const now = open()
  expect(now.prepare('select option_value as v from wp_options where option_id = 1').get()).toMatchObject({
    v: 'http://new.example.com:8081',
  })
  now.close()
})

describe('a dump that cannot be loaded changes nothing, and says where it is wrong:', () => {
  test.each([
    ['cut off', 'CREATE TABLE t (a int);\nINSERT INTO t VALUES (1),(2', 'cut off at line 2, byte'],
    ['without its last line', 'CREATE TABLE t (a int);\n', 'the last line does not say that it is complete'],
    ['empty', '', 'cut off'],
    ['no dump', '<html>', 'begins no statement that is known, at line 1, byte'],
    [
      'with a trigger',
      'CREATE TRIGGER a AFTER INSERT ON b FOR EACH ROW SET c = 1;\n-- Dump completed',
      'CREATE TRIGGER',
    ],
    ['with rows of nothing', 'INSERT INTO t VALUES (1);\n-- Dump completed', 'which is not there'],
    ['with the plugin’s own tables', 'DROP TABLE _wp_sqlite_x;\n-- Dump completed', 'may not be called'],
    [
      'with a row twice',
      'CREATE TABLE t (a int primary key);INSERT INTO t VALUES (1),(1);\n-- Dump completed',
      'UNIQUE',
    ],
  ])('%s', async (_name, text, message) => {
    const before = all()
    const loading = content.load(home, pieces(text))
    await expect(loading).rejects.toThrow(DumpUnreadable)
    await expect(loading).rejects.toThrow(message)
    expect(await content.state(home)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
    await content.switch(home)
    expect(all()).toEqual(before)
    expect(await ownFiles()).toEqual([])
  })

  test('whose source fails', async () => {
    async function* broken() {
      yield Buffer.from('CREATE TABLE t (a int);')
      throw new Error('the storage is gone')
    }
    await expect(content.load(home, broken())).rejects.toThrow('the storage is gone')
    expect(await ownFiles()).toEqual([])
  })
})

test('a dump is read to its end', async () => {
  const text = await textOf()
  const read = async (bytes: Uint8Array) => {
    const check = checkDump()
    for await (const piece of pieces(bytes, 7)) await check.write(piece)
    check.finish()
  }
  await read(text)
  for (const lost of [1, 20, 300])
    await expect(read(text.subarray(0, text.length - lost - 2))).rejects.toThrow(DumpUnreadable)
})

/** What is where at each moment in which a switch, or its taking back, can be cut off. */
const current = 'private/database/site.sqlite'
describe('cut off, it is done by the same call:', () => {
  const put = (name: string, text: string) => writeFile(join(home.homePath, name), text)
  const files = async () => {
    const found: Record<string, string> = {}
    for (const name of [current, 'database/next.sqlite', 'database/previous.sqlite', `${current}-journal`])
      found[name] = await readFile(join(home.homePath, name), 'utf8').catch(() => '')
    return Object.values(found)
  }
  beforeEach(async () => {
    await mkdir(join(home.homePath, 'database'))
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
    await content.switch(home)
    expect(await files()).toEqual(['new', '', 'old', ''])
    await content.switch(home)
    expect(await files()).toEqual(['new', '', 'old', ''])
  })

  test.each([
    ['before all', { [current]: 'new', 'database/previous.sqlite': 'old', [`${current}-journal`]: 'x' }],
    [
      'nothing is in place',
      { 'database/dropped.sqlite': 'new', 'database/previous.sqlite': 'old', [`${current}-journal`]: 'x' },
    ],
  ])('its taking back, when %s', async (_when, there) => {
    for (const [name, text] of Object.entries(there)) await put(name, text)
    await content.switchBack(home)
    expect(await files()).toEqual(['old', '', '', ''])
    expect(await ownFiles()).toEqual([])
  })
})

describe('what a site puts in place of its database is neither read nor followed:', () => {
  test.each([
    ['a link', (path: string) => symlink('/etc/passwd', path)],
    ['a FIFO', (path: string) => promisify(execFile)('mkfifo', [path])],
    ['a folder', (path: string) => mkdir(join(path, 'deep'), { recursive: true })],
  ])('%s', async (_name, make) => {
    const text = await textOf()
    await rm(join(place, 'site.sqlite'))
    await make(join(place, 'site.sqlite'))
    await expect(content.snapshot(home)).rejects.toThrow(SiteUnavailable)
    await content.load(home, pieces(text))
    await content.switch(home)
    expect((await textOf()).equals(text)).toBe(true)
    await content.settle(home)
    expect(await ownFiles()).toEqual([])
  })

  test('a folder that leads elsewhere', async () => {
    const text = await textOf()
    const elsewhere = join(folder, 'elsewhere')
    await rename(place, elsewhere)
    await symlink(elsewhere, place)
    await content.load(home, pieces(text))
    await content.switch(home)
    expect(await readdir(elsewhere)).toEqual(['site.sqlite'])
    expect((await textOf()).equals(text)).toBe(true)
  })

  test('a database that is damaged', async () => {
    const bytes = await readFile(join(place, 'site.sqlite'))
    await writeFile(
      join(place, 'site.sqlite'),
      Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xee)]),
    )
    await expect(textOf()).rejects.toThrow(SiteUnavailable)
    expect(await ownFiles()).toEqual([])
  })
})

test('what is no database is not read', async () => {
  await rm(join(place, 'site.sqlite'))
  await expect(content.snapshot(home)).rejects.toThrow(SiteUnavailable)
  await writeFile(join(place, 'site.sqlite'), 'x'.repeat(4096))
  await expect(content.snapshot(home)).rejects.toThrow(SiteUnavailable)
  expect(await ownFiles()).toEqual([])
})

test('all is dropped, with what others have left', async () => {
  await content.load(home, pieces(await textOf()))
  await content.snapshot(home)
  await writeFile(join(place, 'site.sqlite-journal'), 'x')
  await content.drop(home)
  expect(await readdir(place)).toEqual([])
  await expect(lstat(join(home.homePath, 'database'))).rejects.toThrow('ENOENT')
  await content.drop(home)
  expect(await content.size(home)).toBe(0)
})

test('what a snapshot left behind that was not closed goes with the next of another process', async () => {
  await content.snapshot(home)
  const other = createSqliteContent({ pool, sandbox: 'auto' })
  const next = await other.snapshot(home)
  expect(await ownFiles()).toHaveLength(1)
  await next.close()
  if (testUid !== null) await chown(place, testUid, testUid)
})
