/** Dumps of other programs, read without a database. */
import { execFileSync } from 'node:child_process'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Loaded } from '../database-content.ts'
import { DumpLoad } from './dump-load.ts'
import type { DumpTarget } from './dump-tables.ts'
import type { PrefixChange } from './prefixes.ts'
import type { OnDuplicate, Value } from './read-dump.ts'
import { readableDump } from './readable-dump.ts'
import { UnreadableSql } from './sql-tokens.ts'
import type { TableDefinition } from './table.ts'
import { writeTable } from './write-table.ts'

/** Records what a dump does to a database, one line each. */
class Told implements DumpTarget<string> {
  readonly lines: string[] = []
  readonly tables: TableDefinition[] = []
  drop(): void {}
  create(table: TableDefinition): void {
    this.tables.push(table)
  }
  prepare({ name }: TableDefinition, _columns: unknown, onDuplicate?: OnDuplicate): string {
    return `${name}${onDuplicate === undefined ? '' : ` ${JSON.stringify(onDuplicate)}`}`
  }
  insert(into: string, values: readonly Value[]): void {
    this.lines.push(`${into}: ${values.map(text).join('|')}`)
  }
  empty(name: string): void {
    this.lines.push(`empty ${name}`)
  }
  alter(before: TableDefinition, after: TableDefinition): void {
    this.tables[this.tables.indexOf(before)] = after
  }
}
const text = (value: Value) =>
  'bytes' in value ? Buffer.from(value.bytes).toString() : value.kind === 'number' ? value.text : 'NULL'

interface Read extends Loaded {
  readonly lines: readonly string[]
  readonly tables_: readonly TableDefinition[]
}

async function read(dump: string | Uint8Array, prefixes: PrefixChange[] = [], size = 7): Promise<Read> {
  const told = new Told()
  const load = new DumpLoad(told, { foreign: { prefixes } })
  const bytes = Buffer.from(dump)
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  for await (const piece of readableDump(pieces())) load.write(piece)
  load.finish()
  return { ...load.result, lines: told.lines, tables_: told.tables }
}
const linesOf = async (dump: string | Uint8Array) => (await read(dump)).lines
const keysOf = ({ tables_ }: Read) => tables_.flatMap(({ keys }) => keys.map(({ kind, name }) => `${kind} ${name}`))

const table =
  "CREATE TABLE `t` (`id` int NOT NULL AUTO_INCREMENT, `v` varchar(190) NOT NULL DEFAULT '', PRIMARY KEY (`id`)) ENGINE=Aria DEFAULT CHARSET=utf8mb4;\n"
const bare = 'CREATE TABLE `t` (`id` int NOT NULL, `v` varchar(190));\n'
const rows = "INSERT INTO `t` VALUES (1,'a'),(2,'b');\n"
const both = ['t: 1|a', 't: 2|b']
const end = '-- Dump completed\n'

