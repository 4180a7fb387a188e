import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { readConfig } from '../../config.ts'
import { setHostState } from '../../resources/installation/hosts/host-changes.store.ts'
import { announceHost } from './announce.ts'

describe.each(dialects)('a starting host on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let made: TestDatabase
  beforeAll(async () => {
    made = await testDatabase(dialect)
  })
  afterAll(() => made?.drop())

  const announce = (name: string, settings: Record<string, string> = {}) => {
    const identity = { current: { host: `identity of ${name}`, epoch: 1 } }
    const context = { config: readConfig(settings), database: made.database }
    return announceHost(context as never, { name, identity } as never, 'http://127.0.0.1:1')
  }
  const names = async () =>
    (await made.database.read.selectFrom('hosts').select('name').orderBy('id').execute()).map(({ name }) => name)

  test('is refused next to another one without shared backup storage, and records nothing', async () => {
    await announce('h1')
    await expect(announce('h2')).rejects.toThrow(
      /cannot start together with h1.*STEAD_BACKUP_S3_BUCKET, or STEAD_BACKUP_DIR/,
    )
    expect(await names()).toEqual(['h1'])
    const h2 = await announce('h2', { STEAD_BACKUP_DIR: '/mnt/backups' })
    expect(await names()).toEqual(['h1', 'h2'])

    // A lost host has nothing left to protect.
    await made.database.transaction((tx) => setHostState(tx, h2, { state: 'lost', now: 1 }))
    await announce('h1')
  })

  test('serves the datacenters of its setting, else those with which it joined, else all', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'stead-announce-'))
    const served = async (settings: Record<string, string> = {}) => {
      await announce('h1', { STEAD_DATA_DIR: dataDir, STEAD_BACKUP_DIR: '/mnt/backups', ...settings })
      const row = made.database.read.selectFrom('hosts').select('datacenters').where('name', '=', 'h1')
      return (await row.executeTakeFirstOrThrow()).datacenters
    }
    expect(await served()).toBe('')
    await writeFile(join(dataDir, 'joined.json'), JSON.stringify({ datacenters: ['AMS', 'DFW'] }))
    expect(await served()).toBe('AMS,DFW')
    expect(await served({ STEAD_HOST_DATACENTERS: 'BUR' })).toBe('BUR')
    await rm(dataDir, { recursive: true })
  })

  test('takes as many sites as its setting says, also after a change of it', async () => {
    const room = async (settings: Record<string, string> = {}) => {
      await announce('h1', { STEAD_BACKUP_DIR: '/mnt/backups', ...settings })
      const row = made.database.read.selectFrom('hosts').select('max_sites').where('name', '=', 'h1')
      return (await row.executeTakeFirstOrThrow()).max_sites
    }
    expect([await room(), await room({ STEAD_HOST_MAX_SITES: '40' }), await room()]).toEqual([100_000, 40, 100_000])
  })

  test('is refused when it is marked lost, with the command that lets it return', async () => {
    await expect(announce('h2')).rejects.toThrow('stead host return --name=h2')
  })
})
