/** Tests the start of a host that has joined, with and without the master key. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { postgresUrl } from '../../../test/support/database.ts'
import { installationOf } from '../../hosting/identity/identity.store.ts'
import { edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import type { HostKeys } from '../../platform/crypto/host-keys.ts'
import { markOfKey } from '../../platform/crypto/master-key.ts'
import { standardOutput } from '../../platform/terminal/standard-output.ts'
import { type Joined, readJoined } from '../certificates/join.ts'
import { isReadable, type JoinedMachine, type LoginLab, openLoginLab, sealedTexts } from '../logins/login.fixture.ts'

const masterKey = Buffer.alloc(32, 7)

describe.skipIf(!postgresUrl)('a host that joined', () => {
  let lab: LoginLab
  let machine: JoinedMachine
  let settings: Record<string, string>
  beforeAll(async () => {
    lab = await openLoginLab()
    machine = await lab.join({ role: 'host', name: 'h3' })
    settings = { STEAD_DATABASE_URL: lab.api.connection.url as string }
  })
  afterAll(() => lab?.close())

  const joined = async () => (await readJoined(machine.dataDir)) as Joined

  test('starts without the master key, and with the database of its settings', async () => {
    const context = await machine.open(settings)
    expect([context.masterKey, context.hasOwnLogin]).toEqual([undefined, false])
    expect(context.config.databaseUrl).toBe(settings.STEAD_DATABASE_URL)
    expect(context.hostKey).toBe(edgeKeysOf(masterKey).toHosts)
    // With the login that it got, unless the control could not create one.
    expect((await machine.open()).hasOwnLogin).toBe(true)
    const { databaseUrl, ...without } = await joined()
    await writeFile(join(machine.dataDir, 'joined.json'), JSON.stringify(without))
    await expect(machine.open()).rejects.toThrow('Set STEAD_DATABASE_URL as on the control')
    await writeFile(join(machine.dataDir, 'joined.json'), JSON.stringify({ ...without, databaseUrl }))
  })

  test('opens nothing that is sealed in the database', async () => {
    const context = await machine.open(settings)
    const sealed = await sealedTexts(lab.api.database)
    expect(sealed.map(({ column }) => column)).toContain('role_authorities.private_key')
    const { files, toHosts } = (await joined()).keys as HostKeys
    for (const { text } of sealed) for (const key of [files, toHosts]) expect(isReadable(text, key)).toBe(false)
    const text = lab.sealer.seal('secret', 'any')
    for (const sealer of [context.sealer, context.edgeSealer]) expect(() => sealer.open(text, 'any')).toThrow()
    const other = await (await lab.join({ role: 'host', name: 'h4' })).open(settings)
    expect(() => other.sealer.open(context.sealer.seal('file', 'any'), 'any')).toThrow()
    const again = await machine.open(settings)
    expect(again.sealer.open(context.sealer.seal('file', 'any'), 'any')).toBe('file')
  })

  test('uses the storage of the control without its credentials, unless its settings name one', async () => {
    const place = { bucket: 'backups', region: 'us-east-1', prefix: 'stead' }
    expect((await joined()).storage).toEqual(place)
    const { signedStorage, config } = await machine.open(settings)
    expect([signedStorage, config.backupS3Bucket, config.backupS3Prefix]).toEqual([place, 'backups', 'stead'])
    const ownSettings: Record<string, string>[] = [
      { STEAD_BACKUP_S3_BUCKET: 'own' },
      { STEAD_BACKUP_DIR: machine.dataDir },
    ]
    for (const own of ownSettings) {
      const before = await machine.open({ ...settings, ...own })
      expect([before.signedStorage, before.config.backupS3Bucket]).toEqual([...[undefined, own.STEAD_BACKUP_S3_BUCKET]])
    }
    // A host that joined with an earlier version asks for it.
    const { storage, ...earlier } = await joined()
    await writeFile(join(machine.dataDir, 'joined.json'), JSON.stringify(earlier))
    expect((await machine.open(settings)).signedStorage).toEqual(place)
    expect((await joined()).storage).toEqual(storage)
  })

  test('says which settings give it more rights than it needs', async () => {
    async function warnings(own: Record<string, string>): Promise<string[]> {
      const write = vi.spyOn(standardOutput, 'write').mockImplementation(() => undefined)
      try {
        await machine.open({ ...own, STEAD_LOG_LEVEL: 'warn', STEAD_LOG_FORMAT: 'json' })
        return write.mock.calls.map(([line]) => JSON.parse(line).msg)
      } finally {
        write.mockRestore()
      }
    }
    expect(await warnings({})).toEqual([])
    expect(await warnings({ STEAD_BACKUP_DIR: machine.dataDir })).toEqual([])
    expect(await warnings({ STEAD_BACKUP_S3_BUCKET: 'own' })).toEqual([
      expect.stringContaining('credentials of the whole storage for backups. Remove the STEAD_BACKUP_S3 settings'),
    ])
    expect(await warnings(settings)).toEqual([expect.stringContaining('all rights in the database. Remove it')])
  })

  test('uses the master key while it has it, in a setting or a file', async () => {
    const given = await machine.open({ ...settings, STEAD_MASTER_KEY: masterKey.toString('base64') })
    expect(given.masterKey).toEqual(masterKey)
    const other = await lab.join({ role: 'host', name: 'h5' })
    await writeFile(join(other.dataDir, 'master.key'), masterKey.toString('base64'), { mode: 0o600 })
    expect((await other.open(settings)).masterKey).toEqual(masterKey)
  })

  test('gets its keys from the control if it joined with an earlier version, or they changed', async () => {
    const { keys, ...earlier } = await joined()
    await writeFile(join(machine.dataDir, 'joined.json'), JSON.stringify(earlier))
    const before = await machine.open(settings)
    expect(await joined()).toMatchObject({ keys })
    await lab.changeMasterKey(Buffer.alloc(32, 8))
    const after = await machine.open(settings)
    expect(after.hostKey).not.toBe(before.hostKey)
    const { keyMark } = (await installationOf(lab.api.database.read)) ?? {}
    expect([(await joined()).keys?.mark, keyMark]).toEqual([keyMark, markOfKey(Buffer.alloc(32, 8))])
    await lab.changeMasterKey(masterKey)
    expect((await machine.open(settings)).hostKey).toBe(before.hostKey)
    expect(await readFile(join(machine.dataDir, 'joined.json'), 'utf8')).not.toContain(masterKey.toString('base64url'))
  })
})
