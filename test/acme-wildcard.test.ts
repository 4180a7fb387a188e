/**
 * The wildcard certificate of all first addresses, validated in a zone that Stead serves to the certificate authority.
 */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Config, readConfig } from '../src/config.ts'
import type { Definition } from '../src/platform/operations/definition.ts'
import { ended, startWorker } from '../src/platform/operations/harness.ts'
import type { Worker } from '../src/platform/operations/worker/worker.ts'
import { orderCertificate } from '../src/resources/certificates/order-certificate.job.ts'
import { planCertificates } from '../src/resources/certificates/plan-certificates.job.ts'
import { siteUrl } from '../src/resources/certificates/site-url.ts'
import type { RecordDraft } from '../src/resources/dns/records/record.ts'
import { deleteRecords, insertRecords, insertZone, recordsOfZone } from '../src/resources/dns/zone.store.ts'
import { putDomainRoute, putRoute } from '../src/resources/sites/addresses/route.store.ts'
import { type SecureApi, startSecureApi } from '../src/roles/certificates/secure-api.ts'
import { type NameServer, startDns } from '../src/roles/dns.ts'
import { type Edge, startEdge } from '../src/roles/edge.ts'
import { openProcessContext, type ProcessContext } from '../src/roles/process-context.ts'
import { addSite } from './support/acme-site.ts'
import { hasPebble, type Pebble, startPebble } from './support/pebble.ts'
import { freePort } from './support/stead.ts'

/** Resolvers query port 53. */
const ONE = '127.77.0.1'
const TWO = '127.77.0.2'
const mayListen = await new Promise<boolean>((resolve) => {
  const socket = createSocket('udp4')
  socket.on('error', () => resolve(false))
  socket.bind(53, ONE, () => socket.close(() => resolve(true)))
})
const ZONE = 'stead.example'
const STAGING = `sites.${ZONE}`
const WILDCARD = `*.${STAGING}`
const PROOF = `_acme-challenge.${STAGING}`