describe('reads rows', () => {
  test.each([
    [
      'after a message of the program that wrote them',
      `mysqldump: [Warning] Using a password on the command line interface can be insecure.\n-- MySQL dump 10.13\n${table}${rows}${end}`,
    ],
    ['before one', `-- MySQL dump 10.13\n${table}${rows}${end}mysqldump: Error: 'Access denied; you need PROCESS'\n`],
    ['with a mark before the text', `\ufeff-- MySQL dump\n${table}${rows}${end}`],
    ['with ends of lines of Windows', `-- MySQL dump\n${table}${rows}${end}`.replaceAll('\n', '\r\n')],
    ['in the sandbox of MariaDB', `/*M!999999\\- enable the sandbox mode */ \n${table}${rows}${end}`],
    [
      'of a server with GTIDs',
      `SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3E11FA47:1-77';\nCHANGE MASTER TO MASTER_LOG_POS=4;\n${table}${rows}${end}`,
    ],
    ['of a program without a last line', `-- phpMyAdmin SQL Dump\n${table}${rows}COMMIT`],
    ['of Adminer', `-- Adminer 4.8.1 MySQL 8.0.36 dump\n${table}${rows}\n-- 2024-05-01 10:00:00\n`],
    [
      'of Duplicator',
      `/* DUPLICATOR-LITE (PHP BUILD MODE) MYSQL SCRIPT CREATED ON : 2024 */\n${table}${rows}/* DUPLICATOR_MYSQLDUMP_EOF */\n`,
    ],
    [
      'of tables that may be there',
      table.replace('TABLE', 'TABLE IF NOT EXISTS') + table.replace('TABLE', 'TABLE IF NOT EXISTS') + rows,
    ],
    ['of tables that are put in place of others', table.replace('CREATE', 'CREATE OR REPLACE') + rows],
    ['with names of a database', `USE \`db\`;\n${table.replace('`t`', '`db`.`t`')}${rows.replace('`t`', '`db`.`t`')}`],
    ['with names in double quotes', `${table}${rows}`.replaceAll('`', '"').replace('ENGINE=Aria', '')],
    ['with names in double quotes, by a mode', `SET sql_mode='ANSI';\n${table}${rows}`.replaceAll('`', '"')],
    ['written in other ways', `${table}INSERT INTO t VALUES (1,0x61),(2,_binary 'b');`],
    [
      'made by functions',
      `${table}INSERT INTO t VALUES (1,UNHEX('61')),(2,CONCAT('', CONVERT(FROM_BASE64('Yg==') USING utf8mb4)));`,
    ],
    [
      'of bits as Adminer writes them',
      "CREATE TABLE t (id bit(5), v varchar(9)); CREATE TABLE v ();INSERT INTO t VALUES (CONV('1', 2, 10) + 0,'a'),(CONV('10', 2, 10),'b');",
    ],
    ['in texts beside each other', `${table}INSERT INTO t VALUES (1,'' 'a'),(2,N'b');`],
    [
      'with statements that change nothing',
      `${table}LOCK TABLES t WRITE;\n/*!40000 ALTER TABLE t DISABLE KEYS */;\n${rows}ANALYZE TABLE t;\nOPTIMIZE TABLE t;\nFLUSH TABLES;`,
    ],
    [
      'with a comment in a comment that counts',
      `/*!40101 SET NAMES /* this */ utf8mb4 */;\n/*!50001 /*!50002 SET @a = 1 */ */;\n${table}${rows}`,
    ],
  ])('%s', async (_what, dump) => {
    expect(await linesOf(dump)).toEqual(both)
  })

  test('from compressed files, and from UTF-16 files', async () => {
    const dump = Buffer.from(`${table}${rows}${`-- ${'x'.repeat(70)}\n`.repeat(50)}${end}`)
    const bzip2 = (bytes: Buffer) => execFileSync('bzip2', ['-c'], { input: bytes })
    const half = dump.subarray(0, 100)
    for (const packed of [
      gzipSync(dump),
      gzipSync(gzipSync(dump)),
      zstdCompressSync(dump),
      bzip2(dump),
      Buffer.concat([bzip2(half), bzip2(dump.subarray(100))]),
      Buffer.from(`\ufeff${dump}`, 'utf16le'),
      Buffer.from(`\ufeff${dump}`, 'utf16le').swap16(),
      Buffer.from(String(dump), 'utf16le'),
    ])
      expect(await linesOf(packed)).toEqual(both)
    await expect(read(gzipSync(dump).subarray(0, 60))).rejects.toThrow('The gzip file is cut off')
    await expect(read(bzip2(dump).subarray(0, 90))).rejects.toThrow('The bzip2 file is cut off')
    await expect(read(bzip2(dump).fill(7, 50, 60))).rejects.toThrow('The bzip2 file is damaged')
    await expect(read('PK\x03\x04')).rejects.toThrow('The file is a zip file')
  })

  test('from large bzip2 blocks with runs', async () => {
    const values = Array.from({ length: 3000 }, (_, at) => `(${at},'${'x'.repeat(at % 700)}${Math.sin(at)}')`)
    const dump = Buffer.from(`${table}INSERT INTO t VALUES ${values.join(',')};`)
    const plain = await read(dump, [], 1 << 16)
    expect((await read(execFileSync('bzip2', ['-c'], { input: dump }), [], 1 << 16)).lines).toEqual(plain.lines)
    expect(plain.rows).toBe(3000)
  })

  test('gives up an archive that grows endlessly', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(1 << 20, ' ')))
    const endless = async function* () {
      // The inner file repeatedly: gzip readers accept several members in a row.
      for (;;) yield bomb
    }
    const reading = async () => {
      for await (const _piece of readableDump(endless(), { mostTimes: 10, spareBytes: 1 << 20 }));
    }
    await expect(reading()).rejects.toThrow('grows to more than 10 times')
  })
})

