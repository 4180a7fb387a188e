/** Tests certificates that an edge issues itself, for names that no public authority knows. */
import { randomBytes, X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { localAuthorities } from '../../certificates/local-authority.store.ts'
import { readConfig } from '../../config.ts'
import { loadRoute } from '../../edge/routing/routes.store.ts'
import { createSecureContexts } from '../../edge/tls/secure-contexts.ts'
import type { KeptCertificate } from '../../edge/tls/tls.store.ts'
import { edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import { DatabaseSilent } from '../../platform/db/postgres-silence.ts'
import { noLog } from '../../platform/log/log.ts'
import { takeDueNames } from '../../resources/certificates/certificate.store.ts'
import { moveStagingRoute, putRoute } from '../../resources/sites/addresses/route.store.ts'
import { keysOfEdge, keysOfMaster, requireMasterKey } from '../keys/process-keys.ts'
import { type CertificateOptions, certificatesOf, sealForEdges } from './edge-certificates.ts'

const DAY_MS = 86_400_000
const name = 'first.localhost'

describe.each(dialects)('an edge on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  const keys = keysOfMaster(randomBytes(32))
  const clock = { now: 0 }
  const full = { is: false }
  const warnings: unknown[] = []
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'first')
    await api.database.transaction((tx) => putRoute(tx, siteId, name, 1))
    clock.now = Date.now()
    full.is = false
    warnings.length = 0
  })
  afterEach(() => api?.close())

  const edge = (settings: Record<string, string> = {}, by = keys, more: CertificateOptions = {}) => {
    const context = {
      ...{ database: api.database, ...by, config: readConfig(settings) },
      log: { warn: (what: unknown) => warnings.push(what) } as never,
      room: {
        forRecords() {
          if (full.is) throw new Error('the disk is full')
        },
      } as never,
    }
    return certificatesOf(context, { now: () => clock.now, ...more })
  }
  test('serves the last certificate while the database is away, and none that it never had', async () => {
    const disk = new Map<string, unknown>()
    const known = {
      certificate: (hostName: string) => disk.get(hostName) as never,
      keepCertificate: (hostName: string, kept: unknown) => void disk.set(hostName, kept),
    }
    const read = () => {
      throw new DatabaseSilent()
    }
    const away = { transaction: async () => read() }
    const at = (database: TestApi['database']) => {
      const context = { database, ...keys, config: readConfig({}), log: noLog, room: { forRecords() {} } as never }
      return certificatesOf(context, { now: () => clock.now, known })
    }
    const found = await at(api.database).load(name)
    await at(api.database).load(name)
    const later = at(Object.defineProperty(away, 'read', { get: read }) as never)
    expect(found?.key).toContain('PRIVATE KEY')
    expect(await later.load(name)).toEqual(found)
    await expect(later.load('other.localhost')).rejects.toThrow(DatabaseSilent)
    expect(JSON.stringify([...disk])).not.toContain('PRIVATE KEY')
  })

  const changes = async () => (await api.database.read.selectFrom('route_clock').select('seq').execute())[0]?.seq ?? 0
  const rows = () => api.database.read.selectFrom('certificates').selectAll().execute()

  test('issues one when needed, and the others use the same', async () => {
    const edges = [edge(), edge(), edge()]
    const before = await changes()
    expect(edges[0]?.makes?.(name)).toBe(true)
    const found = await Promise.all(edges.map((each) => each.load(name)))
    expect(new Set(found.map((each) => each?.chain)).size).toBe(1)
    expect(new Set(found.map((each) => each?.key)).size).toBe(1)
    const [authority] = await localAuthorities(api.database.read)
    const leaf = new X509Certificate(found[0]?.chain as string)
    expect(leaf.verify(new X509Certificate(authority?.certificate as string).publicKey)).toBe(true)
    expect(leaf.subjectAltName).toBe(`DNS:${name}`)
    expect(await edge().load(name)).toEqual(found[0])
    const [row] = await rows()
    expect(row).toMatchObject({ site_id: siteId, issued_at: clock.now })
    expect(row?.private_key).toMatch(/^v1\./)
    // Edges read the route again.
    expect(await changes()).toBeGreaterThan(before)
    expect(await loadRoute(api.database.read, name)).toMatchObject({ certifiedAt: clock.now })
  })

  test('issues none for a name without a site, for a public name, or when turned off', async () => {
    await api.database.transaction((tx) => putRoute(tx, siteId, 'www.example.com', 1, true))
    const deleted = await api.site(owner, 'deleted')
    await api.database.transaction((tx) => putRoute(tx, deleted, 'deleted.localhost', 1))
    await owner.call('DELETE', `/v1/sites/${deleted}`)
    for (const hostName of ['nobody.localhost', 'deleted.localhost'])
      expect(await edge().load(hostName)).toBeUndefined()
    for (const [settings, hostName] of [
      [{}, 'www.example.com'],
      [{ STEAD_LOCAL_AUTHORITY: 'off' }, name],
      [{ STEAD_STAGING_DOMAIN: 'sites.example.com' }, name],
    ] as const) {
      expect(edge(settings).makes?.(hostName)).toBe(false)
      expect(await edge(settings).load(hostName)).toBeUndefined()
    }
    expect(await rows()).toEqual([])
  })

  test('serves none that was issued before it was turned off', async () => {
    expect(await edge().load(name)).toBeDefined()
    expect(await edge({ STEAD_LOCAL_AUTHORITY: 'off' }).load(name)).toBeUndefined()
  })

  test('issues the next once, with a third of the lifetime left, and no one is ordered in the meantime', async () => {
    const before = await edge().load(name)
    clock.now += 58 * DAY_MS
    expect((await edge().load(name))?.chain).toBe(before?.chain)
    clock.now += 2 * DAY_MS
    const edges = [edge(), edge()]
    const next = await Promise.all(edges.map((each) => each.load(name)))
    expect(new Set(next.map((each) => each?.chain)).size).toBe(1)
    expect(next[0]?.chain).not.toBe(before?.chain)
    const due = { now: clock.now + 1000 * DAY_MS, most: 9, leaseUntil: 1 }
    expect(await api.database.transaction((tx) => takeDueNames(tx, due))).toEqual([])
  })

  test.skipIf(dialect === 'postgres')(
    'keeps using the old one until it expires while the next cannot be issued',
    async () => {
      const before = await edge().load(name)
      full.is = true
      clock.now += 80 * DAY_MS
      expect(await edge().load(name)).toMatchObject({ chain: before?.chain, renewAt: clock.now + 300_000 })
      expect(warnings).toHaveLength(1)
      clock.now += 10 * DAY_MS
      await expect(edge().load(name)).rejects.toThrow('the disk is full')
    },
  )

  test('issues another when the master key was lost', async () => {
    const before = await edge().load(name)
    clock.now += 1
    const next = await edge({}, keysOfMaster(randomBytes(32))).load(name)
    expect([next?.chain === before?.chain, next?.key.includes('PRIVATE KEY')]).toEqual([false, true])
  })

  describe('without the master key', () => {
    const edgeKeys = edgeKeysOf(requireMasterKey(keys))
    const asked: string[] = []
    const disk = new Map<string, KeptCertificate | undefined>()
    const known = {
      certificate: (hostName: string) => disk.get(hostName),
      keepCertificate: (hostName: string, kept: KeptCertificate | undefined) => void disk.set(hostName, kept),
    }
    const context = () => ({ database: api.database, ...keys })
    const control = {
      async issue(hostName: string) {
        asked.push(`issue ${hostName}`)
        await edge().load(hostName)
      },
      async seal(hostName: string) {
        asked.push(`seal ${hostName}`)
        if (full.is) throw new Error('no control answers')
        await sealForEdges(context(), hostName)
      },
    }
    const walled = () => edge({}, keysOfEdge(edgeKeys), { control, known })
    const changeRow = (changes: object) =>
      api.database.transaction((tx) => tx.updateTable('certificates').set(changes).execute())
    beforeEach(() => {
      asked.length = 0
      disk.clear()
    })

    test('opens the keys of certificates that others store, and asks a control for new ones', async () => {
      const found = await walled().load(name)
      expect([found?.key.includes('PRIVATE KEY'), asked]).toEqual([true, [`issue ${name}`]])
      expect((await edge().load(name))?.key).toBe(found?.key)
      await walled().load(name)
      expect(asked).toHaveLength(1)
    })

    test('asks a control for the key of a certificate that an earlier version has stored', async () => {
      const found = await edge().load(name)
      await changeRow({ edge_key: null })
      expect((await walled().load(name))?.key).toBe(found?.key)
      // It replaces a certificate, and leaves the key of the one before.
      await changeRow({ issued_at: clock.now + 1 })
      expect((await walled().load(name))?.key).toBe(found?.key)
      expect(asked).toEqual([`seal ${name}`, `seal ${name}`])
      await walled().load(name)
      expect(asked).toHaveLength(2)
    })

    test('serves the certificate before, if it has one, while no control answers', async () => {
      await edge().load(name)
      // As one of a public authority.
      await changeRow({ due_at: 5 })
      const ordered = () => edge({ STEAD_LOCAL_AUTHORITY: 'off' }, keysOfEdge(edgeKeys), { control, known })
      const before = await ordered().load(name)
      full.is = true
      await changeRow({ issued_at: clock.now + 1 })
      const again = { issuedAt: before?.issuedAt, key: before?.key, renewAt: clock.now + 300_000 }
      expect(await ordered().load(name)).toMatchObject(again)
      disk.clear()
      await expect(ordered().load(name)).rejects.toThrow('no control answers')
    })
  })

  test('deletes its certificates with the name of a site, and with the site', async () => {
    await edge().load(name)
    await api.database.transaction((tx) => moveStagingRoute(tx, siteId, 'first.stead.test', clock.now))
    expect(await rows()).toEqual([])
  })

  test('gives connections one at once, and the next in time', async () => {
    const { load, makes } = edge()
    let loads = 0
    let route = await loadRoute(api.database.read, name)
    const contexts = createSecureContexts({
      routes: { find: (hostName) => (hostName === name ? route : undefined) },
      load(hostName) {
        loads++
        return load(hostName)
      },
      makes: makes as NonNullable<typeof makes>,
      now: () => clock.now,
    })
    const all = await Promise.all(Array.from({ length: 9 }, () => contexts.find(name)))
    expect([new Set(all).size, all[0] !== undefined, loads]).toEqual([1, true, 1])
    expect(await contexts.find('nobody.localhost')).toBeUndefined()
    // When the route mentions the certificate, it is read once more.
    route = await loadRoute(api.database.read, name)
    const known = await contexts.find(name)
    expect([await contexts.find(name), loads]).toEqual([known, 2])
    clock.now += 70 * DAY_MS
    const next = await contexts.find(name)
    expect([next === known, loads]).toEqual([false, 3])
  })
})
