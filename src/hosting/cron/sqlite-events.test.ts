import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installedTables } from './installed-tables.ts'
import { sqliteEvents } from './sqlite-events.ts'

const createOptions = (prefix = 'wp_') => `CREATE TABLE \`${prefix}options\` (
  \`option_id\` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, \`option_name\` TEXT COLLATE NOCASE NOT NULL DEFAULT '',
  \`option_value\` TEXT COLLATE NOCASE NOT NULL, \`autoload\` TEXT COLLATE NOCASE NOT NULL DEFAULT 'yes') STRICT;
  CREATE UNIQUE INDEX \`${prefix}options__option_name\` ON \`${prefix}options\` (\`option_name\`)`

const cronValue = (hook: string, seconds: number, args = 'a:0:{}') =>
  `a:2:{i:${seconds};a:1:{s:${hook.length}:"${hook}";a:1:{s:1:"k";a:2:{s:8:"schedule";b:0;s:4:"args";${args}}}}s:7:"version";i:2;}`

describe('events from an SQLite file', () => {
  let folder: string
  let directory: string
  let file: string
  // Long after every file of the test was written.
  const source = sqliteEvents(() => Date.now() + 3_600_000)

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-cron-'))
    directory = join(folder, 'h1')
    file = join(directory, 'private/database/site.sqlite')
    await mkdir(join(directory, 'private/database'), { recursive: true })
    await mkdir(join(directory, 'web'))
    await writeFile(join(directory, 'web/wp-config.php'), "<?php\n$table_prefix = 'wp_';\n")
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** Creates the database as SQLite does. */
  function make(fill: (database: DatabaseSync) => void, pragmas = ''): void {
    using database = new DatabaseSync(file)
    database.exec(pragmas)
    database.exec(createOptions())
    database.exec('begin')
    fill(database)
    database.exec('commit')
  }
  const put = (database: DatabaseSync, name: string, value: string) =>
    database.prepare('insert into wp_options (option_name, option_value) values (?, ?)').run(name, value)

  const expected = { kind: 'read', next: { urgentAt: 1_700_000_000_000, housekeepingAt: null }, settled: true }

  it('finds the table prefixes and the network without wp-config.php', async () => {
    expect(await installedTables(directory, undefined)).toEqual({ prefixes: [] })
    make((database) => {
      for (const name of ['posts', 'postmeta']) database.exec(`create table wp_${name} (id integer primary key)`)
    })
    expect(await installedTables(directory, undefined)).toEqual({ prefixes: ['wp_'] })
    using database = new DatabaseSync(file)
    database.exec(`create table wp_site (id integer primary key, domain text, path text);
      insert into wp_site values (1, 'network.example', '/');
      create table wp_sitemeta (meta_id integer primary key, site_id integer, meta_key text, meta_value text);
      insert into wp_sitemeta values (1, 1, 'site_name', 'x'), (2, 1, 'subdomain_install', '1')`)
    const network = { networkId: 1, domain: 'network.example', path: '/', blogId: 1, isSubdomainInstall: true }
    expect(await installedTables(directory, undefined)).toEqual({ prefixes: ['wp_'], network })
  })

  it.each([512, 1024, 4096, 65_536])(
    'finds events in pages of %i bytes, among thousands of rows, some of them long',
    async (size) => {
      make((database) => {
        for (let row = 0; row < 3000; row++)
          put(database, `_transient_${row}`, 'x'.repeat(row % 40 === 0 ? 5000 : row % 90))
        put(
          database,
          'cron',
          cronValue('publish_future_post', 1_700_000_000, `a:1:{i:0;s:200000:"${'y'.repeat(200_000)}";}`),
        )
        for (let row = 0; row < 200; row++) put(database, `later_${row}`, 'z')
        for (let table = 0; table < 50; table++)
          database.exec(`create table wp_other_${table} (a integer primary key, b text)`)
      }, `pragma page_size = ${size}`)
      expect(await source.read(directory)).toEqual(expected)
    },
  )

  it('reads pages with auto-vacuum and reserved bytes', async () => {
    make((database) => put(database, 'cron', cronValue('x', 1_700_000_000)), 'pragma auto_vacuum = full')
    expect(await source.read(directory)).toEqual(expected)
  })

  it('finds no events before WordPress has scheduled any', async () => {
    make((database) => put(database, 'siteurl', 'http://x'))
    expect(await source.read(directory)).toEqual({
      kind: 'read',
      next: { urgentAt: null, housekeepingAt: null },
      settled: true,
    })
  })

  it('uses the table prefix of wp-config.php without guessing', async () => {
    using database = new DatabaseSync(file)
    database.exec(createOptions('my_'))
    database
      .prepare("insert into my_options (option_name, option_value) values ('cron', ?)")
      .run(cronValue('x', 1_700_000_000))
    expect(await source.read(directory)).toMatchObject({ kind: 'unknown', reason: 'no table wp_options' })
    await writeFile(join(directory, 'web/wp-config.php'), "<?php\n$table_prefix  = 'my_';\n")
    expect(await source.read(directory)).toEqual(expected)
    await writeFile(join(directory, 'web/wp-config.php'), "<?php\n$table_prefix = getenv('P');\n")
    expect(await source.read(directory)).toMatchObject({ kind: 'unknown' })
  })

  it('marks a change, even one that hides behind an old file time', async () => {
    expect(source.mark(directory)).toBeUndefined()
    make((database) => put(database, 'cron', cronValue('x', 1)))
    await utimes(file, 1000, 1000)
    const before = source.mark(directory)
    expect(source.mark(directory)).toBe(before)
    using database = new DatabaseSync(file)
    database.exec('update wp_options set option_value = option_value')
    await utimes(file, 1000, 1000)
    expect(source.mark(directory)).not.toBe(before)
  })

  it('reports that a database written a moment ago may change under the same file times', async () => {
    make((database) => put(database, 'cron', cronValue('x', 1_700_000_000)))
    expect(await sqliteEvents().read(directory)).toEqual({ ...expected, settled: false })
  })

  it('settles without waiting an hour after the clock is set back by one', async () => {
    make((database) => put(database, 'cron', cronValue('x', 1_700_000_000)))
    expect(await sqliteEvents(() => Date.now() - 3_600_000).read(directory)).toEqual(expected)
  })

  it('does not trust a database in the middle of a write', async () => {
    make((database) => put(database, 'cron', cronValue('x', 1_700_000_000)))
    using database = new DatabaseSync(file)
    database.exec('pragma cache_size = 1; begin')
    for (let row = 0; row < 500; row++) put(database, `row_${row}`, 'x'.repeat(500))
    expect(await source.read(directory)).toEqual({ kind: 'busy' })
    database.exec('commit')
    expect(await source.read(directory)).toEqual(expected)
    database.exec('pragma journal_mode = persist')
    put(database, 'more', 'x')
    expect(await source.read(directory)).toEqual(expected)
  })

  it('leaves events that are not in the file or in another format to WordPress', async () => {
    make((database) => put(database, 'cron', cronValue('x', 1)), 'pragma journal_mode = wal')
    expect(await source.read(directory)).toMatchObject({ kind: 'unknown', reason: 'a database in WAL mode' })
    const forms = [
      "create view wp_options as with recursive t(a) as (select 1 union all select a from t) select a, 'cron' from t",
      'create table wp_options (option_id integer, option_name text primary key, option_value text) without rowid',
      "create virtual table wp_options using fts5(option_id, option_name, option_value); insert into wp_options values (1, 'cron', 'x')",
      "create table wp_options (a integer primary key, b text, c blob); insert into wp_options values (1, 'cron', x'00')",
      `create table wp_options (a integer primary key, b text, c text); insert into wp_options values (1, 'cron', hex(zeroblob(1000000)))`,
    ]
    for (const statement of forms) {
      await rm(file)
      new DatabaseSync(file).exec(statement)
      expect(await source.read(directory), statement).toMatchObject({ kind: 'unknown' })
    }
    await rm(file)
    using utf16 = new DatabaseSync(file)
    utf16.exec("pragma encoding = 'UTF-16'; create table wp_options (a)")
    expect(await source.read(directory)).toMatchObject({ kind: 'unknown' })
  })

  it('terminates on trees that form cycles', async () => {
    make((database) => {
      for (let row = 0; row < 3000; row++) put(database, `row_${row}`, 'x'.repeat(50))
    })
    using database = new DatabaseSync(file)
    const { rootpage } = database.prepare("select rootpage from sqlite_schema where name = 'wp_options'").get() as {
      rootpage: number
    }
    const bytes = await readFile(file)
    const root = bytes.subarray((rootpage - 1) * 4096, rootpage * 4096)
    expect(root[0]).toBe(5)
    for (let cell = 0; cell < root.readUInt16BE(3); cell++)
      root.writeUInt32BE(rootpage, root.readUInt16BE(12 + 2 * cell))
    await writeFile(file, bytes)
    expect(await source.read(directory)).toMatchObject({ kind: 'unknown', reason: 'a tree with a page in two places' })
  })

  it('follows no links and reads only files', async () => {
    make((database) => put(database, 'cron', cronValue('x', 1_700_000_000)))
    await rename(file, join(folder, 'elsewhere.sqlite'))
    await symlink(join(folder, 'elsewhere.sqlite'), file)
    expect(source.mark(directory)).toBeUndefined()
    expect(await source.read(directory)).toMatchObject({ kind: 'unknown' })
    await rm(file)
    execFileSync('mkfifo', [file])
    expect(source.mark(directory)).toBeUndefined()
    expect(await source.read(directory)).toMatchObject({ kind: 'unknown' })
    await rm(file)
    await cp(join(folder, 'elsewhere.sqlite'), file)
    await mkdir(`${file}-journal`)
    expect(await source.read(directory)).toEqual({ kind: 'busy' })
  })

  it('returns a result whatever bytes the file holds', async () => {
    make((database) => {
      for (let row = 0; row < 150; row++) put(database, `row_${row}`, 'x'.repeat(30))
      put(database, 'cron', cronValue('x', 1_700_000_000, `a:1:{i:0;s:5000:"${'y'.repeat(5000)}";}`))
    })
    const good = await readFile(file)
    const change = fc.tuple(fc.oneof(fc.nat(220), fc.nat(good.length - 1)), fc.integer({ min: 0, max: 255 }))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), fc.nat(good.length), async (changes, cut) => {
        const bytes = Buffer.from(good)
        for (const [at, byte] of changes) bytes[at] = byte
        await writeFile(file, cut % 5 === 0 ? bytes.subarray(0, cut) : bytes)
        expect(['read', 'unknown']).toContain((await source.read(directory)).kind)
      }),
      { numRuns: 1000 },
    )
  })
})
