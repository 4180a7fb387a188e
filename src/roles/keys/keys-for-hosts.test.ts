/** Tests what a control opens for hosts without the master key, and what it refuses. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as ask } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { backupKey } from '../../backups/backup-key.store.ts'
import { contentName, readPortableKeys, repositoryKeys } from '../../backups/format/keys.ts'
import { STORE_MARK } from '../../backups/open-store.ts'
import { folderStorage } from '../../backups/storage/folder-storage.ts'
import { issueRoleCertificate, knownRoles, revokeRole } from '../../certificates/role-certificates.store.ts'
import { makeKeys, pemOf } from '../../certificates/sign-certificate.ts'
import { readConfig } from '../../config.ts'
import { registerHost } from '../../hosting/host.store.ts'
import { edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import { hostKeysOf } from '../../platform/crypto/host-keys.ts'
import { noLog } from '../../platform/log/log.ts'
import type { CertifiedRole } from '../../platform/mtls/role-name.ts'
import { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { isUncounted } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { restoreSite } from '../../resources/backups/restore/restore-site.job.ts'
import { syncSitesJob } from '../../resources/backups/sync/sync-sites.job.ts'
import { takeBackupJob } from '../../resources/backups/take/take-backup.job.ts'
import {
  COLLABORATOR_PASSWORD_PURPOSE,
  resetCollaboratorPasswordJob,
} from '../../resources/collaborators/reset-collaborator-password.job.ts'
import { insertImport } from '../../resources/imports/import.store.ts'
import { importSite } from '../../resources/imports/import-site.job.ts'
import { inspectImport } from '../../resources/imports/inspect-import.job.ts'
import { sealSecret } from '../../resources/imports/old-site/old-site-source.ts'
import { setHostState } from '../../resources/installation/hosts/host-changes.store.ts'
import { openBackups } from '../../resources/kit/open-backups.ts'
import { cloneSiteJob } from '../../resources/sites/clone/clone-site.job.ts'
import { PASSWORD_PURPOSE, resetAdminPasswordJob } from '../../resources/sites/wordpress/reset-admin-password.job.ts'
import { type InternalListener, startInternalListener } from '../certificates/internal-listener.ts'
import { askControl } from '../certificates/join.ts'
import { RequestLimit } from '../certificates/request-limit.ts'
import { openRoleIdentity, type RoleIdentity } from '../certificates/role-certificate.ts'
import { openSecrets } from '../host/opened-by-control.ts'
import { keysOfMaster } from './process-keys.ts'

const masterKey = randomBytes(32)
const keys = keysOfMaster(masterKey)
const { sealer } = keys

describe.each(dialects.filter(({ skip }) => !skip))('what a control opens for a host, on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  let folder: string
  let identity: RoleIdentity
  let listener: InternalListener
  /** The host `h1`, with the sites 0 and 1, and `h2`, with site 2. */
  let hosts: [number, number]
  let sites: [number, number, number]
  const warnings: Record<string, unknown>[] = []
  beforeEach(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    folder = await mkdtemp(join(tmpdir(), 'stead-hosts-'))
    hosts = [await host('h1'), await host('h2')]
    sites = [await site('one', hosts[0]), await site('two', hosts[0]), await site('three', hosts[1])]
    warnings.length = 0
    identity = await openRoleIdentity(context(), { role: 'control', name: 'c1' })
    listener = (await startInternalListener(context(), identity.trust)) as InternalListener
  })
  afterEach(async () => {
    await listener.stop()
    identity.close()
    await api.close()
    await rm(folder, { recursive: true })
  })

  const context = () => ({
    config: { ...readConfig({ STEAD_DATA_DIR: folder }), internalListen: { host: '127.0.0.1', port: 0 } },
    ...{ database: api.database, ...keys, logs: api.logs, room: {} as never },
    log: { ...noLog, warn: (facts: object) => void warnings.push({ ...facts }) } as never,
  })
  const host = (name: string) =>
    api.database.transaction((tx) =>
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
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ host_id: hostId }).where('id', '=', id).execute(),
    )
    await api.home(id)
    await change((tx) => tx.updateTable('site_homes').set({ host_id: hostId }).where('site_id', '=', id).execute())
    return id
  }
  const change: TestApi['database']['transaction'] = (work) => api.database.transaction(work)
  /** Asks as a machine with a valid certificate. */
  async function asked(what: string, body: object, name = 'h1', role: CertifiedRole = 'host') {
    const trust = await trustOf(name, role)
    return askControl({ control: { host: '127.0.0.1', port: listener.port } }, trust, `POST /internal/${what}`, body)
  }
  async function trustOf(name: string, role: CertifiedRole) {
    const { publicKey, privateKey } = await makeKeys()
    const now = Date.now()
    const owner = { role, name }
    const { certificate } = await issueRoleCertificate({ database: api.database, sealer, now }, { owner, publicKey })
    return new RoleTrust({ certificate, key: pemOf(privateKey) }, await knownRoles(api.database.read, now))
  }
  const keyOf = (owner: string | number, name?: string) =>
    asked('repository-key', { owner: typeof owner === 'number' ? `site-${owner}` : owner }, name)
  const secretOf = async (operation: unknown, name?: string) =>
    (await asked('operation-secret', { operation }, name)).secret
  const REFUSED = 'This host may not have this'
  const end = (id: number) =>
    change((tx) =>
      tx.updateTable('operations').set({ state: 'succeeded', finished_at: 1 }).where('id', '=', id).execute(),
    )
  const order = { filesId: 1, databaseId: null, askedById: 1 }
  const restoring = (hostId: number, siteId: number, sourceId: number) =>
    change((tx) => enqueue(tx, restoreSite, { ...order, siteId, sourceId }, { siteId, hostId }))
  const resetting = (hostId: number, siteId: number, password: string) =>
    change((tx) => {
      const input = { siteId, passwordSealed: sealer.seal(password, PASSWORD_PURPOSE) }
      return enqueue(tx, resetAdminPasswordJob, input, { siteId, hostId })
    })

  test('are the keys of its own repositories, and of the copies of WordPress', async () => {
    const key = await backupKey(api.database, sealer, 1)
    for (const [owner, name] of [
      [`site-${sites[0]}`, 'h1'],
      [`site-${sites[2]}`, 'h2'],
      ['core-6.8.1', 'h2'],
    ] as const) {
      const given = readPortableKeys(owner, (await keyOf(owner, name)).keys)
      const expected = repositoryKeys(key, owner)
      expect(given?.sealing.export()).toEqual(expected.sealing.export())
      expect(given && contentName(given, Buffer.from('a'))).toEqual(contentName(expected, Buffer.from('a')))
      expect(given?.cutting).toEqual(expected.cutting)
    }
  })

  test('are no keys of sites on other hosts, of the backups of Stead, or of anything else', async () => {
    for (const owner of [sites[2], 'stead', 999, 'site-0', `site-${sites[0]}.`, `core-6.8/../site-${sites[2]}`, ''])
      await expect(keyOf(owner)).rejects.toThrow(REFUSED)
    await expect(keyOf(sites[0], 'h2')).rejects.toThrow(REFUSED)
    await expect(keyOf(sites[0], 'h3')).rejects.toThrow(REFUSED)
    await expect(keyOf('x'.repeat(20_000))).rejects.toThrow('too large')
    expect(warnings).toContainEqual(
      expect.objectContaining({ machine: 'host:h1', reason: expect.stringContaining(`site-${sites[2]}`) }),
    )
    expect(warnings.every(({ reason }) => String(reason).length < 300)).toBe(true)
  })

  test('are no keys for a host that is lost, even before its certificate is revoked', async () => {
    await change((tx) => setHostState(tx, hosts[0], { state: 'lost', now: 1 }))
    // It was certified before.
    await change((tx) => tx.updateTable('hosts').set({ name: 'h1-before' }).where('id', '=', hosts[0]).execute())
    const trust = await trustOf('h1', 'host')
    await change((tx) => tx.updateTable('hosts').set({ name: 'h1' }).where('id', '=', hosts[0]).execute())
    const control = { host: '127.0.0.1', port: listener.port }
    const body = { owner: `site-${sites[0]}` }
    await expect(askControl({ control }, trust, 'POST /internal/repository-key', body)).rejects.toThrow(REFUSED)
    await change((tx) => setHostState(tx, hosts[0], { state: 'cordoned', now: 1 }))
    expect(await askControl({ control }, trust, 'POST /internal/repository-key', body)).toHaveProperty('keys')
    await change((tx) => revokeRole(tx, { role: 'host', name: 'h1' }, Date.now()))
    await identity.look()
    await expect(askControl({ control }, trust, 'POST /internal/repository-key', body)).rejects.toThrow('may not ask')
  })

  test('are the keys of the source of a sync, a restore, or a clone, until that ends', async () => {
    const restore = await restoring(hosts[0], sites[0], sites[2])
    expect(await keyOf(sites[2])).toHaveProperty('keys')
    await end(restore)
    await expect(keyOf(sites[2])).rejects.toThrow(REFUSED)
    const sync = { siteId: sites[0], sourceId: sites[2], parts: [], database: true, skipHttpCheck: true, backups: [] }
    const id = await change((tx) => enqueue(tx, syncSitesJob, sync, { siteId: sites[0], hostId: hosts[0] }))
    expect(await keyOf(sites[2])).toHaveProperty('keys')
    await end(id)
    const clone = (backups?: number[]) => {
      const input = { siteId: sites[1], sourceId: sites[2], ...(backups && { backups }) }
      return change((tx) => enqueue(tx, cloneSiteJob, input, { siteId: sites[1], hostId: hosts[0] }))
    }
    const beside = await clone()
    await expect(keyOf(sites[2])).rejects.toThrow(REFUSED)
    const fromElsewhere = await clone([1])
    expect(await keyOf(sites[2])).toHaveProperty('keys')
    for (const each of [beside, fromElsewhere]) await end(each)
    // Those of another host say nothing.
    await restoring(hosts[1], sites[2], sites[0])
    await expect(keyOf(sites[2])).rejects.toThrow(REFUSED)
    expect(await keyOf(sites[0], 'h2')).toHaveProperty('keys')
  })

  test('are the keys of a site that an operation of the host works on, wherever its directory is', async () => {
    const input = { siteId: sites[2], backupId: 1 }
    const id = await change((tx) => enqueue(tx, takeBackupJob, input, { siteId: sites[2], hostId: hosts[0] }))
    expect(await keyOf(sites[2])).toHaveProperty('keys')
    await end(id)
    await expect(keyOf(sites[2])).rejects.toThrow(REFUSED)
  })

  test('are the passwords of its own operations, until they end', async () => {
    const [own, other] = [await resetting(hosts[0], sites[0], 'mine'), await resetting(hosts[1], sites[2], 'theirs')]
    expect([await secretOf(own), await secretOf(other, 'h2')]).toEqual(['mine', 'theirs'])
    await expect(secretOf(other)).rejects.toThrow(REFUSED)
    await expect(secretOf(999)).rejects.toThrow(REFUSED)
    await expect(secretOf('1 or 1')).rejects.toThrow('names no operation')
    await end(own)
    await expect(secretOf(own)).rejects.toThrow(REFUSED)
    const withoutSecret = await restoring(hosts[0], sites[0], sites[0])
    await expect(secretOf(withoutSecret)).rejects.toThrow(REFUSED)
    const passwordSealed = sealer.seal('of a mate', COLLABORATOR_PASSWORD_PURPOSE)
    const input = { siteId: sites[0], accountId: 1, passwordSealed }
    const options = { siteId: sites[0], hostId: hosts[0] }
    expect(await secretOf(await change((tx) => enqueue(tx, resetCollaboratorPasswordJob, input, options)))).toBe(
      'of a mate',
    )
  })

  test('is the login of an old site, only while an import fetches it', async () => {
    const live = { type: 'ssh', host: 'old.test', port: 22, user: 'me', path: 'web', hostKey: null } as const
    const liveSecret = sealSecret({ password: 'old' }, sealer)
    const imported = await change((tx) =>
      insertImport(tx, {
        ...{ siteId: sites[0], state: 'inspecting', sources: [], starts: false, createdAt: 1, expiresAt: 2 },
        ...{ live, liveSecret },
      }),
    )
    const input = { siteId: sites[0], importId: imported.id, askedById: 1 }
    const options = { siteId: sites[0], hostId: hosts[0] }
    const inspecting = await change((tx) => enqueue(tx, inspectImport, input, options))
    expect(JSON.parse(String(await secretOf(inspecting)))).toEqual({ password: 'old' })
    const importing = (fetchAgain: boolean) =>
      change((tx) => enqueue(tx, importSite, { ...input, leaveOut: [], fetchAgain }, options))
    expect(await secretOf(await importing(true))).toContain('old')
    await expect(secretOf(await importing(false).then((id) => id))).rejects.toThrow(REFUSED)
    const elsewhere = await change((tx) => enqueue(tx, inspectImport, { ...input, siteId: sites[1] }, options))
    await expect(secretOf(elsewhere)).rejects.toThrow(REFUSED)
  })

  test('is nothing for an edge, a control, or a machine without a certificate', async () => {
    const all = ['repository-key', 'operation-secret', 'backup-storage']
    for (const what of all)
      for (const role of ['edge', 'control'] as const)
        await expect(asked(what, { owner: `site-${sites[0]}` }, 'h1', role)).rejects.toThrow('may not ask for this')
    for (const what of [...all, 'keys']) {
      const to = { host: '127.0.0.1', port: listener.port, rejectUnauthorized: false, agent: false }
      const request = ask({ ...to, method: 'POST', path: `/internal/${what}` }).end('{}')
      const [response] = await once(request, 'response')
      response.resume()
      expect(response.statusCode).toBe(403)
    }
    // Keys of certificates are for edges.
    for (const what of ['certificate-key', 'local-certificate'])
      await expect(asked(what, { host_name: 'one.localhost' })).rejects.toThrow('may not ask for this')
  })

  test('are the keys of its role, which are not those of another host', async () => {
    expect(await asked('keys', {})).toEqual({ keys: hostKeysOf(masterKey, 'h1') })
    const [one, two] = [hostKeysOf(masterKey, 'h1'), hostKeysOf(masterKey, 'h2')]
    expect([one.files === two.files, one.toHosts === two.toHosts]).toEqual([false, true])
    const { sealing, challenges, leadsHere } = edgeKeysOf(masterKey)
    for (const each of [sealing, challenges, leadsHere]) expect(Object.values(one)).not.toContain(each)
  })

  test('is limited in number, and an operation that asks too often waits', async () => {
    await listener.stop()
    listener = (await startInternalListener(context(), identity.trust, new RequestLimit(2))) as InternalListener
    for (const _ of ['first', 'second']) expect(await asked('keys', {})).toHaveProperty('keys')
    const error = await asked('keys', {}).catch((refusal) => refusal)
    expect(error.message).toContain('asks too often')
    expect(isUncounted(error)).toBe(true)
    // Others are not affected.
    expect(await asked('keys', {}, 'h2')).toHaveProperty('keys')
  })

  test('lets a host without the master key back up and read its sites, and no others', async () => {
    const trust = await trustOf('h1', 'host')
    const control = { host: '127.0.0.1', port: listener.port }
    let count = 0
    const asking = {
      ask(what: string, body: object) {
        count++
        return askControl({ control }, trust, what, body)
      },
    }
    const without = { ...context(), masterKey: undefined, sealer: keysOfMaster(randomBytes(32)).sealer }
    const { backups, openSecret } = openSecrets(without, { hostId: hosts[0], control: asking })
    async function* content() {
      yield Buffer.from('content')
    }
    const read = async (from: typeof backups, owner: string, name: string) => {
      const pieces: Uint8Array[] = []
      for await (const piece of from.repository(owner).readStream(name)) pieces.push(Uint8Array.from(piece))
      return Buffer.concat(pieces).toString()
    }
    await backups.repository(`site-${sites[0]}`).writeStream(content(), { name: 'b1' })
    const before = count
    expect(await read(backups, `site-${sites[0]}`, 'b1')).toBe('content')
    // The keys stay in its memory.
    expect(count).toBe(before)
    const ofControl = openBackups(context())
    expect(await read(ofControl, `site-${sites[0]}`, 'b1')).toBe('content')
    await ofControl.repository(`site-${sites[2]}`).writeStream(content(), { name: 'b2' })
    await expect(read(backups, `site-${sites[2]}`, 'b2')).rejects.toThrow(REFUSED)
    // A refusal is not kept.
    await restoring(hosts[0], sites[0], sites[2])
    expect(await read(backups, `site-${sites[2]}`, 'b2')).toBe('content')
    expect(await openSecret(await resetting(hosts[0], sites[1], 'new'))).toBe('new')
    // The control wrote what names the installation, because it contains the sealed key.
    const head = String(await folderStorage({ folder: join(folder, 'backups') }).get(STORE_MARK))
    expect(sealer.open(JSON.parse(head).key, 'key of backups')).toBeTruthy()
  })

  test('says that the control writes backups elsewhere', async () => {
    const trust = await trustOf('h1', 'host')
    const control = { host: '127.0.0.1', port: listener.port }
    const ask = (what: string, body: object) => askControl({ control }, trust, what, body)
    const elsewhere = readConfig({ STEAD_DATA_DIR: folder, STEAD_BACKUP_DIR: join(folder, 'elsewhere') })
    const without = { ...context(), config: elsewhere, masterKey: undefined }
    const { backups } = openSecrets(without, { hostId: hosts[0], control: { ask } })
    async function* content() {
      yield Buffer.from('content')
    }
    const writing = backups.repository(`site-${sites[0]}`).writeStream(content(), { name: 'b1' })
    await expect(writing).rejects.toThrow('The control writes backups elsewhere')
  })

  test('waits for a control that is away', async () => {
    const trust = await trustOf('h1', 'host')
    const error = await askControl({ control: { host: '127.0.0.1', port: 1 } }, trust, 'POST /internal/keys', {}).catch(
      (failure) => failure,
    )
    expect(error.message).toContain('cannot be reached')
    expect(isUncounted(error)).toBe(true)
  })
})