describe('text of other charsets', () => {
  const create = (charset: string) => `CREATE TABLE t (id int, v varchar(20)) DEFAULT CHARSET=${charset};\n`
  const insert = (bytes: string) => Buffer.from(`INSERT INTO t VALUES (1,'${bytes}');\n${end}`, 'latin1')
  const dump = (head: string, bytes: string) => Buffer.concat([Buffer.from(head), insert(bytes)])

  test.each([
    ['said by SET NAMES', `/*!40101 SET NAMES latin1 */;\n${create('latin1')}`, 'M\xfcller'],
    ['of the column, where nothing is said', create('latin1'), 'M\xfcller'],
    ['of the column, where the text is bytes', `SET NAMES binary;\n${create('latin1')}`, 'M\xfcller'],
    [
      'said by a variable',
      `SET character_set_client = latin1;\nSET @a = @@character_set_client;\nSET NAMES utf8;\nSET character_set_client = @a;\n${create('utf8mb4')}`,
      'M\xfcller',
    ],
  ])('is converted: %s', async (_what, head, bytes) => {
    expect(await linesOf(dump(head, bytes))).toEqual(['t: 1|Müller'])
  })

  test('may contain a backslash in a character', async () => {
    expect(await linesOf(dump(`SET NAMES sjis;\n${create('sjis')}`, '\x83\x5c\x95\x5c'))).toEqual(['t: 1|ソ表'])
    expect(await linesOf(dump(`SET NAMES gbk;\n${create('gbk')}`, '\xd6\xd0\x81\x5c'))).toEqual(['t: 1|中乗'])
  })

  test('is refused if it is invalid, with its line and the remedy', async () => {
    const refused = read(dump(create('utf8mb4'), 'M\xfcller'))
    await expect(refused).rejects.toThrow(
      /^The column v of t has bytes that are not text in the charset utf8mb4 at line 2, byte/,
    )
    await expect(refused).rejects.toHaveProperty('remedy', expect.stringContaining('--default-character-set=utf8mb4'))
    await expect(read(`SET NAMES dec8;\n${table}`)).rejects.toThrow('charset dec8, which cannot be converted at line 1')
  })

  test('leaves the bytes of a column without text unchanged', async () => {
    const blob = dump('SET NAMES latin1;\nCREATE TABLE t (id int, v blob);\n', 'M\xfcller')
    expect(await linesOf(blob)).toEqual([`t: 1|${Buffer.from('M\xfcller', 'latin1')}`])
  })
})

test('skips a server’s own databases in a dump of all', async () => {
  const all = `USE mysql;\nCREATE TABLE db (i int);INSERT INTO db VALUES (1);DROP TABLE x;\nUSE site;\n${table}${rows}`
  expect(await read(all)).toMatchObject({ tables: 1, lines: both, warning: expect.stringContaining('database mysql') })
})

test('interprets backslashes as the SQL mode says', async () => {
  const without = `SET sql_mode='NO_BACKSLASH_ESCAPES';\n${table}INSERT INTO t VALUES (1,'C:\\'),(2,'b');\n`
  expect(await linesOf(without)).toEqual(['t: 1|C:\\', 't: 2|b'])
  const back = `SET @old=@@sql_mode, sql_mode='NO_BACKSLASH_ESCAPES';\nSET sql_mode=IFNULL(@old, '');\n${table}INSERT INTO t VALUES (1,'a\\'b');`
  expect(await linesOf(back)).toEqual(["t: 1|a'b"])
})

