/** Certificates from an authority: ordered, validated by the real edge, and served by it. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { idOfCertificate } from '../src/certificates/renewal.ts'
import { type Config, readConfig } from '../src/config.ts'
import { recordNames } from '../src/edge/routing/route-changes.store.ts'
import { ask } from '../src/edge/test-support.ts'
import { CERTIFICATE_KEY_PURPOSE } from '../src/edge/tls/tls.store.ts'
import type { Definition } from '../src/platform/operations/definition.ts'
import { ended, startWorker } from '../src/platform/operations/harness.ts'
import type { Worker } from '../src/platform/operations/worker/worker.ts'
import {
  certificateState,
  dropCertificate,
  retryCertificate,
  wantCertificate,
} from '../src/resources/certificates/certificate.ts'
import { orderCertificate } from '../src/resources/certificates/order-certificate.job.ts'
import { planCertificates } from '../src/resources/certificates/plan-certificates.job.ts'
import { putRoute } from '../src/resources/sites/addresses/route.store.ts'
import { type Edge, startEdge } from '../src/roles/edge.ts'
import { openProcessContext, type ProcessContext } from '../src/roles/process-context.ts'
import { addSite } from './support/acme-site.ts'
import { startHttps } from './support/https.ts'
import { hasPebble, type Pebble, startPebble } from './support/pebble.ts'
import { freePort } from './support/stead.ts'

type Steps = Record<string, { run?: (context: unknown) => Promise<unknown>; commit?: unknown }>

describe.skipIf(!hasPebble)('certificates', () => {
  let folder: string
  let pebble: Pebble
  let host: Server
  let config: Config
  let grounds: ProcessContext[]
  let edges: Edge[]
  let worker: Worker | undefined
  let siteId: number
  let names = 0

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-acme-'))
    const [edgePort, tlsPort, ...second] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
    pebble = await startPebble(edgePort as number)
    host = createServer((request, response) => {
      response.end(`${request.headers['x-forwarded-proto']} ${request.headers.host}${request.url}`)
    })
    host.listen(0, '127.0.0.1')
    await once(host, 'listening')
    const settings = (plain: number, tls: number) => ({
      STEAD_DATA_DIR: folder,
      STEAD_LOG_LEVEL: 'silent',
      STEAD_EDGE_LISTEN: `127.0.0.1:${plain}`,
      STEAD_EDGE_TLS_LISTEN: `127.0.0.1:${tls}`,
      STEAD_EDGE_PROCESSES: '1',
      STEAD_EDGE_CACHE_DISK_MB: '0',
      STEAD_ACME_DIRECTORY: pebble.directory,
      STEAD_ACME_ROOTS: pebble.roots,
      STEAD_RESOLVERS: pebble.resolver,
      STEAD_ACME_TERMS_AGREED: 'true',
    })
    config = readConfig(settings(edgePort as number, tlsPort as number))
    const other = readConfig(settings(second[0] as number, second[1] as number))
    grounds = [await openProcessContext(config, 'edge'), await openProcessContext(other, 'edge')]
    edges = []
    for (const ground of grounds) edges.push(await startEdge(ground))
    siteId = await addSite(ground(), `http://127.0.0.1:${(host.address() as AddressInfo).port}`)
  })
  afterAll(async () => {
    for (const edge of edges ?? []) await edge.stop()
    for (const each of grounds ?? []) await each.database.close()
    host?.closeAllConnections()
    host?.close()
    await pebble?.close()
    if (folder) await rm(folder, { recursive: true })
  })
  let name: string
  beforeEach(async () => {
    name = `n${++names}.example.test`
    await change((tx) => putRoute(tx, siteId, name, Date.now()))
    await pebble.setAddresses(name, ['127.0.0.1'])
  })
  afterEach(async () => {
    await worker?.stop(10_000)
    worker = undefined
    await change((tx) => dropCertificate(tx, name))
  })

  const ground = () => grounds[0] as ProcessContext
  const change = <Result>(work: Parameters<ProcessContext['database']['transaction']>[0]) =>
    ground().database.transaction(work) as Promise<Result>
  const stateOf = (hostName = name) => certificateState(ground().database.read, hostName)
  const rowOf = () =>
    ground()
      .database.read.selectFrom('certificates')
      .selectAll()
      .where('host_name', '=', name)
      .executeTakeFirstOrThrow()
  const work = (given: Partial<Config> = {}, definition: unknown = orderCertificate) => {
    const services = {
      config: { ...config, ...given },
      database: ground().database,
      sealer: ground().sealer,
      edgeSealer: ground().sealer,
    }
    worker = startWorker(ground().database, [definition as Definition, planCertificates], {
      services: services as never,
    })
  }
  /** Waits for the newest operation on the name. */
  const outcome = async () => {
    const row = await ground()
      .database.read.selectFrom('operations')
      .select('id')
      .where('type', '=', 'certificate.order')
      .where('input', 'like', `%"${name}"%`)
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    return ended(ground().database, row.id)
  }
  const order = async () => {
    await change((tx) => wantCertificate(tx, { hostName: name, siteId, now: Date.now() }))
    return outcome()
  }
  const retry = async () => {
    await change((tx) => retryCertificate(tx, name, Date.now()))
    return outcome()
  }
  const visit = async (edge: Edge, session?: Buffer) => {
    const ca = await pebble.issuer()
    const socket: TLSSocket = connect({
      ...{ port: edge.tlsPort as number, host: '127.0.0.1', servername: name, ca },
      ...(session && { session }),
    })
    await once(socket, 'secureConnect')
    const [isResumed, isTrusted] = [socket.isSessionReused(), socket.authorized]
    let ticket: Buffer | undefined
    socket.on('session', (each) => {
      ticket = each
    })
    socket.write(`GET /a HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += chunk
    return { text, ticket: ticket as Buffer, isResumed, isTrusted }
  }

  test('a certificate is ordered, validated and served; a TLS session resumes in another edge process', async () => {
    work()
    expect(await order()).toMatchObject({ state: 'succeeded', error: null })
    const state = await stateOf()
    expect(state).toMatchObject({ isIssued: true, reason: null, forceTls: false })
    expect(state?.orderUrl).toContain('/my-order/')
    expect(state?.authzUrl).toContain('/authZ/')
    expect(state?.validationExpiresAt).toBeGreaterThan(Date.now())
    expect(state?.expiresAt).toBeGreaterThan(Date.now())
    // The feed of routes also notifies the other edge.
    await expect.poll(() => visit(edges[1] as Edge).then(({ text }) => text, String)).toContain(`https ${name}/a`)
    const first = await visit(edges[0] as Edge)
    expect([first.isTrusted, first.isResumed]).toEqual([true, false])
    // Keys change at noon and at midnight, in each process within a minute.
    await expect
      .poll(async () => visit(edges[1] as Edge, (await visit(edges[0] as Edge)).ticket).then((each) => each.isResumed))
      .toBe(true)
    expect((await ask(edges[0]?.port as number, '/a', { host: name })).body).toBe(`http ${name}/a`)
    await expect(connectAs(edges[0] as Edge, 'wrong.example.test')).rejects.toThrow(/handshake/i)
  })

  test('keys are stored sealed, and the account is created once', async () => {
    work()
    await order()
    const { private_key: sealed, chain } = await rowOf()
    expect(sealed).not.toContain('PRIVATE KEY')
    expect(ground().sealer.open(sealed as string, CERTIFICATE_KEY_PURPOSE)).toContain('PRIVATE KEY')
    expect(chain).toContain('BEGIN CERTIFICATE')
    const accounts = await ground().database.read.selectFrom('acme_accounts').selectAll().execute()
    expect(accounts).toHaveLength(1)
    expect(accounts[0]?.private_key).not.toContain('PRIVATE KEY')
    expect(accounts[0]?.url).toContain('https://')
  })

  test('finds an account that another order has created meanwhile', async () => {
    work()
    await order()
    const accounts = () => ground().database.read.selectFrom('acme_accounts').selectAll().execute()
    const before = await accounts()
    await worker?.stop(10_000)
    await change(async (tx) => {
      await tx.updateTable('acme_accounts').set({ url: null }).execute()
      await dropCertificate(tx, name)
    })
    work()
    expect(await order()).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(await accounts()).toEqual(before)
  })

  test('orders nothing for a name that points elsewhere, keeps the reason, and orders once it points here', async () => {
    await pebble.setAddresses(name, ['127.0.0.1', '192.0.2.7'])
    work()
    expect(await order()).toMatchObject({ state: 'failed' })
    expect(await stateOf()).toMatchObject({
      orderUrl: null,
      reason: expect.stringContaining(`${name} points to 192.0.2.7 in the DNS, but must only point to 127.0.0.1`),
    })
    await pebble.setAddresses(name, [])
    await retry()
    expect((await stateOf())?.reason).toBe(`${name} has no address in the DNS; it must be one of 127.0.0.1`)
    expect((await rowOf()).due_at - Date.now()).toBeLessThan(300_001)
    await pebble.setAddresses(name, ['127.0.0.1'])
    expect(await retry()).toMatchObject({ state: 'succeeded' })
    expect(await stateOf()).toMatchObject({ isIssued: true, reason: null })
  })

  test('orders nothing before the operator has agreed to the terms, nor for a name that no site has', async () => {
    work({ acmeTermsAgreed: false })
    await order()
    expect(await stateOf()).toMatchObject({
      orderUrl: null,
      reason: expect.stringContaining('STEAD_ACME_TERMS_AGREED'),
    })
    await worker?.stop(10_000)
    await change(async (tx) => {
      await tx.deleteFrom('routes').where('host_name', '=', name).execute()
      await recordNames(tx, [name])
    })
    work()
    await retry()
    expect(await stateOf()).toMatchObject({ orderUrl: null, reason: `${name} is not the name of a site` })
  })

  test('keeps the error of the authority, and waits longer after each attempt', async () => {
    // Nothing answers there.
    await pebble.setAddresses(name, ['127.0.0.9'])
    work({ edgeAddresses: ['127.0.0.9'] })
    expect(await order()).toMatchObject({ state: 'failed' })
    const first = await rowOf()
    expect(first.reason).toMatch(/^The authority could not validate the name: .*127\.0\.0\.9/)
    expect(first.challenge_answer).toBeNull()
    await retry()
    const second = await rowOf()
    expect(second.order_url).not.toBe(first.order_url)
    expect([first.failures, second.failures]).toEqual([1, 2])
    expect(second.due_at - Date.now()).toBeGreaterThan(2 * 900_000)
    const told = await ground()
      .database.read.selectFrom('activity')
      .select('message')
      .where('action', '=', 'certificate.failed')
      .where('message', 'like', `%${name}:%`)
      .execute()
    expect(told.length).toBeLessThanOrEqual(2)
  })

  test('does not repeat an order that the authority refuses for a while before that time', async () => {
    work()
    await order()
    const before = await rowOf()
    const notBefore = Date.now() + 7_200_000
    await change((tx) =>
      tx
        .updateTable('certificates')
        .set({ not_before: notBefore, reason: 'too many' })
        .where('host_name', '=', name)
        .execute(),
    )
    expect(await retry()).toMatchObject({ state: 'failed', error: 'too many' })
    const { order_url: orderUrl, due_at: dueAt } = await rowOf()
    expect([orderUrl, dueAt]).toEqual([before.order_url, notBefore])
  })

  test('the schedule renews a certificate when it is due, and not before', async () => {
    work()
    await order()
    const first = await rowOf()
    expect(await retry()).toMatchObject({ state: 'succeeded' })
    expect((await rowOf()).order_url).toBe(first.order_url)
    const old = await generate([{ name: 'commonName', value: name }], {
      ...{ keyType: 'ec', algorithm: 'sha256' },
      notBeforeDate: new Date(Date.now() - 60 * 86_400_000),
      notAfterDate: new Date(Date.now() + 20 * 86_400_000),
    })
    await change((tx) =>
      tx.updateTable('certificates').set({ chain: old.cert, due_at: 0 }).where('host_name', '=', name).execute(),
    )
    await change(async (tx) => {
      const plan = planCertificates.steps.plan?.commit as (tx: unknown, context: unknown) => Promise<void>
      await plan(tx, { now: () => Date.now(), services: { config } })
    })
    expect(await outcome()).toMatchObject({ state: 'succeeded' })
    const second = await rowOf()
    expect(second.order_url).not.toBe(first.order_url)
    expect(second.chain).not.toBe(old.cert)
    expect(second.issued_at).toBeGreaterThan(first.issued_at as number)
  })

  test.each(['order', 'prove', 'issue'])(
    'interrupted at the end of "%s" it continues the existing order',
    async (at) => {
      const urls: (string | null)[] = []
      const steps = orderCertificate.steps as unknown as Steps
      const step = steps[at] as { run: (context: unknown) => Promise<unknown> }
      const run = async (context: unknown) => {
        const result = await step.run(context)
        urls.push((await rowOf()).order_url)
        if (urls.length === 1) throw new Error('cut off')
        return result
      }
      work({}, { ...orderCertificate, steps: { ...steps, [at]: { run } }, backoff: { firstMs: 1 } })
      expect(await order()).toMatchObject({ state: 'succeeded' })
      expect(urls).toHaveLength(2)
      expect(urls[0]).toBe(urls[1])
      expect(await stateOf()).toMatchObject({ isIssued: true, orderUrl: urls[0] })
    },
  )

  test('starts again if the authority has forgotten the order', async () => {
    work()
    const forgotten = `${new URL(pebble.directory).origin}/my-order/none`
    await worker?.stop(10_000)
    await change((tx) => wantCertificate(tx, { hostName: name, siteId, now: Date.now() }))
    const gone = { order_url: forgotten, order_key: ground().sealer.seal('lost', CERTIFICATE_KEY_PURPOSE) }
    await change((tx) => tx.updateTable('certificates').set(gone).where('host_name', '=', name).execute())
    work()
    expect(await outcome()).toMatchObject({ state: 'succeeded' })
    expect((await rowOf()).order_url).not.toBe(forgotten)
  })

  test.each([
    ['proofs that take no time', { PEBBLE_VA_NOSLEEP: '1' }],
    ['every second nonce refused', { PEBBLE_WFE_NONCEREJECT: '50', PEBBLE_VA_NOSLEEP: '1' }],
    ['what was proved once taken for granted', { PEBBLE_AUTHZREUSE: '100', PEBBLE_VA_NOSLEEP: '1' }],
    ['a long chain', { PEBBLE_CHAIN_LENGTH: '3', PEBBLE_VA_NOSLEEP: '1' }],
  ])('an authority with %s: the first certificate, and the next', async (_, ways) => {
    const other = await startPebble(config.edgeListen.port, pebble.resolver, ways)
    try {
      const given = { acmeDirectory: other.directory, acmeRoots: other.roots }
      work(given, { ...orderCertificate, backoff: { firstMs: 1 } })
      expect(await order()).toMatchObject({ state: 'succeeded', error: null })
      const first = await rowOf()
      const count = Number(first.chain?.match(/BEGIN CERTIFICATE/g)?.length)
      expect(count).toBe('PEBBLE_CHAIN_LENGTH' in ways ? 4 : 2)
      await change((tx) => tx.updateTable('certificates').set({ chain: null }).where('host_name', '=', name).execute())
      expect(await retry()).toMatchObject({ state: 'succeeded', error: null })
      const second = await rowOf()
      expect([second.order_url === first.order_url, second.chain === first.chain]).toEqual([false, false])
      if ('PEBBLE_AUTHZREUSE' in ways) expect(second.authz_url).toBeNull()
    } finally {
      await other.close()
    }
  })

  test('an authority that only serves its customers: its own refusal without their key, and an order with it', async () => {
    const key = randomBytes(32).toString('base64url')
    const ways = { PEBBLE_VA_NOSLEEP: '1' }
    const other = await startPebble(config.edgeListen.port, pebble.resolver, ways, { customer: key })
    try {
      const given = { acmeDirectory: other.directory, acmeRoots: other.roots }
      const definition = { ...orderCertificate, backoff: { firstMs: 1 } }
      work(given, definition)
      expect(await order()).toMatchObject({ state: 'failed' })
      expect((await stateOf())?.reason).toMatch(/external ?account ?binding.*STEAD_ACME_EAB_KID/is)
      await worker?.stop(10_000)
      work({ ...given, acmeEabKid: 'customer', acmeEabKey: key }, definition)
      expect(await retry()).toMatchObject({ state: 'succeeded', error: null })
      await worker?.stop(10_000)
      // A registered customer needs no key again.
      work(given, definition)
      await change((tx) => tx.updateTable('certificates').set({ chain: null }).where('host_name', '=', name).execute())
      expect(await retry()).toMatchObject({ state: 'succeeded', error: null })
    } finally {
      await other.close()
    }
  })

  test('starts again if the order has expired, although the authority still shows it', async () => {
    let begun: string | null = null
    const steps = orderCertificate.steps as unknown as Steps
    const run = async (context: object) => {
      await steps.order?.run?.(context)
      begun = (await rowOf()).order_url
      // As if it had waited for a year.
      const late = { ...context, now: () => Date.now() + 366 * 86_400_000 }
      await steps.order?.run?.(late)
    }
    work({}, { ...orderCertificate, steps: { ...steps, order: { run } } })
    expect(await order()).toMatchObject({ state: 'succeeded', error: null })
    expect(begun).toContain('/my-order/')
    expect((await rowOf()).order_url).not.toBe(begun)
  })

  test('serves an expired certificate while the authority is down, and replaces it on request afterwards', async () => {
    work()
    await order()
    const old = await generate([{ name: 'commonName', value: name }], {
      ...{ keyType: 'ec', algorithm: 'sha256' },
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
      notBeforeDate: new Date(Date.now() - 90 * 86_400_000),
      notAfterDate: new Date(Date.now() - 1000),
    })
    const ended = {
      ...{ chain: old.cert, private_key: ground().sealer.seal(old.private, CERTIFICATE_KEY_PURPOSE), force_tls: 1 },
      ...{ issued_at: Date.now() - 90 * 86_400_000, expires_at: Date.now() - 1000 },
    }
    await change(async (tx) => {
      await tx.updateTable('certificates').set(ended).where('host_name', '=', name).execute()
      await recordNames(tx, [name])
    })
    await worker?.stop(10_000)
    work({ acmeDirectory: 'https://127.0.0.1:9/dir' }, { ...orderCertificate, backoff: { firstMs: 1 } })
    expect(await retry()).toMatchObject({ state: 'failed' })
    expect(await stateOf()).toMatchObject({
      isIssued: true,
      reason: expect.stringMatching(/^Stead cannot reach the certificate authority/),
    })
    // No redirect leads to it, and visitors can skip the warning.
    await expect
      .poll(() => ask(edges[0]?.port as number, '/a', { host: name }).then(({ body }) => body))
      .toBe(`http ${name}/a`)
    const socket = connect({ port: edges[0]?.tlsPort as number, servername: name, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    expect(socket.authorizationError).toBeTruthy()
    socket.destroy()
    await worker?.stop(10_000)
    work()
    expect(await retry()).toMatchObject({ state: 'succeeded' })
    expect(await stateOf()).toMatchObject({ isIssued: true, reason: null })
    expect((await rowOf()).told).toBe(0)
    await expect.poll(() => ask(edges[0]?.port as number, '/a', { host: name }).then(({ status }) => status)).toBe(301)
    await change((tx) => tx.deleteFrom('acme_accounts').where('directory', 'like', '%:9/dir').execute())
  })

  test('replaces a certificate at once that the authority wants replaced, such as a revoked one', async () => {
    work()
    await order()
    const { order_url: first, chain } = await rowOf()
    const window = { start: '2020-01-01T00:00:00Z', end: '2020-01-02T00:00:00Z' }
    let asked = ''
    const ca = await readFile(pebble.roots, 'utf8')
    // Runs Pebble at another address, with an answer that it lacks. Pebble builds its URLs from the requested name.
    const authority = await startHttps('localhost', (request, response) => {
      const { method, headers, url = '' } = request
      const answer = (body: object) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
      if (url.startsWith('/info/')) {
        asked = url
        answer({ suggestedWindow: window })
        return
      }
      const onward = httpsRequest(
        new URL(url, pebble.directory),
        { method, headers, ca, servername: '' },
        async (reply) => {
          if (url !== '/dir') reply.pipe(response.writeHead(reply.statusCode as number, reply.headers))
          else answer({ ...((await json(reply)) as object), renewalInfo: `https://localhost:${authority.port}/info` })
        },
      )
      request.pipe(onward)
    })
    const acmeRoots = join(folder, 'both.pem')
    await writeFile(acmeRoots, `${await readFile(pebble.roots, 'utf8')}\n${authority.caCertificate}`)
    await worker?.stop(10_000)
    work({ acmeDirectory: `https://localhost:${authority.port}/dir`, acmeRoots })
    expect(await retry()).toMatchObject({ state: 'succeeded' })
    expect(asked).toBe(`/info/${idOfCertificate(chain as string)}`)
    expect((await rowOf()).order_url).not.toBe(first)
    authority.close()
  })

  test('names the reason when the authority is down', async () => {
    const nobody = createSocketServer().listen(0, '127.0.0.1')
    await once(nobody, 'listening')
    const { port } = nobody.address() as AddressInfo
    nobody.close()
    work({ acmeDirectory: `https://127.0.0.1:${port}/dir` }, { ...orderCertificate, backoff: { firstMs: 1 } })
    expect(await order()).toMatchObject({ state: 'failed' })
    expect((await stateOf())?.reason).toMatch(/^Stead cannot reach the certificate authority: .*ECONNREFUSED/)
    await change((tx) => tx.deleteFrom('acme_accounts').where('directory', 'like', `%:${port}/dir`).execute())
  })

  async function connectAs(edge: Edge, servername: string): Promise<void> {
    const socket = connect({ port: edge.tlsPort as number, host: '127.0.0.1', servername })
    await once(socket, 'secureConnect')
    socket.destroy()
  }
})
