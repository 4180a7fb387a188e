import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CompiledQuery, Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { nodeSqliteDialect } from './node-sqlite.ts'

test('names row fields after their columns, even when another program changes the table', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stead-sqlite-'))
  const file = join(folder, 'a.db')
  const other = new DatabaseSync(file)
  other.exec(
    `create table things (id integer primary key, "a ""name""" text); insert into things values (1, 'x'), (2, null)`,
  )
  const db = new Kysely<object>({ dialect: nodeSqliteDialect({ file, readOnly: true }) })
  const all = async (query: string) => (await db.executeQuery(CompiledQuery.raw(query))).rows
  try {
    const things = 'select * from things order by id'
    const before = [
      { id: 1, 'a "name"': 'x' },
      { id: 2, 'a "name"': null },
    ]
    expect(await all(things)).toEqual(before)
    other.exec(`alter table things add column later text default 'y'`)
    expect(await all(things)).toEqual(before.map((row) => ({ ...row, later: 'y' })))
    expect(await all('select id as one, id as one, count(*) over () from things limit 1')).toEqual([
      { one: 1, 'count(*) over ()': 2 },
    ])
    expect(await all('select id from things where id = 3')).toEqual([])
  } finally {
    await db.destroy()
    other.close()
    await rm(folder, { recursive: true })
  }
})
