import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyTable } from '../../../test/support/any-table.ts'
import { testCore } from '../../../test/support/core.ts'
import {
  fetchPage,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../test/support/site-directory.ts'
import type { PhpProcess, PhpRuntime } from '../php/runtime.ts'
import { createTable, knownTable, makeSchema } from './sql/plugin-schema.ts'
import { readTableDefinition } from './sql/read-table.ts'
import { SqlTokens, type Token } from './sql/sql-tokens.ts'
import { defaultCollation, type TableDefinition } from './sql/table.ts'
import { writeTable } from './sql/write-table.ts'

const core = await testCore()

/** Runs statements in a new database with the plugin's driver only, and returns how it describes each table. */
const script = `
  require '/wordpress/wp-content/mu-plugins/sqlite-database-integration/wp-includes/database/load.php';
  @unlink('/tmp/made.sqlite');
  $driver = new WP_MySQL_On_SQLite('mysql-on-sqlite:path=/tmp/made.sqlite;dbname=wp', null, null, ['sqlite_journal_mode' => 'DELETE', PDO::ATTR_STRINGIFY_FETCHES => true]);
  $shown = [];
  foreach (json_decode(file_get_contents('/tmp/statements.json'), true) as $sql) {
      try {
          $driver->query($sql);
      } catch (Throwable $error) {
          echo json_encode(['error' => $error->getMessage(), 'sql' => $sql]);
          exit;
      }
  }
  foreach ($driver->query('SHOW TABLES')->fetchAll(PDO::FETCH_NUM) as [$table])
      $shown[$table] = $driver->query('SHOW CREATE TABLE \`' . str_replace('\`', '\`\`', $table) . '\`')->fetchAll(PDO::FETCH_NUM)[0][1];
  echo json_encode(['shown' => $shown]);`

const known = [
  'CREATE TABLE a (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, b varchar(20) UNIQUE, c text, KEY c (b, c(5)), KEY (c(10)))',
  "CREATE TABLE b (a bigint(20) unsigned DEFAULT '5', b decimal(10) DEFAULT 1.50, c bool DEFAULT true, d bit(3) DEFAULT b'101', e set('a','b''c') DEFAULT 'a', f year, g json, h double(8,3), i char)",
  "CREATE TABLE c (`odd ``name` int, `x-y` varchar(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'it''s \\\\ \\n', PRIMARY KEY (`odd ``name`)) ENGINE=MyISAM DEFAULT CHARSET=latin1 COLLATE=latin1_bin COMMENT='it''s' AUTO_INCREMENT=7",
  "CREATE TABLE d (a timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, b datetime DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, c int COMMENT 'x', FULLTEXT KEY f (e), e mediumtext, UNIQUE KEY u (c, a))",
  'CREATE TABLE e (a int NOT NULL, b int NOT NULL, PRIMARY KEY (b, a), CONSTRAINT fk FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE)',
  'CREATE TABLE f (a bigint unsigned NOT NULL AUTO_INCREMENT, b int NOT NULL, PRIMARY KEY (a, b)) AUTO_INCREMENT=12 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci',
  'CREATE TABLE g (a int NOT NULL, b varchar(10) COLLATE utf8mb4_bin, c longblob, d binary(16), e tinytext NOT NULL, f float) COLLATE utf8mb4_bin',
]

/**
 * Returns the plugin's and SQLite's records of each table, without times and without the names that SQLite generates.
 */
function content(database: DatabaseSync): unknown {
  const rows = (sql: string) => database.prepare(sql).all()
  const schema = rows(
    "select type, name, tbl_name, sql from sqlite_schema where sql is not null and name not like '_wp_sqlite_m%' and name not like 'sqlite_%' order by type, name",
  )
  const tables = [
    'tables',
    'columns',
    'statistics',
    'table_constraints',
    'referential_constraints',
    'key_column_usage',
    'check_constraints',
    'schemata',
  ]
  const known = tables.map((table) => [
    table,
    rows(`select * from _wp_sqlite_mysql_information_schema_${table}`)
      .map((row) => JSON.stringify({ ...row, CREATE_TIME: 0 }))
      .sort(),
  ])
  const counts = rows("select 1 from sqlite_schema where name = 'sqlite_sequence'").length > 0
  const sequence = counts ? rows('select name, seq from sqlite_sequence order by name') : []
  return { schema, known, sequence, variables: rows('select * from _wp_sqlite_global_variables') }
}

/** Returns whether all names are ASCII, because the plugin takes no others. */
const isAscii = ({ name, columns }: TableDefinition): boolean =>
  [name, ...columns.map((column) => column.name)].every((each) => /^[ -~]+$/.test(each))

/** Treats a column's collation as that of its table if it comes first, as the plugin does. */
const sameCollation = ({ columns, collation }: TableDefinition): { collation: string } => ({
  collation:
    columns.find((column) => column.collation && column.collation !== defaultCollation)?.collation ?? collation,
})

function tokensOf(sql: string): Token[] {
  const tokens = new SqlTokens()
  tokens.write(Buffer.from(sql))
  tokens.finish()
  const found: Token[] = []
  for (let token = tokens.next(); token; token = tokens.next()) found.push(token)
  return found
}

const tableOf = (sql: string): TableDefinition => readTableDefinition(tokensOf(sql))

function made(statements: readonly string[]): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  makeSchema(database)
  for (const sql of statements) createTable(database, tableOf(sql))
  return database
}

