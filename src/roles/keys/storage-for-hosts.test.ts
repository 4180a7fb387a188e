/** Tests which requests to the storage a control signs for a host, also as a host that was taken over. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { type S3Server, s3Server } from '../../../test/support/s3-server.ts'
import type { BackupStore } from '../../backups/backup-store.ts'
import { STORE_MARK } from '../../backups/open-store.ts'
import { LEASE_MARK } from '../../backups/repository-lease.ts'
import { s3Storage } from '../../backups/storage/s3-storage.ts'
import type { Signature, StoragePlace } from '../../backups/storage/signed-storage.ts'
import type { Storage } from '../../backups/storage/storage.ts'
import { issueRoleCertificate, knownRoles } from '../../certificates/role-certificates.store.ts'
import { makeKeys, pemOf } from '../../certificates/sign-certificate.ts'
import { readConfig } from '../../config.ts'
import { registerHost } from '../../hosting/host.store.ts'
import { noLog } from '../../platform/log/log.ts'
import type { CertifiedRole } from '../../platform/mtls/role-name.ts'
import { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { isUncounted } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { restoreSite } from '../../resources/backups/restore/restore-site.job.ts'
import { deleteBackupJob } from '../../resources/backups/take/delete-backup.job.ts'
import { takeBackupJob } from '../../resources/backups/take/take-backup.job.ts'
import { receiveFiles } from '../../resources/installation/relocate/receive-site.job.ts'
import { openBackups } from '../../resources/kit/open-backups.ts'
import { type InternalListener, startInternalListener } from '../certificates/internal-listener.ts'
import { askControl, ControlRefused } from '../certificates/join.ts'
import { RequestLimit } from '../certificates/request-limit.ts'
import { openRoleIdentity, type RoleIdentity } from '../certificates/role-certificate.ts'
import { openSecrets } from '../host/opened-by-control.ts'
import { keysOfMaster } from './process-keys.ts'
import { AsksTooOften, storageForHosts } from './storage-for-hosts.ts'

const keys = keysOfMaster(randomBytes(32))
const { sealer } = keys
const HOUR = 3_600_000
const DAY = 24 * HOUR
const REFUSED = expect.stringContaining('does not sign this request')

let api: TestApi
let owner: Person
let folder: string
let server: S3Server
let identity: RoleIdentity
let listener: InternalListener
/** The host `h1`, with the sites 0 and 1, and `h2`, with site 2. */
let hosts: [number, number]
let sites: [number, number, number]
/** The bucket, with its credentials. */
let bucket: Storage
const warnings: Record<string, unknown>[] = []

beforeEach(async () => {
  api = await testApi('sqlite')
  owner = await api.person('owner@example.com')
  folder = await mkdtemp(join(tmpdir(), 'stead-storage-'))
  server = await s3Server()
  hosts = [await host('h1'), await host('h2')]
  sites = [await site('one', hosts[0]), await site('two', hosts[0]), await site('three', hosts[1])]
  warnings.length = 0
  const { url: endpoint, bucket: name, credentials } = server
  bucket = s3Storage({ bucket: name, endpoint, region: 'us-east-1', prefix: 'stead', credentials })
  identity = await openRoleIdentity(context(), { role: 'control', name: 'c1' })
  listener = (await startInternalListener(context(), identity.trust)) as InternalListener
})
afterEach(async () => {
  await listener.stop()
  identity.close()
  await api.close()
  await server.close()
  await rm(folder, { recursive: true })
})

const settings = () => ({
  STEAD_DATA_DIR: folder,
  STEAD_BACKUP_S3_BUCKET: server.bucket,
  STEAD_BACKUP_S3_ENDPOINT: server.url,
  STEAD_BACKUP_S3_ACCESS_KEY_ID: server.credentials.accessKeyId,
  STEAD_BACKUP_S3_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
})
const context = (more: Record<string, string> = {}) => ({
  config: { ...readConfig({ ...settings(), ...more }), internalListen: { host: '127.0.0.1', port: 0 } },
  ...{ database: api.database, ...keys, logs: api.logs, room: {} as never },
  log: { ...noLog, warn: (facts: object) => void warnings.push({ ...facts }) } as never,
})
const host = (name: string) =>
  change((tx) =>
    registerHost(tx, {
      name,
      address: 'http://127.0.0.1:1',
      datacenters: '',
      identity: name,
      epoch: 1,
      maxSites: 1000,
    }),
  )
