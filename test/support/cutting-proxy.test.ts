import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CuttingProxy, openCuttingProxy } from './cutting-proxy.ts'
import { postgresUrl } from './database.ts'

describe.skipIf(!postgresUrl)('a proxy that loses answers to COMMIT', () => {
  const table = `cut_${process.pid}_${Date.now()}`
  let proxy: CuttingProxy
  let cuts: RegExp | undefined
  const direct = new pg.Client({ connectionString: postgresUrl })
  beforeAll(async () => {
    await direct.connect()
    await direct.query(`create table ${table} (n integer)`)
    proxy = await openCuttingProxy(postgresUrl as string, (statements) =>
      statements.some((text) => cuts?.test(text)) ? 'answer' : 'pass',
    )
  })
  afterAll(async () => {
    await proxy.close()
    await direct.query(`drop table ${table}`)
    await direct.end()
  })

  const client = async () => {
    const made = new pg.Client({ connectionString: proxy.url })
    made.on('error', () => {})
    await made.connect()
    return made
  }
  const insert = async (through: pg.Client, n: number, prepared: boolean) => {
    await through.query('begin')
    await through.query({ text: `insert into ${table} values ($1)`, values: [n], ...(prepared && { name: 'insert' }) })
    await through.query('commit')
  }
  const numbers = async () => (await direct.query(`select n from ${table} order by n`)).rows.map(({ n }) => n)

  test.each([
    { how: 'a plain statement', prepared: false, n: 1 },
    { how: 'a prepared statement', prepared: true, n: 3 },
  ])('$how: commits the transaction, the client never learns of it, and others are served', async ({ prepared, n }) => {
    const other = await client()
    const cut = await client()
    if (prepared) await insert(cut, n + 1, true)
    cuts = /^insert/
    await expect(insert(cut, n, prepared)).rejects.toThrow()
    cuts = undefined
    expect(await numbers()).toContain(n)
    await insert(other, n + 10, prepared)
    expect(await numbers()).toContain(n + 10)
    await other.end()
  })

  test('answers a transaction that was not chosen', async () => {
    cuts = /^update/
    const through = await client()
    await insert(through, 30, false)
    await through.end()
    expect(proxy.cuts).toBe(2)
    expect(await numbers()).toContain(30)
  })
})
