import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyRows, type Cell, isText } from '../../../test/support/any-rows.ts'
import { anyTable } from '../../../test/support/any-table.ts'
import { hasMariaDb, startMariaDb, type TestMariaDb } from '../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb } from '../../../test/support/own-mariadb.ts'
import { giveToSite, testUid } from '../../../test/support/site-directory.ts'
import { createMariaDbContent } from '../mariadb/content/mariadb-content.ts'
import type { DatabaseContent, SitePlace } from './database-content.ts'
import { createTable, makeSchema } from './sql/plugin-schema.ts'
import type { TableDefinition } from './sql/table.ts'
import { quotedName } from './sql/write-table.ts'
import { createSqliteContent } from './sqlite-content.ts'

const pool = { between: <Result>(_siteId: number, work: () => Promise<Result>) => work() }
const content = createSqliteContent({ pool, sandbox: 'auto' })

let folder: string
let directory: SitePlace
let file: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-round-'))
  const siteDirectory = join(folder, 'h1')
  directory = { siteId: 1, siteDirectory, uid: testUid }
  file = join(siteDirectory, 'private/database/site.sqlite')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Filled {
  readonly table: TableDefinition
  readonly rows: readonly (readonly Cell[])[]
}

async function fill(tables: readonly Filled[]): Promise<void> {
  await rm(directory.siteDirectory, { recursive: true, force: true })
  await mkdir(join(directory.siteDirectory, 'private/database'), { recursive: true })
  const database = new DatabaseSync(file)
  database.exec('PRAGMA synchronous = OFF; BEGIN')
  makeSchema(database)
  for (const { table, rows } of tables) {
    createTable(database, table)
    const places = table.columns.map((column) => (isText(column) ? 'CAST(? AS TEXT)' : '?')).join(', ')
    const insert = database.prepare(`INSERT INTO ${quotedName(table.name)} VALUES (${places})`)
    for (const row of rows)
      insert.run(
        ...row.map((cell): SQLInputValue => (typeof cell === 'string' ? Buffer.from(cell) : (cell as SQLInputValue))),
      )
  }
  database.exec('COMMIT')
  database.close()
  await giveToSite(directory.siteDirectory)
}

/** Returns the whole content, one line per row, in storage order. With `isRough`, only the site's rows, in no order. */
function all({ isRough = false } = {}): string[] {
  const database = new DatabaseSync(file)
  const schema = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
  const tables = database
    .prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema' ORDER BY name",
    )
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !isRough || !/^(_wp_)?sqlite_/.test(name))
  const rows = tables.flatMap((name) => {
    const isOwn = /^(_wp_)?sqlite_/.test(name)
    const statement = database.prepare(`SELECT *${isOwn ? '' : columnsOf(database, name)} FROM ${quotedName(name)}`)
    statement.setReadBigInts(true)
    const found = statement.all().map((row) => `${name} ${text({ ...row, CREATE_TIME: 0 })}`)
    return isRough || isOwn ? found.sort() : found
  })
  database.close()
  return isRough ? rows : [...schema.map((row) => text(row)), ...rows]
}

/** Returns the first rows that differ. */
function difference(
  one: readonly string[],
  other: readonly string[],
): readonly [string | undefined, string | undefined] | undefined {
  for (let at = 0; at < Math.max(one.length, other.length); at++) if (one[at] !== other[at]) return [one[at], other[at]]
  return undefined
}

/** Returns columns that select text as its bytes, and the type of each value. */
const columnsOf = (database: DatabaseSync, table: string): string =>
  database
    .prepare('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(
      ({ name }, at) =>
        `, typeof(${quotedName(String(name))}) AS "type ${at}", hex(CAST(${quotedName(String(name))} AS BLOB)) AS "bytes ${at}"`,
    )
    .join('')

const text = (row: object): string =>
  JSON.stringify(row, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value))

async function dumped(): Promise<Buffer> {
  const snapshot = await content.snapshot(directory)
  try {
    return Buffer.concat(await Array.fromAsync(snapshot.dump()))
  } finally {
    await snapshot.close()
  }
}

async function* pieces(sql: Uint8Array, bytes = 1 << 16): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sql.length; at += bytes) yield sql.subarray(at, at + bytes)
}