async function site(name: string, hostId: number): Promise<number> {
  const id = await api.site(owner, name)
  await change((tx) => tx.updateTable('sites').set({ host_id: hostId }).where('id', '=', id).execute())
  await api.home(id)
  await change((tx) => tx.updateTable('site_homes').set({ host_id: hostId }).where('site_id', '=', id).execute())
  return id
}
const change: TestApi['database']['transaction'] = (work) => api.database.transaction(work)

/** Asks as a machine with a valid certificate. */
async function controlFor(name: string, role: CertifiedRole = 'host') {
  const { publicKey, privateKey } = await makeKeys()
  const issued = { owner: { role, name }, publicKey }
  const { certificate } = await issueRoleCertificate({ database: api.database, sealer, now: Date.now() }, issued)
  const trust = new RoleTrust({ certificate, key: pemOf(privateKey) }, await knownRoles(api.database.read, Date.now()))
  return {
    ask: (what: string, body: object) =>
      askControl({ control: { host: '127.0.0.1', port: listener.port } }, trust, what, body),
  }
}
const place = (): StoragePlace => ({
  ...{ bucket: server.bucket, endpoint: server.url, region: 'us-east-1', prefix: 'stead' },
})
/** The backups of a host without credentials. */
async function backupsOf(name: string, control?: Awaited<ReturnType<typeof controlFor>>): Promise<BackupStore> {
  const hostId = hosts[name === 'h1' ? 0 : 1]
  const config = { ...readConfig({ STEAD_DATA_DIR: folder }), backupS3Bucket: server.bucket }
  const without = { ...context(), config, masterKey: undefined, signedStorage: place() }
  return openSecrets(without, { hostId, control: control ?? (await controlFor(name)) }).backups
}
async function sign(request: object, name = 'h1'): Promise<Signature> {
  const { ask } = await controlFor(name)
  const { signed } = await ask('POST /internal/storage-requests', { requests: [request] })
  return (signed as Signature[])[0] as Signature
}
const remove = async (names: readonly string[], name = 'h1') =>
  (await controlFor(name)).ask('POST /internal/storage-removal', { names })
async function* content(text = 'content') {
  yield Buffer.from(text)
}
const id = () => randomBytes(16).toString('hex')
const ofSite = (number: 0 | 1 | 2, rest: string) => `site-${sites[number]}/${rest}`
const putOf = (name: string, text = 'x') => ({
  ...{ kind: 'put', name, bytes: text.length },
  sha256: createHash('sha256').update(text).digest('hex'),
})
const withName = (number: 0 | 1 | 2, name: string) =>
  openBackups(context())
    .repository(`site-${sites[number]}`)
    .writeStream(content(randomBytes(9).toString('hex')), { name })
const namesOf = async (prefix: string) => (await bucket.list(prefix)).map(({ name }) => name).sort()
/** Asks for a removal after some time. */
const removeAfter = (ms: number, names: readonly string[]) =>
  storageForHosts(context(), { now: () => Date.now() + ms }).remove('h1', names)

test('lets a host without credentials back up, read, sweep and remove', async () => {
  const backups = await backupsOf('h1')
  const repository = backups.repository(`site-${sites[0]}`)
  await repository.writeStream(content(), { name: 'b1' })
  const pieces: Uint8Array[] = []
  for await (const piece of repository.readStream('b1')) pieces.push(Uint8Array.from(piece))
  expect(Buffer.concat(pieces).toString()).toBe('content')
  await repository.verify('b1')
  // The same name means the same backup.
  await repository.writeStream(content('other'), { name: 'b1' })
  expect((await repository.list()).map(({ name }) => name)).toEqual(['b1'])
  expect(await namesOf('')).toContain(STORE_MARK)
  expect(await namesOf('')).toContain(LEASE_MARK)
  await repository.remove('b1')
  await repository.sweep()
  expect(await repository.list()).toEqual([])
  expect(await namesOf(ofSite(0, 'marks/'))).toHaveLength(1)
  // The control reads what it wrote.
  await repository.writeStream(content(), { name: 'b2' })
  expect((await openBackups(context()).repository(`site-${sites[0]}`).list()).map(({ name }) => name)).toEqual(['b2'])
  expect(warnings).toEqual([])
})