describe.skipIf(!hasPebble || !mayListen)('the certificate of all first addresses', () => {
  let folder: string
  let pebble: Pebble
  let host: Server
  let config: Config
  let ground: ProcessContext
  let second: ProcessContext
  let first: NameServer
  let edge: Edge
  let worker: Worker | undefined
  let siteId: number
  let zoneId: number

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-wildcard-'))
    const [edgePort, tlsPort] = await Promise.all([freePort(), freePort()])
    pebble = await startPebble(edgePort, `${ONE}:53`)
    host = createServer((request, response) => response.end(`host ${request.headers.host}`)).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const settings = {
      STEAD_DATA_DIR: folder,
      STEAD_LOG_LEVEL: 'silent',
      STEAD_STAGING_DOMAIN: STAGING,
      STEAD_EDGE_LISTEN: `127.0.0.1:${edgePort}`,
      STEAD_EDGE_TLS_LISTEN: `127.0.0.1:${tlsPort}`,
      STEAD_EDGE_CACHE_DISK_MB: '0',
      STEAD_DNS_LISTEN: `${ONE}:53`,
      STEAD_DNS_NAMESERVERS: `ns1.${ZONE}`,
      STEAD_RESOLVERS: `${ONE}:53`,
      STEAD_ACME_DIRECTORY: pebble.directory,
      STEAD_ACME_ROOTS: pebble.roots,
      STEAD_ACME_TERMS_AGREED: 'true',
    }
    config = readConfig(settings)
    ground = await openProcessContext(config, 'edge')
    second = await openProcessContext(readConfig({ ...settings, STEAD_DNS_LISTEN: `${TWO}:53` }), 'edge')
    first = await startDns(ground)
    edge = await startEdge(ground)
    siteId = await addSite(ground, `http://127.0.0.1:${(host.address() as AddressInfo).port}`)
    zoneId = await change(async (tx) => {
      for (const name of ['shop', 'blog']) await putRoute(tx, siteId, `${name}.${STAGING}`, Date.now())
      const { account_id: accountId } = await tx.selectFrom('sites').select('account_id').executeTakeFirstOrThrow()
      return (await insertZone(tx, accountId, ZONE, Date.now())).id
    })
    await addRecords(record('A', 'ns1', ONE), record('A', '*.sites', '127.0.0.1'))
  })
  afterAll(async () => {
    await edge?.stop()
    await first?.stop()
    await ground?.database.close()
    await second?.database.close()
    host?.closeAllConnections()
    host?.close()
    await pebble?.close()
    if (folder) await rm(folder, { recursive: true })
  })
  let seen: string[]
  beforeEach(() => {
    seen = []
  })
  afterEach(async () => {
    await worker?.stop(10_000)
    worker = undefined
    await change((tx) => tx.deleteFrom('certificates').execute())
  })

  const change = <Result>(
    work: (tx: Parameters<Parameters<ProcessContext['database']['transaction']>[0]>[0]) => Promise<Result>,
  ) => ground.database.transaction(work)
  const record = (type: RecordDraft['type'], name: string, value: string): RecordDraft => ({
    ...{ type, name, value, ttl: 300, siteId: null, priority: null, weight: null, port: null },
  })
  const addRecords = (...drafts: RecordDraft[]) => change((tx) => insertRecords(tx, zoneId, drafts, Date.now()))
  const dropRecords = (...names: string[]) =>
    change(async (tx) => {
      const ids = (await recordsOfZone(tx, zoneId)).filter(({ name }) => names.includes(name)).map(({ id }) => id)
      await deleteRecords(tx, zoneId, ids, Date.now())
    })
  const work = (given: Partial<Config> = {}) => {
    const services = {
      config: { ...config, ...given },
      database: ground.database,
      sealer: ground.sealer,
      edgeSealer: ground.edgeSealer,
    }
    worker = startWorker(ground.database, [orderCertificate as unknown as Definition, planCertificates], {
      services: services as never,
    })
  }
  /** Does what the schedule does. */
  const plan = (given: Partial<Config> = {}) =>
    change(async (tx) => {
      const { commit } = planCertificates.steps.plan as { commit: (tx: unknown, context: unknown) => Promise<void> }
      await commit(tx, { now: () => Date.now(), services: { config: { ...config, ...given } } })
    })
  const outcome = async () => {
    const { id } = await ground.database.read
      .selectFrom('operations')
      .select('id')
      .where('type', '=', 'certificate.order')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    return ended(ground.database, id)
  }
  const rowOf = () =>
    ground.database.read
      .selectFrom('certificates')
      .selectAll()
      .where('host_name', '=', WILDCARD)
      .executeTakeFirstOrThrow()
  const proofs = async (server = ONE, name = PROOF) => {
    const resolver = new Resolver({ timeout: 1000, tries: 1 })
    resolver.setServers([server])
    return (await resolver.resolveTxt(name).catch(() => [])).flat()
  }
  const visit = async (servername: string) => {
    const socket = connect({ port: edge.tlsPort as number, host: '127.0.0.1', servername, ca: await pebble.issuer() })
    await once(socket, 'secureConnect')
    const names = socket.getPeerCertificate().subjectaltname
    socket.write(`GET / HTTP/1.1\r\nhost: ${servername}\r\nconnection: close\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += chunk
    return { names, text }
  }
  const told = () =>
    ground.database.read.selectFrom('activity').select(['action', 'message', 'site_id']).orderBy('id').execute()

  test('is ordered by the schedule, validated in the zone, and used for every site', async () => {
    work()
    await plan()
    await expect.poll(async () => seen.push(...(await proofs()))).toBeGreaterThan(0)
    // Its users see only their own records.
    expect((await recordsOfZone(ground.database.read, zoneId)).map(({ name }) => name).toSorted()).toEqual([
      '*.sites',
      'ns1',
    ])
    expect(await outcome()).toMatchObject({ state: 'succeeded', error: null })
    for (const name of ['shop', 'blog']) {
      const host = `${name}.${STAGING}`
      await expect
        .poll(() => visit(host).catch(String))
        .toEqual({
          names: `DNS:${WILDCARD}`,
          text: expect.stringMatching(new RegExp(`host ${host}$`)),
        })
    }
    await expect(visit(`nobody.${STAGING}`)).rejects.toThrow(/handshake/i)
    const site = { name: 'shop', primaryDomain: null }
    expect(await siteUrl(ground.database.read, site, { config, now: Date.now() })).toBe(
      `https://shop.${STAGING}:${edge.tlsPort}`,
    )
    await expect.poll(() => proofs()).toEqual([])
    expect((await told()).at(-1)).toEqual({
      action: 'own_certificate.issued',
      message: `A certificate was issued for ${WILDCARD}`,
      site_id: null,
    })
  })

  test('a wildcard domain of a site has its own, validated in the zone of that site, for all names below it', async () => {
    const network = `net.${ZONE}`
    // The settings name another domain, so nothing else is ordered.
    const given = { stagingDomain: 'localhost' }
    await addRecords(record('A', '*.net', '127.0.0.1'))
    await change((tx) => putDomainRoute(tx, siteId, `*.${network}`, Date.now()))
    work(given)
    await plan(given)
    await expect.poll(async () => seen.push(...(await proofs(ONE, `_acme-challenge.${network}`)))).toBeGreaterThan(0)
    expect(await outcome()).toMatchObject({ state: 'succeeded', error: null })
    for (const host of [`one.${network}`, `two.${network}`])
      await expect
        .poll(() => visit(host).catch(String))
        .toEqual({ names: `DNS:*.${network}`, text: expect.stringMatching(new RegExp(`host ${host}$`)) })
    for (const host of [network, `a.one.${network}`]) await expect(visit(host)).rejects.toThrow(/handshake/i)
    await expect.poll(() => proofs(ONE, `_acme-challenge.${network}`)).toEqual([])
    expect((await told()).at(-1)).toEqual({
      action: 'certificate.issued',
      message: `A certificate was issued for *.${network}`,
      site_id: siteId,
    })
    await change((tx) => tx.deleteFrom('routes').where('host_name', '=', `*.${network}`).execute())
    await dropRecords('*.net')
  })

  test('keeps the other records of that name, and follows an alias of the name', async () => {
    await addRecords(
      record('CNAME', '_acme-challenge.sites', `proofs.${ZONE}`),
      record('TXT', 'proofs', 'somebody else'),
    )
    work()
    await plan()
    await expect.poll(async () => seen.push(...(await proofs()))).toBeGreaterThan(1)
    expect(seen).toContain('somebody else')
    expect(await outcome()).toMatchObject({ state: 'succeeded' })
    await expect.poll(() => proofs()).toEqual(['somebody else'])
    await dropRecords('_acme-challenge.sites', 'proofs')
    await expect.poll(() => proofs()).toEqual([])
  })

  test('asks for validation when every name server of the zone answers', async () => {
    await addRecords(record('NS', '', `ns1.${ZONE}`), record('NS', '', `ns2.${ZONE}`), record('A', 'ns2', TWO))
    work()
    await plan()
    await expect.poll(() => proofs()).toHaveLength(1)
    // The first name server has it, the second one is not running yet.
    const authorization = (await rowOf()).authz_url
    expect(authorization).not.toBeNull()
    expect((await rowOf()).chain).toBeNull()
    const other = await startDns(second)
    try {
      expect(await outcome()).toMatchObject({ state: 'succeeded' })
      expect((await rowOf()).authz_url).toBe(authorization)
    } finally {
      await other.stop()
    }
    const rest = await recordsOfZone(ground.database.read, zoneId)
    const gone = rest.filter(({ type, name }) => type === 'NS' || name === 'ns2').map(({ id }) => id)
    await change((tx) => deleteRecords(tx, zoneId, gone, Date.now()))
  })

  test('says what is missing when Stead has no such zone, and orders nothing', async () => {
    const stagingDomain = 'sites.elsewhere.example'
    work({ stagingDomain, resolvers: [pebble.resolver] })
    await plan({ stagingDomain })
    const reason =
      `The authority queries the DNS for _acme-challenge.${stagingDomain}. No zone of this installation contains it. Let Stead serve the ` +
      `zone, or make _acme-challenge.${stagingDomain} a CNAME of a name in a zone that Stead serves`
    expect(await outcome()).toMatchObject({ state: 'failed', error: reason })
    expect((await told()).at(-1)).toMatchObject({ action: 'own_certificate.failed', site_id: null })
    // The settings name another domain, so the first is forgotten.
    await plan()
    await outcome()
    const names = await ground.database.read.selectFrom('certificates').select('host_name').execute()
    expect(names).toEqual([{ host_name: WILDCARD }])
  })

  test('the API has a certificate for its own name, which the edge validates, and loads the next one', async () => {
    const apiTlsListen = { host: '127.0.0.1', port: await freePort() }
    const settings = { apiTlsListen, apiName: `api.${ZONE}`, stagingDomain: 'localhost' }
    await addRecords(record('A', 'api', '127.0.0.1'))
    const own = { ...ground, config: { ...config, ...settings } }
    await edge.stop()
    edge = await startEdge(own)
    const plain = createServer((_request, response) => response.end('the API'))
    const secure = (await startSecureApi(own, plain)) as SecureApi
    const ask = async () => {
      const socket = connect({ ...apiTlsListen, servername: settings.apiName, ca: await pebble.issuer() })
      await once(socket, 'secureConnect')
      const { serialNumber } = socket.getPeerCertificate()
      socket.end('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
      let text = ''
      for await (const chunk of socket) text += chunk
      return { serialNumber, text }
    }
    await expect(ask()).rejects.toThrow(/handshake/i)
    work(settings)
    await plan(settings)
    expect(await outcome()).toMatchObject({ state: 'succeeded', error: null })
    await secure.look()
    const first = await ask()
    expect(first.text).toMatch(/the API$/)
    await change((tx) => tx.updateTable('certificates').set({ chain: null, due_at: 0 }).execute())
    await plan(settings)
    expect(await outcome()).toMatchObject({ state: 'succeeded', error: null })
    await secure.look()
    expect((await ask()).serialNumber).not.toBe(first.serialNumber)
    await secure.stop()
    await dropRecords('api')
  })

  test('an order that is canceled leaves nothing in the zone', async () => {
    await addRecords(record('NS', '', `ns1.${ZONE}`), record('NS', '', `ns2.${ZONE}`), record('A', 'ns2', TWO))
    work()
    await plan()
    await expect.poll(() => proofs()).toHaveLength(1)
    await change((tx) =>
      tx.updateTable('operations').set({ cancel_requested: 1 }).where('state', '=', 'running').execute(),
    )
    expect(await outcome()).toMatchObject({ state: 'canceled' })
    await expect.poll(() => proofs()).toEqual([])
    expect((await rowOf()).due_at).toBeGreaterThan(Date.now())
    // Nor does one whose name is forgotten meanwhile because the settings name another.
    await change((tx) => tx.updateTable('certificates').set({ due_at: 0 }).execute())
    await plan()
    await expect.poll(() => proofs()).toHaveLength(1)
    await plan({ stagingDomain: 'localhost' })
    await change((tx) =>
      tx.updateTable('operations').set({ cancel_requested: 1 }).where('state', '=', 'running').execute(),
    )
    await outcome()
    await expect.poll(() => proofs()).toEqual([])
  })
})