test('applies keys that follow the rows', async () => {
  const altered = await read(
    `${bare}${rows}ALTER TABLE t\n  ADD PRIMARY KEY (id),\n  ADD UNIQUE KEY u (v) USING BTREE,\n  ADD FULLTEXT KEY f (v);\n` +
      'ALTER TABLE `t` MODIFY `id` bigint UNSIGNED NOT NULL AUTO_INCREMENT FIRST, AUTO_INCREMENT=7;\nCREATE INDEX i ON t (v(10));\nDROP INDEX nothing ON t;',
  )
  expect(keysOf(altered)).toEqual(['primary PRIMARY', 'unique u', 'fulltext f', 'plain i'])
  expect(writeTable(altered.tables_[0] as TableDefinition)).toContain('`id` bigint unsigned NOT NULL AUTO_INCREMENT')
  expect(altered.tables_[0]?.autoIncrement).toBe(7n)
  await expect(read(`${bare}ALTER TABLE t ADD COLUMN w int;`)).rejects.toThrow(
    'ADD COLUMN is nothing that can be loaded, at line 2',
  )
})

test('reports how to treat existing rows', async () => {
  const update = 'ON DUPLICATE KEY UPDATE id = VALUES(id), v=new.v'
  expect(
    await linesOf(
      `${table}INSERT IGNORE INTO t VALUES (1,'a');REPLACE INTO t VALUES (2,'b');INSERT INTO t VALUES (3,'c') AS new ${update};`,
    ),
  ).toEqual(['t "ignore": 1|a', 't "replace": 2|b', 't {"update":["id","v"]}: 3|c'])
  await expect(read(`${table}INSERT INTO t VALUES (3,'c') ON DUPLICATE KEY UPDATE id = id + 1;`)).rejects.toThrow(
    'does more than taking the new values',
  )
  expect(await linesOf(`${table}${rows}TRUNCATE TABLE t;DELETE FROM \`t\`;`)).toEqual([...both, 'empty t', 'empty t'])
  await expect(read(`${table}DELETE FROM t WHERE id = 1;`)).rejects.toThrow('DELETE of some rows')
})

test('leaves out and names what is not a table', async () => {
  const read_ = await read(
    `${table}${rows}
    /*!50001 CREATE TABLE v1 (id int) */;
    /*!50001 DROP TABLE IF EXISTS v1 */;
    /*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=\`u\`@\`%\` SQL SECURITY DEFINER */ /*!50001 VIEW \`v1\` AS select 1 AS \`id\` */;
    DELIMITER ;;
    /*!50003 CREATE*/ /*!50017 DEFINER=u*/ /*!50003 TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.v='x'; END */;;
    DELIMITER $$
    CREATE PROCEDURE p() BEGIN SELECT 1; END$$
    DELIMITER ;
    CREATE FUNCTION f() RETURNS int BEGIN IF 1 THEN RETURN CASE WHEN 1 THEN 2 END; END IF; RETURN 3; END;
    GRANT ALL ON *.* TO u;
    CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t;
    ${end}`,
  )
  expect(read_.warning).toBe('Not loaded: view v1, trigger tr, procedure p, and 3 more')
  expect([read_.lines, read_.tables]).toEqual([both, 1])
})

describe('refuses a dump, with a line and the remedy:', () => {
  test.each([
    ['cut off in a row', `${table}INSERT INTO t VALUES (1,'a'),(2`, /cut off at line 2/],
    ['cut off between rows', `${table}INSERT INTO t VALUES (1,'a')`, /cut off at line 2.*has no end/],
    ['without the last line that its program writes', `-- MySQL dump 10.13\n${table}${rows}`, /cut off.*the last line/],
    ['without the last comment of Duplicator', `/* DUPLICATOR-PRO MYSQL SCRIPT */\n${table}${rows}`, /cut off/],
    ['that is a page of the web', '<html>\n</html>', /"<" begins no statement that is known, at line 1/],
    ['that is empty', '', /no tables/],
    [
      'of several databases',
      `CREATE TABLE a.t (i int);CREATE TABLE b.u (i int);`,
      /several databases \(a, b\) at line 1/,
    ],
    ['that reads a file', `${table}LOAD DATA INFILE '/etc/passwd' INTO TABLE t;`, /"LOAD" begins no statement/],
    ['that writes a file', `${table}SELECT 1 INTO OUTFILE '/tmp/x';`, /"SELECT" begins no statement/],
    ['that fills a table by a query', `${table}INSERT INTO t SELECT * FROM mysql.user;`, /no VALUES, but "SELECT"/],
    ['that makes a table of a query', 'CREATE TABLE t AS SELECT * FROM mysql.user;', /made of another table/],
    ['with a value that is a query', `${table}INSERT INTO t VALUES (1,(SELECT 1));`, /not a value/],
    [
      'with a value that is a file',
      `${table}INSERT INTO t VALUES (1,LOAD_FILE('/etc/passwd'));`,
      /"LOAD_FILE" is not a value/,
    ],
    ['that opens another database', `ATTACH DATABASE '/x' AS y;`, /"ATTACH" begins no statement/],
    ['with a command of a client', `${table}\\! sh\n`, /begins no statement/],
    ['of the plugin’s own tables', 'CREATE TABLE _wp_sqlite_x (i int);', /may not be called/],
    ['with values in values without end', `${table}INSERT INTO t VALUES (1,${'CONCAT('.repeat(100)}`, /too deep/],
    ['with a delimiter without end', `DELIMITER ${'x'.repeat(100)}\n`, /no delimiter/],
  ])('%s', async (_what, dump, message) => {
    const reading = read(dump)
    await expect(reading).rejects.toThrow(UnreadableSql)
    await expect(reading).rejects.toThrow(message)
  })
})