describe('of what it reads, signs', () => {
  test('its own repositories, copies of WordPress, and what names the installation', async () => {
    for (const name of [ofSite(0, `packs/${id()}`), ofSite(1, 'backups/b1.tree'), `core-6.8/indexes/${id()}`])
      expect(await sign({ kind: 'get', name })).toHaveProperty('url')
    for (const name of [STORE_MARK, LEASE_MARK]) expect(await sign({ kind: 'get', name })).toHaveProperty('url')
    for (const list of [ofSite(0, ''), ofSite(0, 'packs/'), 'core-6.8/'])
      expect(await sign({ kind: 'list', folder: list, most: 1000 })).toHaveProperty('url')
  })

  test('nothing of other hosts, of the records of Stead, and no list of the whole storage', async () => {
    for (const name of [
      ...[
        ofSite(2, `packs/${id()}`),
        `stead/packs/${id()}`,
        ofSite(0, 'packs/x'),
        `site-${sites[0]}`,
        '',
        'other.json',
      ],
      ...[`site-${sites[0]}/packs/../../site-${sites[2]}/packs/${id()}`, `x/../${ofSite(2, `packs/${id()}`)}`],
    ])
      expect([name, await sign({ kind: 'get', name })]).toEqual([name, { refused: REFUSED }])
    const lists = ['', 'site-', `site-${sites[0]}`, ofSite(2, ''), 'stead/', ofSite(0, 'packs/0'), ofSite(0, 'x/')]
    for (const list of lists)
      expect([list, await sign({ kind: 'list', folder: list, most: 1 })]).toEqual([list, { refused: REFUSED }])
    expect(await sign({ kind: 'list', folder: ofSite(0, ''), most: 1001 })).toEqual({ refused: REFUSED })
    expect(await sign({ kind: 'get', name: ofSite(0, 'backups/b1.tree') }, 'h2')).toEqual({ refused: REFUSED })
    expect(warnings).toContainEqual(expect.objectContaining({ machine: 'host:h1' }))
  })

  test('the source of a restore, until that ends, and nothing to write there', async () => {
    const name = ofSite(2, `packs/${id()}`)
    const input = { siteId: sites[0], sourceId: sites[2], filesId: 1, databaseId: null, askedById: 1 }
    const restore = await change((tx) => enqueue(tx, restoreSite, input, { siteId: sites[0], hostId: hosts[0] }))
    expect(await sign({ kind: 'get', name })).toHaveProperty('url')
    expect(await sign(putOf(name))).toEqual({ refused: REFUSED })
    await expect(remove([name])).rejects.toThrow('may not have this')
    await change((tx) => tx.updateTable('operations').set({ finished_at: 1 }).where('id', '=', restore).execute())
    expect(await sign({ kind: 'get', name })).toEqual({ refused: REFUSED })
  })
})

