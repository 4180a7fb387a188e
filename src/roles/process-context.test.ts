import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postgresUrl, testDatabase } from '../../test/support/database.ts'
import { openControlDatabase } from './process-context.ts'

test.skipIf(!postgresUrl)('the first start fills an empty database of PostgreSQL', async () => {
  const { connection, drop } = await testDatabase('postgres', {})
  const dataDir = await mkdtemp(join(tmpdir(), 'stead-first-start-'))
  try {
    const settings = { dataDir, databaseUrl: connection.url as string }
    const { database, belonging } = await openControlDatabase(settings, { makes: true, strangers: 'refuse' })
    try {
      const { identity } = await database.read.selectFrom('installation').select('identity').executeTakeFirstOrThrow()
      expect([belonging.kind, identity]).toEqual(['new', expect.any(String)])
    } finally {
      await database.close()
    }
  } finally {
    await rm(dataDir, { recursive: true })
    await drop()
  }
})