describe('prefixes', () => {
  const wordpress = (prefix: string) => `
    CREATE TABLE ${prefix}options (option_id int, option_name varchar(191), option_value longtext);
    CREATE TABLE ${prefix}usermeta (umeta_id int, meta_key varchar(255), meta_value longtext);
    CREATE TABLE ${prefix}posts (ID int); CREATE TABLE ${prefix}postmeta (meta_id int);
    CREATE TABLE ${prefix}2_options (option_name varchar(191)); CREATE TABLE ${prefix}2_posts (ID int); CREATE TABLE ${prefix}2_postmeta (ID int);
    CREATE TABLE other (meta_key varchar(255));
    ALTER TABLE ${prefix}postmeta ADD CONSTRAINT f FOREIGN KEY (meta_id) REFERENCES ${prefix}posts (ID);
    INSERT INTO ${prefix}options (option_name, option_value) VALUES ('siteurl','https://old.example/'),('home','https://www.old.example'),('${prefix}user_roles','r'),('${prefix}other','o');
    INSERT INTO ${prefix}2_options VALUES ('${prefix}2_user_roles'),('home');
    INSERT INTO ${prefix}usermeta VALUES (1,'${prefix}capabilities','c'),(2,'${prefix}2_user_level','l'),(3,'nickname','${prefix}x');
    INSERT INTO other VALUES ('${prefix}capabilities');`

  test('of the dump become those of the site, including what WordPress finds by them', async () => {
    const renamed = await read(wordpress('abc_'), [{ from: 'abc_', to: 'wp_' }])
    expect(renamed.tables_.map(({ name }) => name)).toEqual(
      ['options', 'usermeta', 'posts', 'postmeta', '2_options', '2_posts', '2_postmeta']
        .map((name) => `wp_${name}`)
        .concat('other'),
    )
    expect(renamed.tables_[3]?.foreignKeys).toMatchObject([{ table: 'wp_posts' }])
    expect(renamed.lines).toEqual([
      'wp_options: siteurl|https://old.example/',
      'wp_options: home|https://www.old.example',
      'wp_options: wp_user_roles|r',
      'wp_options: abc_other|o',
      'wp_2_options: wp_2_user_roles',
      'wp_2_options: home',
      'wp_usermeta: 1|wp_capabilities|c',
      'wp_usermeta: 2|wp_2_user_level|l',
      'wp_usermeta: 3|nickname|abc_x',
      'other: abc_capabilities',
    ])
  })

  test('are detected, with the address', async () => {
    const found = { prefixes: ['abc_'], home: 'https://www.old.example', siteurl: 'https://old.example/' }
    expect((await read(wordpress('abc_'))).found).toEqual(found)
    expect((await read(`${table}${rows}`)).found).toEqual({ prefixes: [] })
    const two = wordpress('abc_') + wordpress('x_').replaceAll(' other', ' others').replaceAll('f FOREIGN', 'g FOREIGN')
    expect((await read(two)).found?.prefixes).toEqual(['abc_', 'x_'])
  })
})
