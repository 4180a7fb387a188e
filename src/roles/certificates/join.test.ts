import { randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request as ask } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { keyOfRequest, makeCertificateRequest } from '../../certificates/join/certificate-request.ts'
import { controlAddresses } from '../../certificates/join/control-addresses.store.ts'
import { type JoinToken, readJoinToken } from '../../certificates/join/join-token.ts'
import {
  createJoinToken,
  NameInUse,
  NoSuchHost,
  redeemJoinToken,
  TokenRefused,
} from '../../certificates/join/join-tokens.store.ts'
import { revokeRole } from '../../certificates/role-certificates.store.ts'
import { makeKeys } from '../../certificates/sign-certificate.ts'
import { type ListenAddress, readConfig } from '../../config.ts'
import { registerHost } from '../../hosting/host.store.ts'
import { identifyInstallation, installationOf } from '../../hosting/identity/identity.store.ts'
import { edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import { hostKeysOf } from '../../platform/crypto/host-keys.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import { noLog } from '../../platform/log/log.ts'
import type { RoleName } from '../../platform/mtls/role-name.ts'
import { testAuthority } from '../../platform/mtls/test-support.ts'
import { until } from '../../platform/operations/harness.ts'
import { keysOfMaster, requireMasterKey } from '../keys/process-keys.ts'
import { type InternalListener, startInternalListener } from './internal-listener.ts'
import { askControl, joinInstallation, readJoined } from './join.ts'
import { openRoleIdentity, type RoleIdentity } from './role-certificate.ts'

const h3: RoleName = { role: 'host', name: 'h3' }
const keys = keysOfMaster(randomBytes(32))
const { sealer } = keys
let made: TestDatabase
let folder: string
let listener: InternalListener
let opened: RoleIdentity[]
beforeEach(async () => {
  made = await testDatabase('sqlite')
  await made.database.transaction((tx) => identifyInstallation(tx, undefined, Date.now()))
  folder = await mkdtemp(join(tmpdir(), 'stead-join-'))
  opened = []
  listener = await startListener()
})
afterEach(async () => {
  for (const each of opened) each.close()
  await listener.stop()
  await made.drop()
  await rm(folder, { recursive: true })
})

const context = (dataDir = folder) => ({
  config: { ...readConfig({ STEAD_DATA_DIR: dataDir }), internalListen: { host: '127.0.0.1', port: 0 } },
  ...{ database: made.database, ...keys, log: noLog, hasOwnLogin: false },
  ...{ room: {} as never, logs: {} as never },
})
async function startListener(role: 'control' | 'host' = 'control'): Promise<InternalListener> {
  const identity = await identityOf({ role, name: 'c1' }, join(folder, 'none'))
  return (await startInternalListener(context(), identity.trust)) as InternalListener
}
async function identityOf(owner: RoleName, dataDir = folder, now?: () => number): Promise<RoleIdentity> {
  const identity = await openRoleIdentity(context(dataDir), owner, now)
  opened.push(identity)
  return identity
}
const options = (now = Date.now()) => ({ database: made.database, sealer, now })
const tokenFor = async (owner = h3, again = false) =>
  readJoinToken(await createJoinToken(options(), { ...owner, again, expiresAt: Date.now() + HOUR_MS })) as JoinToken
const control = () => ({ host: '127.0.0.1', port: listener.port })
const joinHere = (token: JoinToken) => joinInstallation(token, control(), folder)
const newKey = async () => (await makeKeys()).publicKey

test('a host joins with the datacenters of its token, and keeps them when its certificate is renewed', async () => {
  const owner = { ...h3, expiresAt: Date.now() + HOUR_MS, datacenters: ['AMS', 'DFW'] }
  const token = readJoinToken(await createJoinToken(options(), owner)) as JoinToken
  expect((await joinHere(token)).datacenters).toEqual(['AMS', 'DFW'])
  const before = await readJoined(folder)
  let now = Date.now()
  const identity = await identityOf(h3, folder, () => now)
  now += 15 * DAY_MS + HOUR_MS
  await identity.look()
  const after = await readJoined(folder)
  expect(after?.certificate).not.toBe(before?.certificate)
  expect(after?.datacenters).toEqual(['AMS', 'DFW'])
})

test('a host joins with the keys of its role, and again with the same data folder', async () => {
  const { certificate } = await joinHere(await tokenFor())
  const masterKey = requireMasterKey(keys)
  expect(await readJoined(folder)).toMatchObject({ keys: hostKeysOf(masterKey, 'h3') })
  // Such as after it was lost.
  await made.database.transaction((tx) => revokeRole(tx, h3, Date.now()))
  await made.database.transaction((tx) =>
    registerHost(tx, { name: 'h3', address: 'http://h3', datacenters: '', identity: 'i', epoch: 1, maxSites: 1000 }),
  )
  await expect(tokenFor()).rejects.toThrow(NameInUse)
  await expect(tokenFor({ role: 'host', name: 'h4' }, true)).rejects.toThrow(NoSuchHost)
  const again = await tokenFor(h3, true)
  const elsewhere = { ...h3, installation: 'another' }
  const here = { ...h3, installation: (await installationOf(made.database.read))?.identity }
  await expect(joinInstallation(again, control(), folder, { ...h3, name: 'h4' })).rejects.toThrow('belongs to host h4')
  await expect(joinInstallation(again, control(), folder, elsewhere)).rejects.toThrow('is for another installation')
  expect((await readJoined(folder))?.certificate).toBe(certificate)
  const renewed = await joinInstallation(again, control(), folder, here)
  expect(renewed.certificate).not.toBe(certificate)
  expect(await readJoined(folder)).toEqual(renewed)
})

test('a host without the master key cannot issue its certificate, and says how to get one', async () => {
  await joinHere(await tokenFor())
  const without = { ...context(), masterKey: undefined }
  const identity = await openRoleIdentity(without, h3)
  identity.close()
  await made.database.transaction((tx) => revokeRole(tx, h3, Date.now()))
  await expect(openRoleIdentity(without, h3)).rejects.toThrow('stead host token --name=h3 --again')
})

test('a machine joins once, and only it can read its key', async () => {
  const token = await tokenFor()
  const joined = await joinHere(token)
  expect(joined).toMatchObject({ ...h3, control: control() })
  expect(await readJoined(folder)).toEqual(joined)
  expect((await stat(join(folder, 'joined.json'))).mode & 0o777).toBe(0o600)
  expect(existsSync(join(folder, 'joining.key'))).toBe(false)
  // The database has neither the secret nor the key.
  const rows = JSON.stringify(await made.database.read.selectFrom('join_tokens').selectAll().execute())
  expect(rows).not.toContain(token.secret)
  const elsewhere = await mkdtemp(join(tmpdir(), 'stead-join-'))
  await expect(joinInstallation(token, control(), elsewhere)).rejects.toThrow(/was used by another machine/)
  await rm(elsewhere, { recursive: true })
})

test('of two machines with one token at the same time, one joins', async () => {
  const { secret } = await tokenFor()
  const keys = [await newKey(), await newKey()]
  const results = await Promise.allSettled(keys.map((publicKey) => redeemJoinToken(options(), { secret, publicKey })))
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('a machine that was killed before it got the answer joins again with the same token', async () => {
  const token = await tokenFor()
  const { publicKey, privateKey } = await makeKeys()
  await writeFile(join(folder, 'joining.key'), privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())
  await redeemJoinToken(options(), { secret: token.secret, publicKey })
  const { certificate } = await joinHere(token)
  expect(new X509Certificate(certificate).publicKey.equals(publicKey)).toBe(true)
})

test('a token ends, and a wrong one is refused', async () => {
  const { secret } = await tokenFor()
  const publicKey = await newKey()
  const later = options(Date.now() + HOUR_MS + 1)
  await expect(redeemJoinToken(later, { secret, publicKey })).rejects.toThrow(TokenRefused)
  await expect(redeemJoinToken(options(), { secret: 'other', publicKey })).rejects.toThrow(TokenRefused)
  for (const text of ['', 'st1.00.x', `st2.${'0'.repeat(32)}.${'x'.repeat(43)}`])
    expect(readJoinToken(text)).toBeUndefined()
})

test('there is no token for the name of a host that exists', async () => {
  const row = { ...{ name: 'h3', address: '', datacenters: '', max_sites: 9 }, facts: '{}', seen_at: 0 }
  await made.database.transaction((tx) => tx.insertInto('hosts').values(row).execute())
  await expect(tokenFor()).rejects.toThrow(NameInUse)
  await tokenFor({ role: 'edge', name: 'h3' })
})

test('the secret goes only to a control with the authority of the token', async () => {
  const token = await tokenFor()
  const other = { ...token, digest: '0'.repeat(32) }
  await expect(joinHere(other)).rejects.toThrow(/is not the one of this token.*was not sent/)
  // A host has a certificate of the same authority.
  await listener.stop()
  listener = await startListener('host')
  await expect(joinHere(token)).rejects.toThrow(/cannot be reached, or is not trusted/)
  const [row] = await made.database.read.selectFrom('join_tokens').select('used_by').execute()
  expect(row?.used_by).toBeNull()
})

test('a machine that hangs up is reported in words', async () => {
  const mute = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const at = { host: '127.0.0.1', port: (mute.address() as { port: number }).port }
  await expect(joinInstallation(await tokenFor(), at, folder)).rejects.toThrow(/Check STEAD_INTERNAL_LISTEN/)
  mute.close()
})

test('a host uses its certificate, and renews it at the control at half of its time', async () => {
  const { certificate } = await joinHere(await tokenFor())
  let now = Date.now()
  const identity = await identityOf(h3, folder, () => now)
  const { serialNumber } = new X509Certificate(certificate)
  expect(identity.serial()).toBe(serialNumber)
  now += 15 * DAY_MS + HOUR_MS
  await identity.look()
  expect(identity.serial()).not.toBe(serialNumber)
  const kept = await readJoined(folder)
  expect(new X509Certificate(kept?.certificate as string).serialNumber).toBe(identity.serial())
  expect(await readFile(join(folder, 'joined.json'), 'utf8')).not.toContain(certificate.slice(100, 200))
})

test('a host renews its certificate at another control when the one that it joined with is gone for good', async () => {
  await joinHere(await tokenFor())
  const other = await startListener()
  try {
    const joined = control()
    const addresses = [joined.port, other.port].map((port) => `127.0.0.1:${port}`)
    await until(async () => (await controlAddresses(made.database.read)).length === 2)
    expect((await controlAddresses(made.database.read)).toSorted()).toEqual(addresses.toSorted())
    let now = Date.now()
    const identity = await identityOf(h3, folder, () => now)
    await identity.look()
    expect(await readJoined(folder)).toMatchObject({
      control: joined,
      controls: [{ host: '127.0.0.1', port: other.port }],
    })
    await listener.stop()
    expect(await identity.ask('POST /internal/keys', {})).toHaveProperty('keys')
    expect((await readJoined(folder))?.control.port).toBe(other.port)
    const { certificate: before } = (await readJoined(folder)) ?? {}
    now += 15 * DAY_MS + HOUR_MS
    await identity.look()
    const after = await readJoined(folder)
    expect(after?.certificate).not.toBe(before)
    // Its place among the others stays, in case it comes back.
    expect(after?.controls).toEqual([joined])
  } finally {
    await other.stop()
    listener = await startListener()
  }
})

test('a machine without an answer says which control it asked first, and passes a refusal on', async () => {
  await joinHere(await tokenFor())
  const identity = await identityOf(h3)
  const nobody = { host: '127.0.0.1', port: 1 }
  const ask = (order: { control: ListenAddress; controls: ListenAddress[] }, what: string) =>
    askControl(order, identity.trust, `POST /internal/${what}`, {})
  const both = { control: nobody, controls: [{ host: '127.0.0.1', port: 2 }] }
  await expect(ask(both, 'keys')).rejects.toThrow('The control at 127.0.0.1:1 cannot be reached')
  await expect(ask({ control: nobody, controls: [control()] }, 'certificate-key')).rejects.toThrow('may not ask')
  // A refusal is an answer.
  await expect(ask({ control: control(), controls: [nobody] }, 'certificate-key')).rejects.toThrow('may not ask')
})

test('the certificate is for its role and its name alone', async () => {
  const { certificate } = await joinHere(await tokenFor())
  const { serialNumber } = new X509Certificate(certificate)
  expect((await identityOf({ role: 'edge', name: 'h3' })).serial()).not.toBe(serialNumber)
  expect((await identityOf({ role: 'host', name: 'h4' })).serial()).not.toBe(serialNumber)
})

test('a control renews for nobody without a valid certificate, nor for a revoked one', async () => {
  const identity = await identityOf(h3, join(folder, 'none'))
  const { publicKey, privateKey } = await makeKeys()
  const body = JSON.stringify({ request: makeCertificateRequest(publicKey, privateKey) })
  const renew = async (tls: object, text = body) => {
    const to = { ...tls, ...control(), servername: '', rejectUnauthorized: false, agent: false }
    const request = ask({ ...to, method: 'POST', path: '/internal/renew' }).end(text)
    const [response] = await once(request, 'response')
    response.resume()
    return response.statusCode
  }
  expect(await renew({})).toBe(403)
  // Its name is right, but another installation has issued it.
  expect(await renew((await (await testAuthority()).trustOf(h3)).options())).toBe(403)
  expect(await renew(identity.trust.options(), 'x'.repeat(20_000))).toBe(413)
  expect(await renew(identity.trust.options(), '{}')).toBe(400)
  expect(await renew(identity.trust.options())).toBe(200)
  await made.database.transaction((tx) => revokeRole(tx, h3, Date.now()))
  await opened[0]?.look()
  expect(await renew(identity.trust.options())).toBe(403)
})

test('a control gives the keys of edges to edges alone', async () => {
  const asked = async (what: string, owner: RoleName, body = {}) => {
    const identity = await identityOf(owner, join(folder, 'none'))
    return askControl({ control: control() }, identity.trust, `POST /internal/${what}`, body)
  }
  const web1 = { role: 'edge', name: 'web1' } as const
  expect(await asked('keys', web1)).toEqual({ keys: edgeKeysOf(requireMasterKey(keys)) })
  const certificate = { host_name: 'a.test' }
  await expect(asked('certificate-key', web1, certificate)).rejects.toThrow('No certificate has this name.')
  await expect(asked('certificate-key', h3, certificate)).rejects.toThrow('This machine may not ask for this')
  await expect(asked('keys', { role: 'control', name: 'c2' })).rejects.toThrow('This machine may not ask for this')
  // Without a login of its own, it still needs the master key.
  expect(await joinHere(await tokenFor(web1))).not.toHaveProperty('keys')
})

test('a request proves that its sender has the key, which is on P-256', async () => {
  const [one, two] = [await makeKeys(), await makeKeys()]
  const good = makeCertificateRequest(one.publicKey, one.privateKey)
  expect((await keyOfRequest(good)).equals(one.publicKey)).toBe(true)
  await expect(keyOfRequest(makeCertificateRequest(one.publicKey, two.privateKey))).rejects.toThrow(/signature/)
  await expect(keyOfRequest('nonsense')).rejects.toThrow(/cannot be read/)
})