async function restore(sql: Uint8Array, pieceBytes = 1 << 16): Promise<void> {
  await content.load(directory, pieces(sql, pieceBytes))
  await content.switch(directory)
  await content.cleanUp(directory)
}

const anyDatabase = (table = anyTable) =>
  fc
    .array(table, { minLength: 1, maxLength: 10 })
    .map((tables) => tables.map((each, at) => ({ ...each, name: `${each.name}_${at}` })))
    .chain((tables) => fc.tuple(...tables.map((each) => anyRows(each).map((rows): Filled => ({ table: each, rows })))))

test('SQLite → text → SQLite: keeps any table and any content', async () => {
  await fc.assert(
    fc.asyncProperty(anyDatabase(), fc.integer({ min: 1, max: 5000 }), async (tables, pieceBytes) => {
      await fill(tables)
      const before = all()
      await restore(await dumped(), pieceBytes)
      expect(difference(all(), before)).toBeUndefined()
    }),
    { numRuns: 5, endOnFailure: true },
  )
})

const big = Buffer.concat(
  Array.from({ length: 50 }, (_, at) => Buffer.from(`${at}'\\\n\0é`.repeat(1 << 20).slice(0, 1 << 20))),
)

/** Adds what the plugin does not know, and what SQLite allows in a table that is not strict. */
function makeOdd(): void {
  const database = new DatabaseSync(file)
  database.exec(`
    CREATE TABLE "made by hand" (a, b TEXT PRIMARY KEY, c INT DEFAULT 5, d REAL, e VARCHAR(10) DEFAULT 'it''s', "f g" BLOB) WITHOUT ROWID;
    CREATE UNIQUE INDEX odd ON "made by hand" (c, d DESC);
    CREATE INDEX some ON "made by hand" (c) WHERE c > 3;
    CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v INT, w AS (v + 1));
    CREATE VIEW seen AS SELECT * FROM counted;
    INSERT INTO "made by hand" VALUES (1, 'one', 'text in a number', 1.5, NULL, x'00ff'), ('x', '', 7, 2, 'é', NULL), (x'ff', 'z', 9223372036854775807, -0.1, '', 'text');
    INSERT INTO counted (v) VALUES (1), ('2x'), (NULL);
    DELETE FROM counted WHERE id = 3;
    INSERT INTO wp_kept_0 VALUES (1, CAST(x'ff27c3' AS TEXT), x'ff27c3');`)
  database.close()
}

const kept: TableDefinition = {
  name: 'wp_kept_0',
  engine: 'InnoDB',
  collation: 'utf8mb4_unicode_520_ci',
  comment: '',
  autoIncrement: 77n,
  columns: [
    { name: 'id', dataType: 'bigint', isAutoIncrement: true },
    { name: 't', dataType: 'longtext', charset: 'utf8mb4', collation: 'utf8mb4_0900_ai_ci' },
    { name: 'b', dataType: 'longblob' },
  ].map((column) => ({
    size: undefined,
    isUnsigned: false,
    isZerofill: false,
    charset: null,
    collation: null,
    isNullable: false,
    default: undefined,
    isAutoIncrement: false,
    setsTimeOnUpdate: false,
    comment: '',
    generated: undefined,
    ...column,
  })),
  keys: [
    {
      kind: 'primary',
      name: 'PRIMARY',
      comment: '',
      parts: [{ column: 'id', length: undefined, isDescending: false }],
    },
  ],
  foreignKeys: [],
  checks: [],
}

test('keeps tables that the plugin does not know with all their values, and text that is not UTF-8', async () => {
  await fill([{ table: kept, rows: [] }])
  makeOdd()
  await restore(await dumped(), 5)
  const database = new DatabaseSync(file)
  const rows = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row))
  expect(rows(`SELECT hex(a), b, c, d, e, hex("f g") FROM "made by hand" ORDER BY b`)).toEqual([
    ['78', '', '7', 2, 'é', ''],
    ['31', 'one', 'text in a number', 1.5, null, '00FF'],
    ['FF', 'z', '9223372036854775807', -0.1, '', '74657874'],
  ])
  expect(rows('SELECT * FROM counted')).toEqual([
    [1, '1', 2],
    [2, '2x', 3],
  ])
  expect(rows('SELECT typeof(t), hex(t), typeof(b), hex(b) FROM wp_kept_0')).toEqual([
    ['text', 'FF27C3', 'blob', 'FF27C3'],
  ])
  expect(rows('SELECT * FROM sqlite_sequence ORDER BY name')).toEqual([
    ['counted', 3],
    ['wp_kept_0', 76],
  ])
  database.close()
})

