/** Tests of a copy of a database that gets only what has changed since it was filled. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb } from '../../../../test/support/own-mariadb.ts'
import type { ServerLogin } from '../../php/wp-config.ts'
import { type SitePlace, withSnapshot } from '../../site-database/database-content.ts'
import { changeBetween, type DatabaseSums, totalsDifference, totalsOf } from '../../site-database/database-sums.ts'

const tables = `
  CREATE TABLE posts (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, body text, price float, stock decimal(10,2), flags bit(3),
    kind enum('a','b'), shape point, UNIQUE KEY body (body(20)));
  CREATE TABLE links (post bigint, term int, PRIMARY KEY (post, term));
  CREATE TABLE words (word varchar(50) CHARACTER SET latin1 PRIMARY KEY, n int);
  CREATE TABLE plain (a varchar(10), b varchar(10));`
const rows = `
  INSERT INTO posts (body, price, stock, flags, kind, shape) SELECT concat(seq, repeat('x', 20000)), seq / 7, seq, seq % 8, 'a', point(seq, 1)
    FROM seq_1_to_200;
  INSERT INTO links SELECT CAST(seq DIV 3 AS SIGNED) - 50, seq FROM seq_1_to_300;
  INSERT INTO words SELECT concat('w', seq), seq FROM seq_1_to_20;
  INSERT INTO plain VALUES ('a', 'bc'), ('a', 'bc'), (NULL, '');`

describe.skipIf(!hasMariaDb)('a copy that is brought level', () => {
  let maria: OwnMariaDb
  let own: SitePlace
  let copy: SitePlace
  let logins: { own: ServerLogin; copy: ServerLogin }
  let number = 0
  beforeAll(async () => {
    maria = await startOwnMariaDb()
  })
  afterAll(() => maria?.stop())
  beforeEach(async () => {
    own = await maria.home(++number)
    copy = await maria.home(++number)
    logins = { own: await maria.databases.create(own), copy: await maria.databases.create(copy) }
    await asOwner(...`${tables}${rows}`.split(';').slice(0, -1), 'ANALYZE TABLE posts')
  })
  const asOwner = (...statements: string[]) => maria.asSite(logins.own, ...statements)
  /** Fills the copy. @returns the sums of what it has */
  const fill = () =>
    withSnapshot(maria.content, own, async (snapshot) => {
      const sums = (await snapshot.sums?.()) as DatabaseSums
      await maria.content.load(copy, snapshot.dump())
      await maria.content.switch(copy)
      await maria.content.cleanUp(copy)
      return sums
    })
  /** Brings the copy level. @returns what has changed, and how many bytes were written for it */
  const level = (before: DatabaseSums) =>
    withSnapshot(maria.content, own, async (snapshot) => {
      const change = changeBetween(before, (await snapshot.sums?.(before)) as DatabaseSums)
      const names = [...change.whole, ...Object.keys(change.parts)]
      const pieces: Uint8Array[] = []
      for await (const piece of snapshot.dump({ tables: names, parts: change.parts })) pieces.push(piece)
      const sql = async function* () {
        yield* pieces
      }
      // A host may die before it has recorded that it is done.
      for (let run = 0; run < 2; run++) await maria.content.bringLevel(copy, sql(), change)
      return { ...change, bytes: Buffer.concat(pieces).length }
    })
  const dumpOf = (place: SitePlace) =>
    withSnapshot(maria.content, place, async (snapshot) => {
      let text = ''
      for await (const piece of snapshot.dump()) text += Buffer.from(piece).toString('latin1')
      return text
    })
  const difference = async (sums: DatabaseSums) =>
    totalsDifference(totalsOf(sums), (await maria.content.totals(copy)) ?? {})

  test('has the same sums as the original, of whatever type the values are', async () => {
    expect(await difference(await fill())).toBeUndefined()
  })

  test('gets only the parts of tables in which rows were added, changed, or removed', async () => {
    const before = await fill()
    await asOwner(
      'UPDATE posts SET price = 3 WHERE id = 150',
      'DELETE FROM posts WHERE id = 20',
      "INSERT INTO posts (body, kind) VALUES ('new', 'b')",
      'DELETE FROM links WHERE post < 0 AND term = 10',
      'INSERT INTO links VALUES (-49, 999)',
      "UPDATE words SET word = 'ö' WHERE n = 3",
    )
    const { bytes, whole, parts, gone, totals } = await level(before)
    expect([whole, Object.keys(parts), gone]).toEqual([['words'], ['links', 'posts'], []])
    expect(parts.posts?.changed.length).toBe(3)
    expect(bytes).toBeLessThan(2_000_000)
    expect(await dumpOf(copy)).toBe(await dumpOf(own))
    expect(totalsDifference(totals, (await maria.content.totals(copy)) ?? {})).toBeUndefined()
  })

  test('gets whole tables that are new, were defined again, or have no number as their key, and loses those that are gone', async () => {
    const before = await fill()
    await asOwner(
      'ALTER TABLE posts ADD more int DEFAULT 4',
      "INSERT INTO plain VALUES ('a', 'bc')",
      'CREATE TABLE fresh (id int PRIMARY KEY)',
      'INSERT INTO fresh VALUES (1)',
      'DROP TABLE words',
    )
    const { whole, parts, gone } = await level(before)
    expect([whole, Object.keys(parts), gone]).toEqual([['fresh', 'plain', 'posts'], [], ['words']])
    expect(await dumpOf(copy)).toBe(await dumpOf(own))
  })

  test('is told apart by each kind of change, also where rows are alike', async () => {
    for (const [statement, what] of [
      ["UPDATE plain SET a = 'ab', b = 'c' WHERE a = 'a'", 'rows of the table plain are not the same'],
      ['UPDATE plain SET b = NULL WHERE a IS NULL', 'rows of the table plain are not the same'],
      ['UPDATE posts SET price = price + 0.001 WHERE id = 7', 'rows of the table posts are not the same'],
      ['UPDATE posts SET flags = 1 WHERE id = 8', 'rows of the table posts are not the same'],
      ['DELETE FROM plain LIMIT 1', 'the table plain has 2 rows instead of 3'],
      ['DROP TABLE words', 'the table words is missing'],
      ['CREATE TABLE fresh (id int)', 'there is an additional table fresh'],
    ] as const) {
      const before = await fill()
      await maria.asSite(logins.copy, statement)
      expect(await difference(before)).toBe(what)
    }
  })

  test('does not exist for rows that the server cannot sum up', async () => {
    await asOwner('CREATE TABLE huge (id int PRIMARY KEY, one longtext, other longtext)')
    await asOwner("INSERT INTO huge VALUES (1, repeat('x', 40000000), NULL)", 'UPDATE huge SET other = one')
    await withSnapshot(maria.content, own, async (snapshot) => expect(await snapshot.sums?.()).toBeUndefined())
    expect(await maria.content.totals(own)).toBeUndefined()
  })
})
