import { describe, expect, test } from 'vitest'
import { dumpDifference, type Summing, sumUp } from './compare-dumps.ts'
import { sumUpApart } from './sum-up-apart.ts'

const table = 'CREATE TABLE t (id int PRIMARY KEY, v varchar(20), f float, d decimal(10,2));'

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(`${text}\n-- Dump completed\n`)
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}
describe.each([
  ['in this thread', sumUp],
  ['in a thread of its own', sumUpApart],
])('two dumps, summarized %s', (_where, begin: () => Summing) => {
  async function sum(text: string) {
    const summing = begin()
    for await (const _piece of summing.through(pieces(text)));
    return summing.summary()
  }
  const difference = async (one: string, other: string) => dumpDifference(await sum(one), await sum(other))

  const rows = `${table} INSERT INTO t (id, v, f, d) VALUES (1, 'a', 0.1, 1.5), (2, NULL, 2, 0);`

  test('have equal content in any order and notation', async () => {
    const other = `CREATE TABLE T (id int PRIMARY KEY, v varchar(20), f float, d decimal(10,2));
      INSERT INTO T (d, f, v, id) VALUES ('0.00', 2.0, NULL, 2); INSERT INTO T (id, v, f, d) VALUES ('1', 'a', 0.10000000149011612, '1.50');`
    expect(await difference(rows, other)).toBeUndefined()
    expect((await sum(rows)).size).toBe(1)
  })

  test.each([
    [
      'a row that is missing',
      `${table} INSERT INTO t VALUES (1, 'a', 0.1, 1.5);`,
      'the table t has 1 rows instead of 2',
    ],
    ['a value', rows.replace("'a'", "'b'"), 'rows of the table t are not the same'],
    ['a text for nothing', rows.replace('NULL', "''"), 'rows of the table t are not the same'],
    [
      'values that have changed places',
      rows.replace("1, 'a', 0.1, 1.5", "1, 'a', 1.5, 0.1"),
      'rows of the table t are not the same',
    ],
    ['a table', 'CREATE TABLE u (id int);', 'the table t is missing'],
    ['one more table', `${rows} CREATE TABLE u (id int);`, 'there is an additional table u'],
  ])('differ by %s', async (_what, other, said) => {
    expect(await difference(rows, other)).toBe(said)
  })

  test('pass through unchanged', async () => {
    let text = ''
    for await (const piece of begin().through(pieces(rows))) text += Buffer.from(piece)
    expect(text).toBe(`${rows}\n-- Dump completed\n`)
    async function* cutOff() {
      yield Buffer.from(rows)
    }
    await expect(Array.fromAsync(begin().through(cutOff()))).rejects.toThrow('cut off')
  })
})