/** Returns checksums of both values of the only row. */
function sums(): string[] {
  const database = new DatabaseSync(file)
  const { t, b } = database.prepare('SELECT CAST(t AS BLOB) AS t, b FROM wp_kept_0').get() as Record<string, Uint8Array>
  database.close()
  return [t, b].map((bytes) =>
    createHash('sha256')
      .update(bytes as Uint8Array)
      .digest('hex'),
  )
}

test('values of 50 MB', async () => {
  await fill([{ table: kept, rows: [[1n, big.toString(), big]] }])
  const before = sums()
  await restore(await dumped())
  expect(sums()).toEqual(before)
})

describe.skipIf(!hasMariaDb)('MariaDB', () => {
  let maria: TestMariaDb
  beforeAll(async () => {
    maria = await startMariaDb()
  })
  afterAll(() => maria?.stop())

  async function through(options: readonly string[] = []): Promise<void> {
    const sql = join(folder, 'dump.sql')
    await writeFile(sql, await dumped())
    await maria.import(sql)
    await restore(await maria.dump(options))
  }

  test('SQLite → text → MariaDB → text → SQLite: keeps rows and their types', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyDatabase(),
        fc.constantFrom([], ['--hex-blob', '--skip-extended-insert'], ['--complete-insert']),
        async (tables, options) => {
          await fill(tables)
          const before = all({ isRough: true })
          await through(options)
          expect(difference(all({ isRough: true }), before)).toBeUndefined()
        },
      ),
      { numRuns: 5, endOnFailure: true },
    )
  })

  test('values of 50 MB', async () => {
    await fill([{ table: kept, rows: [[1n, big.toString(), big]] }])
    const before = sums()
    await through(['--hex-blob'])
    expect(sums()).toEqual(before)
  })
})

describe.skipIf(!hasMariaDb)('a site’s database on MariaDB', () => {
  let maria: OwnMariaDb
  let onMariaDb: DatabaseContent
  let its: SitePlace
  beforeAll(async () => {
    maria = await startOwnMariaDb()
    onMariaDb = createMariaDbContent({ databases: maria.databases, pool })
    its = await maria.home(1)
    await maria.databases.create(its)
  })
  afterAll(() => maria?.stop())

  /** Loads a dump and returns the dump of the result. */
  async function through(sql: Uint8Array): Promise<Buffer> {
    await onMariaDb.load(its, pieces(sql))
    await onMariaDb.switch(its)
    await onMariaDb.cleanUp(its)
    const snapshot = await onMariaDb.snapshot(its)
    try {
      return Buffer.concat(await Array.fromAsync(snapshot.dump()))
    } finally {
      await snapshot.close()
    }
  }

  test('SQLite → MariaDB → SQLite: keeps rows and their types, and later dumps are identical', async () => {
    await fc.assert(
      fc.asyncProperty(anyDatabase(), async (tables) => {
        await fill(tables)
        const before = all({ isRough: true })
        const text = await through(await dumped())
        expect(String(await through(text))).toBe(String(text))
        await restore(text)
        expect(difference(all({ isRough: true }), before)).toBeUndefined()
      }),
      { numRuns: 10, endOnFailure: true },
    )
  })

  test('values of 10 MB', async () => {
    const large = big.subarray(0, 10 << 20)
    await fill([{ table: kept, rows: [[1n, large.toString(), large]] }])
    const before = sums()
    await restore(await through(await dumped()))
    expect(sums()).toEqual(before)
  })

  test("refuses a value that is longer than the server's limit, with a message", async () => {
    await fill([{ table: kept, rows: [[1n, big.toString(), big]] }])
    await expect(through(await dumped())).rejects.toThrow(/cannot be loaded: A row has \d+ bytes, .*max_allowed_packet/)
  })
})
