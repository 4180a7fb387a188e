import { randomBytes, X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { revokeRole } from '../../certificates/role-certificates.store.ts'
import { readConfig } from '../../config.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { noLog } from '../../platform/log/log.ts'
import type { ProcessContext } from '../process-context.ts'
import { openIdentityOf, openRoleIdentity, type RoleIdentity } from './role-certificate.ts'

let made: TestDatabase
let now: number
const opened: RoleIdentity[] = []
const sealer = createSealer(randomBytes(32))
beforeEach(async () => {
  made = await testDatabase('sqlite')
  now = Date.now()
})
afterEach(async () => {
  for (const each of opened.splice(0)) each.close()
  await made.drop()
})

const context = () => ({
  config: readConfig({ STEAD_DATA_DIR: '/nonexistent' }),
  database: made.database,
  sealer,
  log: noLog,
  hasOwnLogin: false,
})
async function start(by = context()) {
  const identity = await openRoleIdentity(by, { role: 'host', name: 'h1' }, () => now)
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