describe('of what it writes, signs', () => {
  test('objects of its own sites, and no others', async () => {
    for (const rest of [`packs/${id()}`, `indexes/${id()}`, 'backups/b1.stream', `marks/${id()}-1-unneeded`])
      expect([rest, await sign(putOf(ofSite(0, rest)))]).toEqual([
        rest,
        expect.objectContaining({ url: expect.anything() }),
      ])
    for (const name of [
      ...[ofSite(2, `packs/${id()}`), `core-6.8/packs/${id()}`, 'core-6.8/backups/core.tree', `stead/packs/${id()}`],
      ...[STORE_MARK, LEASE_MARK, ofSite(0, 'packs/x'), ofSite(0, 'other/x'), 'x'],
    ])
      expect([name, await sign(putOf(name))]).toEqual([name, { refused: REFUSED }])
  })

  test('a site that an operation of the host works on, as while it moves', async () => {
    const input = { siteId: sites[2], backupId: 1 }
    const options = { siteId: sites[2], hostId: hosts[0] }
    const taking = await change((tx) => enqueue(tx, takeBackupJob, input, options))
    expect(await sign(putOf(ofSite(2, `packs/${id()}`)))).toHaveProperty('url')
    await change((tx) => tx.updateTable('operations').set({ finished_at: 1 }).where('id', '=', taking).execute())
    expect(await sign(putOf(ofSite(2, `packs/${id()}`)))).toEqual({ refused: REFUSED })
  })

  test('not a site that moves to the host, which only reads it until then', async () => {
    const moving = { siteId: sites[2], directoryId: 1, coreVersion: '6.8', filesName: 'b1' }
    const row = { type: receiveFiles.name, runner: 'host' as const, host_id: hosts[0], input: JSON.stringify(moving) }
    await change((tx) =>
      tx
        .insertInto('operations')
        .values({
          ...{ ...row, state: 'queued', created_at: 1, run_at: 1, attempts: 0, cancel_requested: 0, progress: 0 },
        } as never)
        .execute(),
    )
    expect(await sign({ kind: 'get', name: ofSite(2, `packs/${id()}`) })).toHaveProperty('url')
    expect(await sign(putOf(ofSite(2, `packs/${id()}`)))).toEqual({ refused: REFUSED })
  })

  test('not a site that has left the host, although its directory is still there', async () => {
    await change((tx) => tx.updateTable('sites').set({ host_id: hosts[1] }).where('id', '=', sites[0]).execute())
    expect(await sign({ kind: 'get', name: ofSite(0, 'backups/b1.tree') })).toHaveProperty('url')
    expect(await sign(putOf(ofSite(0, 'backups/b1.tree')))).toEqual({ refused: REFUSED })
  })

  test('nothing too large, and nothing without a digest', async () => {
    const name = ofSite(0, `packs/${id()}`)
    expect(await sign({ ...putOf(name), bytes: (64 << 20) + 1 })).toEqual({ refused: REFUSED })
    expect(await sign({ ...putOf(name), sha256: 'UNSIGNED-PAYLOAD' })).toEqual({ refused: REFUSED })
    expect(await sign({ ...putOf(name), bytes: -1 })).toEqual({ refused: REFUSED })
    expect(await sign({ ...putOf(ofSite(0, `marks/${id()}-1-damaged`)), bytes: 1 << 20 })).toEqual({ refused: REFUSED })
  })

  test('no object that exists, and the service keeps one that was written since', async () => {
    await withName(0, 'b7')
    expect(await sign(putOf(ofSite(0, 'backups/b7.stream')))).toEqual({ exists: true })
    const isPlain = { ...putOf(ofSite(0, 'backups/b7.stream')), isPlain: true }
    expect(await sign(isPlain)).toEqual({ exists: true })
    expect(await sign(putOf(ofSite(0, `packs/${id()}`)))).toMatchObject({ headers: { 'if-none-match': '*' } })
  })

  test('length, digest and condition, so that a signature serves no other content', async () => {
    const signed = (await sign(putOf(ofSite(0, `packs/${id()}`)))) as { headers: Record<string, string> }
    expect(signed.headers.authorization).toMatch(
      /SignedHeaders=content-length;host;if-none-match;x-amz-content-sha256;x-amz-date,/,
    )
    const read = (await sign({ kind: 'get', name: STORE_MARK })) as { url: string }
    expect(new URL(read.url).searchParams.get('X-Amz-Expires')).toBe('600')
  })
})

