import { Duplex } from 'node:stream'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { postgresUrl } from '../../../test/support/database.ts'
import { privateStream } from './postgres-dialect.ts'

// These tests fail if pg's private parts change. The comments in postgres-dialect.ts say what to do then.
describe.skipIf(!postgresUrl)('undocumented behavior of pg that the dialect depends on', () => {
  let client: pg.Client
  beforeEach(async () => {
    client = new pg.Client({ connectionString: postgresUrl, pipeline: true } as pg.ClientConfig)
    client.on('error', () => {})
    await client.connect()
  })
  afterEach(() => client.end().catch(() => {}))

  test('writes statements to a stream that can hold them back and send them together', async () => {
    const stream = privateStream(client)
    expect(stream).toBeInstanceOf(Duplex)
    stream.cork()
    const first = client.query('select 1 as one')
    const afterFirst = stream.writableLength
    const second = client.query('select $1::int as two', [2])
    expect(afterFirst).toBeGreaterThan(0)
    expect(stream.writableLength).toBeGreaterThan(afterFirst)
    stream.uncork()
    expect([(await first).rows, (await second).rows]).toEqual([[{ one: 1 }], [{ two: 2 }]])
  })

  test('identifies a statement on a lost or closed connection by the text of its error', async () => {
    const isOver = new Promise((resolve) => client.once('end', () => resolve(undefined)))
    privateStream(client).destroy()
    await isOver
    await expect(client.query('commit')).rejects.toThrow('not queryable')
  })
})
