import { randomBytes, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { revokeRole } from '../../certificates/role-certificates.store.ts'
import { readConfig } from '../../config.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { DatabaseSilent } from '../../platform/db/postgres-silence.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { noLog } from '../../platform/log/log.ts'
import type { CertifiedRole } from '../../platform/mtls/role-name.ts'
import type { ProcessContext } from '../process-context.ts'
import { openIdentityOf, openRoleIdentity, type RoleIdentity } from './role-certificate.ts'

let made: TestDatabase
let now: number
let folder: string
const opened: RoleIdentity[] = []
const sealer = createSealer(randomBytes(32))
beforeEach(async () => {
  made = await testDatabase('sqlite')
  now = Date.now()
  folder = await mkdtemp(join(tmpdir(), 'stead-role-'))
})
afterEach(async () => {
  for (const each of opened.splice(0)) each.close()
  await made.drop()
  await rm(folder, { recursive: true })
})

const context = () => ({
  config: readConfig({ STEAD_DATA_DIR: folder }),
  database: made.database,
  sealer,
  log: noLog,
  masterKey: Buffer.alloc(32),
})
/** A database that is away, and says nothing. */
const away = () => {
  const read = () => {
    throw new DatabaseSilent()
  }
  const database = { changes: made.database.changes, transaction: async () => read() }
  return { ...context(), database: Object.defineProperty(database, 'read', { get: read }) as never }
}
async function start(by: ReturnType<typeof context> = context(), name = 'h1', role: CertifiedRole = 'host') {
  const identity = await openRoleIdentity(by, { role, name }, () => now)
  opened.push(identity)
  return identity
}
const leafOf = ({ trust }: RoleIdentity) => new X509Certificate(trust.options().cert as string)
const revoke = () => made.database.transaction((tx) => revokeRole(tx, { role: 'host', name: 'h1' }, now))

test('a certificate is renewed at half of its time, and existing connections hear of it', async () => {
  const identity = await start()
  const first = identity.serial()
  let changes = 0
  identity.trust.onChange(() => changes++)
  now += 15 * DAY_MS - 60_000
  await identity.look()
  expect(identity.serial()).toBe(first)
  now += 120_000
  await identity.look()
  expect(identity.serial()).not.toBe(first)
  expect(leafOf(identity).serialNumber).toBe(identity.serial())
  expect(changes).toBeGreaterThan(0)
})

test('a revoked role keeps its certificate while it runs, and gets another at its next start', async () => {
  const identity = await start()
  const first = identity.serial()
  await revoke()
  now += 20 * DAY_MS
  await identity.look()
  expect(identity.serial()).toBe(first)
  const leaf = leafOf(identity)
  expect(identity.trust.faultOf(leaf, { roles: ['host'] })).toMatch(/was revoked/)
  expect((await start()).serial()).not.toBe(first)
})

test('a revocation reaches a running process without waiting for its next look', async () => {
  const identity = await start()
  await revoke()
  await expect.poll(() => identity.trust.faultOf(leafOf(identity), { roles: ['host'] })).toMatch(/was revoked/)
})

test('a process gets a new certificate when its authority is gone, as after a restored database', async () => {
  const identity = await start()
  const first = identity.serial()
  await made.database.transaction((tx) => tx.deleteFrom('role_authorities').execute())
  await identity.look()
  expect(identity.serial()).not.toBe(first)
  expect(identity.trust.options().ca).toHaveLength(1)
})

test('nothing is certified on SQLite, where everything is on one machine', async () => {
  const own = context() as Partial<ProcessContext> as ProcessContext
  expect(await openIdentityOf(own, 'edge')).toBeUndefined()
  expect(await made.database.read.selectFrom('role_authorities').select('number').execute()).toEqual([])
})

test('while the database is away, a process starts with its last certificate and the last revocations', async () => {
  const identity = await start()
  await revoke()
  await identity.look()
  const again = await start(away())
  expect(again.serial()).toBe(identity.serial())
  expect(again.trust.options()).toEqual(identity.trust.options())
  expect(again.trust.faultOf(leafOf(identity), { roles: ['host'] })).toMatch(/was revoked/)
  // It is not readable without the master key.
  const { key } = identity.trust.options()
  const lines = (key as string).split('\n')
  expect(await readFile(join(folder, 'known-host.json'), 'utf8')).not.toContain(lines[1])
})

test('while the database is away, no process starts as another, with an expired certificate, or as a control', async () => {
  await start()
  await expect(start(away(), 'h2')).rejects.toThrow(DatabaseSilent)
  now += 31 * DAY_MS
  await expect(start(away())).rejects.toThrow(DatabaseSilent)
  await start(context(), 'web1', 'control')
  await expect(start(away(), 'web1', 'control')).rejects.toThrow(DatabaseSilent)
})

test('without a valid certificate, a process that serves while the database is away waits for it', async () => {
  const first = (await start()).serial()
  now += 31 * DAY_MS
  const waits = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  const gone = away()
  const log = { ...noLog, warn: () => waits.resolve() } as never
  const { database, ...others } = { ...context(), log, untilBack: back.promise }
  let current = gone.database as typeof database
  const starting = start({
    ...others,
    database: {
      changes: database.changes,
      transaction: (work: never) => current.transaction(work),
      get read() {
        return current.read
      },
    } as never,
  })
  await waits.promise
  current = database
  back.resolve()
  expect((await starting).serial()).not.toBe(first)
  const refused = Promise.reject(new Error('the login was revoked'))
  refused.catch(() => {})
  await expect(start({ ...gone, ...{ untilBack: refused } }, 'h2')).rejects.toThrow('the login was revoked')
})

test('any other failure than an absent database is told', async () => {
  await start()
  const broken = { ...away(), database: { changes: made.database.changes, read: {} } as never }
  await expect(start(broken)).rejects.toThrow(TypeError)
})
