/**
 * Dumps of other programs, loaded into each kind of database. Separate tests cover the reading
 * (`sql/foreign-dumps.test.ts`).
 */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ContentStand, contentKinds } from '../../../test/support/content-stands.ts'
import { DumpUnreadable, type SitePlace } from './database-content.ts'
import { type DumpImport, importDump } from './dumps/import-dump.ts'
import { lookIntoDump } from './dumps/look-into-dump.ts'

const phpMyAdmin = `-- phpMyAdmin SQL Dump
SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO";
START TRANSACTION;
/*!40101 SET NAMES utf8mb4 */;
CREATE TABLE \`abc_options\` (\`option_id\` bigint(20) UNSIGNED NOT NULL, \`option_name\` varchar(191) NOT NULL DEFAULT '',
  \`option_value\` longtext NOT NULL) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
INSERT INTO \`abc_options\` (\`option_id\`, \`option_name\`, \`option_value\`) VALUES (1, 'siteurl', 'https://old.example'), (2, 'home', 'https://old.example'),
  (3, 'abc_user_roles', 's:19:"https://old.example";');
CREATE TABLE \`abc_posts\` (\`ID\` int NOT NULL, \`t\` varchar(20)) ENGINE=Aria DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
CREATE TABLE \`abc_postmeta\` (\`ID\` int NOT NULL, \`post\` int NOT NULL);
INSERT INTO \`abc_posts\` VALUES (1, 'a'), (2, 'b');
ALTER TABLE \`abc_options\` ADD PRIMARY KEY (\`option_id\`), ADD UNIQUE KEY \`option_name\` (\`option_name\`);
ALTER TABLE \`abc_options\` MODIFY \`option_id\` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=9;
ALTER TABLE \`abc_posts\` ADD PRIMARY KEY (\`ID\`);
ALTER TABLE \`abc_postmeta\` ADD CONSTRAINT \`of\` FOREIGN KEY (\`post\`) REFERENCES \`abc_posts\` (\`ID\`) ON DELETE CASCADE;
DELIMITER $$
CREATE DEFINER=\`root\`@\`localhost\` TRIGGER \`tr\` AFTER INSERT ON \`abc_posts\` FOR EACH ROW DELETE FROM abc_options$$
DELIMITER ;
COMMIT;
`

const others = `CREATE TABLE wp_d (id int PRIMARY KEY, v varchar(20), w varchar(20));
INSERT INTO wp_d VALUES (1,'a','b'),(2,'c','d'),(3,'e','f');
INSERT IGNORE INTO wp_d VALUES (1,'other','b');
REPLACE INTO wp_d VALUES (2,'other','d');
INSERT INTO wp_d VALUES (3,'other','kept') ON DUPLICATE KEY UPDATE v = VALUES(v);
CREATE TABLE wp_e (id int); INSERT INTO wp_e VALUES (1); TRUNCATE wp_e; INSERT INTO wp_e VALUES (2);
CREATE TABLE wp_j (id int NOT NULL, j longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(\`j\`)),
  d datetime(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6), PRIMARY KEY (id) USING BTREE,
  FULLTEXT KEY f (j) /*!50100 WITH PARSER \`ngram\` */) ENGINE=Aria PAGE_CHECKSUM=1 ROW_FORMAT=PAGE;
CREATE TABLE wp_p (id int NOT NULL PRIMARY KEY) COLLATE=utf8mb4_uca1400_ai_ci
/*!50100 PARTITION BY HASH (id) PARTITIONS 4 */;
INSERT INTO wp_p VALUES (1),(2);
`