describe.skipIf(!core)('creates the same tables as the plugin', () => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess
  let path: string

  beforeAll(async () => {
    runtime = await testRuntime()
    directory = await testDirectory(core as string)
    path = await directory.script('made.php', script)
    php = await runtime.start(directory)
  })
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
  })

  async function byPlugin(statements: readonly string[]): Promise<{ content: unknown; shown: Record<string, string> }> {
    const folder = join(directory.siteDirectory, 'private/tmp')
    await rm(join(folder, 'statements.json'), { force: true })
    await writeFile(join(folder, 'statements.json'), JSON.stringify(statements))
    const { text } = await fetchPage(php, testRequest('/made.php', path))
    const answer = JSON.parse(text) as { error?: string; sql?: string; shown: Record<string, string> }
    if (answer.error) throw new Error(`${answer.error}: ${answer.sql}`)
    const database = new DatabaseSync(join(folder, 'made.sqlite'), { readOnly: true })
    try {
      return { content: content(database), shown: answer.shown }
    } finally {
      database.close()
    }
  }

  async function compare(statements: readonly string[]): Promise<void> {
    // Of two collations the plugin takes the first, even if it is a column's. MySQL takes the last.
    const plugin = await byPlugin(
      statements.map((sql) => sql.replaceAll(/COLLATE[ =]\w+ \/\*!80000 (.*?) \*\//g, '$1')),
    )
    const database = made(statements)
    expect(content(database)).toEqual(plugin.content)
    // And reading the plugin's tables yields the same table again.
    const again = Object.keys(plugin.shown).map((name) => writeTable(knownTable(database, name) as TableDefinition))
    const once = statements.map((sql) => writeTable({ ...tableOf(sql), autoIncrement: undefined }))
    expect(content(made(again))).toEqual(content(made(once)))
    database.close()
  }

  it.each(known.map((sql, at) => [sql.slice(0, 14), at]))('%s…', (_name, at) =>
    compare(at === 4 ? [known[0] as string, known[4] as string] : [known[at] as string]),
  )

  it('for any table', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyTable.filter(isAscii), { minLength: 1, maxLength: 8 }), async (tables) => {
        const named = tables.map((table, at) => ({ ...table, name: `${table.name}_${at}`, ...sameCollation(table) }))
        await compare(named.map(writeTable))
      }),
      { numRuns: 15 },
    )
  })
})