describe('as a host that was taken over', () => {
  test('removes no backup of the last days, even of its own sites, but older ones', async () => {
    const name = `b1-${'0'.repeat(16)}`
    await withName(0, name)
    const object = ofSite(0, `backups/${name}.stream`)
    expect(await removeAfter(2 * HOUR, [object])).toEqual({ kept: 1 })
    expect(await namesOf(ofSite(0, 'backups/'))).toEqual([object])
    expect(warnings).toContainEqual({ machine: 'host:h1', kept: [object] })
    expect(await removeAfter(5 * DAY, [object])).toEqual({ kept: 1 })
    expect(await removeAfter(6 * DAY + HOUR, [object])).toEqual({ kept: 0 })
    expect(await namesOf(ofSite(0, 'backups/'))).toEqual([])
  })

  test('removes a backup that it just wrote, what operations keep meanwhile, and what a user deletes', async () => {
    const names = [`b2-${'0'.repeat(16)}`, `b3-${'0'.repeat(16)}`, 'ahead-7'] as const
    for (const name of names) await withName(0, name)
    const [two, three, ahead] = names.map((name) => ofSite(0, `backups/${name}.stream`)) as [string, string, string]
    expect(await remove([two])).toEqual({ kept: 0 })
    expect(await removeAfter(2 * DAY, [three, ahead])).toEqual({ kept: 1 })
    const input = { siteId: sites[0], backupId: 3 }
    await change((tx) => enqueue(tx, deleteBackupJob, input, { siteId: sites[0], hostId: hosts[0] }))
    expect(await removeAfter(2 * DAY, [three])).toEqual({ kept: 0 })
    expect(await namesOf(ofSite(0, 'backups/'))).toEqual([])
  })

  test('removes no pack that a backup names, also not if it can no longer be read', async () => {
    await withName(0, 'b4')
    const [pack] = (await namesOf(ofSite(0, 'packs/'))) as [string]
    const stray = ofSite(0, `packs/${id()}`)
    await bucket.put(stray, Buffer.from('x'))
    expect(await remove([pack, stray])).toEqual({ kept: 1 })
    expect(await namesOf(ofSite(0, 'packs/'))).toEqual([pack])
    await bucket.put(stray, Buffer.from('x'))
    // A taken-over host can add what nobody can read.
    await bucket.put(ofSite(0, 'backups/b5.tree'), Buffer.from('nothing'))
    expect(await remove([stray])).toEqual({ kept: 1 })
    await bucket.remove([ofSite(0, 'backups/b4.stream'), ofSite(0, 'backups/b5.tree')])
    expect(await remove([pack, stray])).toEqual({ kept: 0 })
  })

  test('removes indexes and marks, which can be written again, and nothing of others', async () => {
    await withName(0, 'b6')
    const indexes = await namesOf(ofSite(0, 'indexes/'))
    expect(await remove(indexes)).toEqual({ kept: 0 })
    const pieces: Uint8Array[] = []
    for await (const piece of openBackups(context()).repository(`site-${sites[0]}`).readStream('b6'))
      pieces.push(Uint8Array.from(piece))
    expect(Buffer.concat(pieces).length).toBe(18)
    await withName(2, 'b6')
    const others = await namesOf(ofSite(2, ''))
    for (const name of [...others, STORE_MARK, LEASE_MARK, 'core-6.8/backups/core.tree', 'x'])
      await expect(remove([name])).rejects.toThrow('may not have this')
    expect(await namesOf(ofSite(2, ''))).toEqual(others)
  })

  test('gets no answer as an edge, or with another role', async () => {
    for (const role of ['edge', 'control'] as const)
      for (const what of ['storage-requests', 'storage-removal', 'core-copy'])
        await expect((await controlFor('h1', role)).ask(`POST /internal/${what}`, {})).rejects.toThrow('may not ask')
  })

  test('gets only so many signatures in a minute', async () => {
    const { sign: signed } = storageForHosts(context(), { limit: new RequestLimit(3) })
    const one = { kind: 'get', name: STORE_MARK }
    await signed('h1', [one, one, one])
    await expect(signed('h1', [one])).rejects.toThrow(AsksTooOften)
    expect((await signed('h2', [one])).signed).toHaveLength(1)
  })
})

describe('waits', () => {
  test('while the control is away, or has an earlier version', async () => {
    const away = { ask: () => askControl({ control: { host: '127.0.0.1', port: 1 } }, identity.trust, 'POST /', {}) }
    const { ask } = await controlFor('h1')
    const earlier = {
      ask: async (what: string, body: object) => {
        if (what.includes('storage-requests')) throw new ControlRefused('There is nothing at this address.', 404)
        return ask(what, body)
      },
    }
    for (const control of [away, earlier]) {
      const backups = await backupsOf('h1', control)
      const error = await backups
        .repository(`site-${sites[0]}`)
        .writeStream(content(), { name: 'b1' })
        .catch((failure) => failure)
      expect([error.message, isUncounted(error)]).toEqual([expect.stringMatching(/cannot be reached|earlier/), true])
    }
  }, 30_000)

  test('if the storage has moved, and names the new one', async () => {
    const moved: StoragePlace[] = []
    const { signerFromControl } = await import('./storage-from-control.ts')
    const signer = signerFromControl(await controlFor('h1'), { ...place(), prefix: 'old' }, async (to) => {
      moved.push(to)
    })
    const error = await signer.sign([{ kind: 'get', name: STORE_MARK }]).catch((failure) => failure)
    expect([error.message, isUncounted(error)]).toEqual([expect.stringContaining('Restart this host'), true])
    expect(moved).toEqual([place()])
  })
})

test('says that backups are in a folder of the control', async () => {
  await listener.stop()
  const inFolder = context({ STEAD_BACKUP_S3_BUCKET: '' })
  listener = (await startInternalListener(inFolder, identity.trust)) as InternalListener
  await expect(sign({ kind: 'get', name: STORE_MARK })).rejects.toThrow('stores backups in a folder')
})