describe.each(contentKinds)('$kind:', ({ isHere, makes }) => {
  describe.skipIf(!isHere)('a dump of another program', () => {
    let stand: ContentStand
    let directory: SitePlace
    beforeAll(async () => {
      stand = await makes()
      directory = await stand.fresh()
    })
    afterAll(() => stand?.stop())
    const run = (sql: string) => stand.run(directory, sql)
    const open = (dump: string | Uint8Array) =>
      async function* () {
        yield Buffer.from(dump)
      }
    async function load(dump: string | Uint8Array, asked: Omit<DumpImport, 'open'> = {}) {
      const loaded = await importDump(stand.content, directory, { open: open(dump), ...asked })
      await stand.content.switch(directory)
      await stand.content.cleanUp(directory)
      return loaded
    }

    test('gets its keys and the site’s prefix and address, and names what is not a table', async () => {
      const asked = { prefix: 'wp_', fromPrefix: 'auto', address: 'new.example.com', fromAddress: 'auto' }
      expect(await load(gzipSync(phpMyAdmin), asked)).toEqual({
        ...{ tables: 3, rows: 5, warning: 'Not loaded: trigger tr' },
        found: { prefixes: ['abc_'], home: 'https://old.example', siteurl: 'https://old.example' },
      })
      await run("insert into wp_options (option_name, option_value) values ('next', '')")
      expect(await run('select * from wp_options order by option_id')).toEqual([
        ['1', 'siteurl', 'http://new.example.com'],
        ['2', 'home', 'http://new.example.com'],
        ['3', 'wp_user_roles', 's:23:"https://new.example.com";'],
        ['9', 'next', ''],
      ])
      expect(await run('select ID from wp_posts order by ID')).toEqual([['1'], ['2']])
      await expect(run("insert into wp_options (option_name, option_value) values ('home', '')")).rejects.toThrow()
      const snapshot = await stand.content.snapshot(directory)
      const text = String(Buffer.concat(await Array.fromAsync(snapshot.dump())))
      await snapshot.close()
      expect(text).toMatch(/UNIQUE KEY `option_name` \(`option_name`\)/)
      expect(text).toMatch(/FOREIGN KEY \(`post`\) REFERENCES `wp_posts` \(`ID`\) ON DELETE CASCADE/)
    })

    test('has the rows that its statements describe', async () => {
      expect(await load(others)).toMatchObject({ tables: 4, warning: expect.stringContaining('no last line') })
      expect(await run('select * from wp_d order by id')).toEqual([
        ['1', 'a', 'b'],
        ['2', 'other', 'd'],
        ['3', 'other', 'f'],
      ])
      expect(await run('select * from wp_e')).toEqual([['2']])
      expect(await run('select id from wp_p order by id')).toEqual([['1'], ['2']])
      await run("insert into wp_j (id, j) values (1, '{}')")
      const latin1 = Buffer.from(
        "SET NAMES latin1;CREATE TABLE wp_l (v varchar(20)) CHARSET=latin1;INSERT INTO wp_l VALUES ('M\xfcller');",
        'latin1',
      )
      await load(latin1, { keepsOthers: true })
      expect([await run('select * from wp_l'), await run('select * from wp_e')]).toEqual([[['Müller']], [['2']]])
    })

    test('that cannot be loaded reports the place and the reason, and changes nothing', async () => {
      await load(others)
      for (const [dump, message] of [
        [
          `${others}INSERT INTO wp_d VALUES (1,'a','b');`,
          /^The dump cannot be loaded: .*(UNIQUE|Duplicate).* line 13, byte \d+\. Correct/,
        ],
        ['CREATE TABLE wp_k (a int, KEY k (b));', /(A key of wp_k|Key column).* line 1, byte \d+\. Correct/],
        [`${others}ALTER TABLE wp_e ADD UNIQUE KEY u (id);INSERT INTO wp_e VALUES (2);`, /UNIQUE|Duplicate/],
        [
          `${others}LOAD DATA INFILE '/etc/passwd' INTO TABLE wp_e;`,
          /"LOAD" begins .* at line 13, byte \d+\. Remove the statement/,
        ],
        [gzipSync(others).subarray(0, 200), /The gzip file is cut off.*\. Copy the file again\.$/],
      ] as const) {
        const loading = load(dump)
        await expect(loading).rejects.toThrow(DumpUnreadable)
        await expect(loading).rejects.toThrow(message)
      }
      expect(await run('select * from wp_e')).toEqual([['2']])
      expect(await stand.left(directory)).toEqual([])
    })
  })
})

test('inspects a dump in a thread, which ends with the signal', async () => {
  const open = async function* () {
    yield Buffer.from(phpMyAdmin)
  }
  expect(await lookIntoDump(open())).toMatchObject({ sites: [{ prefix: 'abc_', hasUsers: false }] })
  const calling = new AbortController()
  const endless = async function* () {
    for (;;) {
      yield Buffer.from('-- more\n'.repeat(1000))
      calling.abort(new Error('called off'))
    }
  }
  await expect(lookIntoDump(endless(), calling)).rejects.toThrow('called off')
  const bad = async function* () {
    yield Buffer.from('<html>')
  }
  await expect(lookIntoDump(bad())).rejects.toThrow(/^"<" begins/)
})
