/**
 * Tables with MariaDB features that a definition cannot express. Their text comes from a site, and runs on a server.
 */
import { describe, expect, test } from 'vitest'
import { describeBeyond } from './beyond.ts'
import { DumpReader } from './read-dump.ts'
import type { TableDefinition } from './table.ts'
import { textOfTable } from './write-table.ts'

function read(text: string): TableDefinition {
  const reader = new DumpReader()
  const events = [...reader.write(Buffer.from(`${text};\n-- Dump completed`)), ...reader.finish()]
  const created = events.filter((event) => event.kind === 'create')
  expect(events).toHaveLength(1)
  return (created[0] as { table: TableDefinition }).table
}

test.each([
  [
    'a type of its own',
    'CREATE TABLE `t` (`id` uuid NOT NULL, `a` inet6 DEFAULT NULL)',
    'column id: uuid, column a: inet6',
  ],
  ['a compressed column', 'CREATE TABLE `t` (`v` longtext /*M!100301 COMPRESSED*/ NOT NULL)', 'column v: COMPRESSED'],
  ['a column that nobody sees', 'CREATE TABLE `t` (`v` int(11) INVISIBLE DEFAULT 5)', 'column v: INVISIBLE'],
  ['a key that is not used', 'CREATE TABLE `t` (`v` int(11), KEY `k` (`v`) IGNORED)', 'KEY k IGNORED'],
  [
    'a period',
    'CREATE TABLE `t` (`a` date, `b` date, PERIOD FOR `p` (`a`, `b`), UNIQUE KEY `k` (`a`,`p` WITHOUT OVERLAPS))',
    'column p: PERIOD, column p: WITHOUT OVERLAPS',
  ],
  ['partitions', 'CREATE TABLE `t` (`a` int(11)) ENGINE=InnoDB\n PARTITION BY HASH (`a`)\nPARTITIONS 4', 'PARTITION'],
  ['a sequence', 'CREATE TABLE `t` (`next_not_cached_value` bigint(21) NOT NULL) ENGINE=InnoDB SEQUENCE=1', 'SEQUENCE'],
  [
    'pages that are compressed',
    "CREATE TABLE `t` (`a` int(11)) ENGINE=InnoDB `page_compressed`='1'",
    'PAGE_COMPRESSED',
  ],
])('keeps %s in the server’s own text, and names it', (_name, text, named) => {
  const table = read(text)
  expect(describeBeyond([table])).toBe(`Only MariaDB can restore all of t (${named})`)
  // Reading it again yields the same.
  expect(textOfTable(read(textOfTable(table)))).toBe(textOfTable(table))
})

test('names earlier versions of rows, and a default from a sequence, as lost', () => {
  const versioned = read('CREATE TABLE `t` (`a` int(11)) ENGINE=InnoDB WITH SYSTEM VERSIONING')
  expect(versioned.ownText).toMatch(/WITH SYSTEM VERSIONING$/)
  expect(describeBeyond([versioned])).toContain('Not in the backup: t (earlier versions of its rows)')
  const counted = read('CREATE TABLE `t` (`a` int(11) DEFAULT nextval(`other`.`s`))')
  expect(textOfTable(counted)).not.toContain('nextval')
  expect(describeBeyond([counted])).toBe('Not in the backup: t (column a: DEFAULT of a sequence)')
})

test('recognizes generated columns with the start time of a row, for which rows have no value', () => {
  const { columns } = read('CREATE TABLE `t` (`a` timestamp(6) GENERATED ALWAYS AS ROW START INVISIBLE, `b` int(11))')
  expect(columns.map(({ name, generated }) => [name, generated !== undefined])).toEqual([
    ['a', true],
    ['b', false],
  ])
})

test('keeps no server text for an ordinary table, and gives no warning', () => {
  const table = read(
    "CREATE TABLE `t` (`a` int(11) NOT NULL AUTO_INCREMENT, `v` varchar(20) DEFAULT 'x' COMMENT 'uuid', PRIMARY KEY (`a`) USING BTREE) ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
  )
  expect([table.ownText, table.more, describeBeyond([table])]).toEqual([undefined, undefined, undefined])
})

test('names three of many tables and columns, and counts the others', () => {
  const columns = Array.from({ length: 5 }, (_, n) => `\`c${n}\` uuid`).join(', ')
  const tables = Array.from({ length: 5 }, (_, n) => read(`CREATE TABLE \`t${n}\` (${columns})`))
  const said = describeBeyond(tables) as string
  expect(said).toContain('t0 (column c0: uuid, column c1: uuid, column c2: uuid, and 2 more things), t1')
  expect(said).toMatch(/, and 2 more tables$/)
})

describe('removes references to other places from a table:', () => {
  const body = '(`id` uuid NOT NULL)'
  test.each([
    ["ENGINE=FEDERATED CONNECTION='mysql://a@b/c/d'", /FEDERATED|CONNECTION|mysql:/],
    ["ENGINE=CONNECT TABLE_TYPE=CSV FILE_NAME='/etc/passwd'", /CONNECT|passwd/],
    ["ENGINE=InnoDB DATA DIRECTORY='/tmp' INDEX DIRECTORY='/tmp'", /DIRECTORY|tmp/],
    ['ENGINE=MRG_MyISAM UNION=(`other`.`t`)', /MRG|UNION|other/],
    [
      "ENGINE=InnoDB PARTITION BY HASH (`id`) (PARTITION `p` DATA DIRECTORY = '/tmp' ENGINE = FEDERATED TABLESPACE = x)",
      /DIRECTORY|tmp|FEDERATED|TABLESPACE/,
    ],
    ['ENGINE=InnoDB AS SELECT * FROM `other`.`t`', /SELECT|other/],
    ['LIKE `other`.`t`', /LIKE|other/],
  ])('%s', (options, unwanted) => {
    const text = textOfTable(read(`CREATE TABLE \`other\`.\`t\` ${body} ${options}`))
    expect(text).not.toMatch(unwanted)
    expect(text).toContain('ENGINE=InnoDB')
  })

  test('removes names of databases', () => {
    const text = textOfTable(
      read(
        'CREATE TABLE `x`.`t` (`id` uuid, `n` int(11) AS (`x`.`t`.`m`) STORED, FOREIGN KEY (`n`) REFERENCES `other`.`u` (`id`))',
      ),
    )
    expect(text).not.toMatch(/`x`|`other`/)
    expect(text).toContain('REFERENCES `u`')
  })

  test('keeps a semicolon, a quote, and a comment inside a name or a text', () => {
    const name = 'a;b\'c"d--e/*f'
    const table = read(
      `CREATE TABLE \`${name}\` (\`${name}\` uuid COMMENT '${name.replaceAll("'", "''")}') COMMENT='it''s; \\\\'`,
    )
    const again = read(textOfTable(table))
    expect([again.name, again.columns[0]?.name, again.columns[0]?.comment, again.comment]).toEqual([
      name,
      name,
      name,
      "it's; \\",
    ])
  })

  test('drops the server text of a table with a query', () => {
    const table = read('CREATE TABLE `t` (`id` uuid DEFAULT (select `a` from `b`))')
    expect(table.ownText).toBeUndefined()
  })
})
