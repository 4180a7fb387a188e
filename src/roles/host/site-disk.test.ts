import { expect, test } from 'vitest'
import { DatabaseSilent } from '../../platform/db/postgres-silence.ts'
import type { ProcessContext } from '../process-context.ts'
import { quotaOf } from './site-disk.ts'

test('PHP of a site starts with the quota of the settings while the database is away', async () => {
  const config = { siteDiskMb: 100 } as ProcessContext['config']
  const database = (error: Error) =>
    Object.defineProperty({}, 'read', {
      get() {
        throw error
      },
    }) as ProcessContext['database']
  const away = quotaOf({ config, database: database(new DatabaseSilent()) }, () => 30 << 20)
  expect(await away('/data/sites/h7')).toEqual({ bytes: 70 << 20, files: 20_000 })
  expect(await away('/data/templates/6.8')).toBeUndefined()
  const broken = quotaOf({ config, database: database(new Error('no such column')) }, () => 0)
  await expect(broken('/data/sites/h7')).rejects.toThrow('no such column')
})
