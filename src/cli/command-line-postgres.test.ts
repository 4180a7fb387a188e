import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresUrl, testDatabase } from '../../test/support/database.ts'
import { launch } from './launcher.fixture.ts'

describe.skipIf(!postgresUrl)('no command creates, with PostgreSQL,', () => {
  let empty: string
  beforeAll(async () => {
    empty = await mkdtemp(join(tmpdir(), 'stead-cli-'))
  })
  afterAll(() => rm(empty, { recursive: true }))

  test('tables in a database that no Stead has used', async () => {
    const { database, connection, drop } = await testDatabase('postgres', {})
    try {
      const { code, error } = await launch('account list', {
        STEAD_DATABASE_URL: connection.url as string,
        STEAD_DATA_DIR: empty,
      })
      expect([code, error]).toEqual([
        2,
        expect.stringMatching(/^No Stead installation found in the PostgreSQL database /),
      ])
      expect(await database.read.introspection.getTables({ withInternalKyselyTables: true })).toEqual([])
    } finally {
      await drop()
    }
  })

  test('a master key without a data folder', async () => {
    const { connection, drop } = await testDatabase('postgres')
    try {
      const none = { STEAD_DATABASE_URL: connection.url as string, STEAD_DATA_DIR: join(empty, 'none') }
      expect(await launch('key accept', none)).toMatchObject({
        code: 2,
        error: expect.stringMatching(/^The data folder .* does not exist\..*\n$/),
      })
    } finally {
      await drop()
    }
  })
})
