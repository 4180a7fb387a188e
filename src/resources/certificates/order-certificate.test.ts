/** Tests of ordering a certificate, with a scripted authority. `test/acme.test.ts` uses a real one. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type StandInAuthority, standInAuthority } from '../../../test/support/stand-in-authority.ts'
import { issueLocally, makeLocalAuthority } from '../../certificates/local-authority.ts'
import { idOfCertificate, lifeOf } from '../../certificates/renewal.ts'
import type { Config } from '../../config.ts'
import { CERTIFICATE_KEY_PURPOSE, edgeKeyPurpose } from '../../edge/tls/tls.store.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { noLog } from '../../platform/log/log.ts'
import { PermanentFailure } from '../../platform/operations/definition.ts'
import { putDomainRoute } from '../sites/addresses/route.store.ts'
import { changeName, findName } from './certificate.store.ts'
import { wantCertificate } from './certificate.ts'
import { noteFailure } from './note-failure.ts'
import { orderCertificate } from './order-certificate.job.ts'

const hostName = 'www.example.com'
const edgeSealer = createSealer(Buffer.alloc(32, 8))
const DAY = 86_400_000
const listen = { host: '127.0.0.1', port: 8443 }
let chain: string
let key: string
let end: number
beforeAll(async () => {
  const made = await issueLocally(await makeLocalAuthority('example.com', Date.now()), hostName, Date.now())
  chain = made.chain
  key = made.key
  end = made.expiresAt
})

describe.each(dialects)('the order of a certificate on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  let authority: StandInAuthority
  let given: Partial<Config>
  let time: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'first')
    authority = await standInAuthority(chain)
    given = {
      acmeDirectory: authority.directory,
      acmeTermsAgreed: true,
      acmeEmail: 'ops@example.com',
      edgeTlsListen: listen,
    }
    time = Date.now()
    await api.database.transaction(async (tx) => {
      await putDomainRoute(tx, siteId, hostName, 1)
      await wantCertificate(tx, { hostName, siteId, now: time })
    })
  })
  afterEach(async () => {
    await authority?.close()
    await api?.close()
  })

  type Steps = Record<string, { run?: (context: object) => unknown; commit?: (tx: object, context: object) => unknown }>
  const steps = orderCertificate.steps as unknown as Steps
  const contextOf = (results: object, name = hostName) => ({
    services: { config: { ...api.config, ...given }, database: api.database, sealer: api.sealer, edgeSealer },
    ...{ operationId: 1, siteId: null, accountId: owner.accountId, source: null, attempt: 1, log: noLog },
    ...{ input: { hostName: name }, results, signal: new AbortController().signal, now: () => time },
    transaction: (work: never) => api.database.transaction(work),
  })
  const run = async (step: string, results: object = { claim: true, due: true }, name = hostName) => {
    const result = await steps[step]?.run?.(contextOf(results, name))
    if (step === 'order') await takeKeyOfChain(name)
    return result
  }
  /** The stand-in has one certificate, for one key. */
  const takeKeyOfChain = async (name: string) => {
    const standing = (await findName(api.database.read, name))?.order_key
    if (standing && api.sealer.open(standing, CERTIFICATE_KEY_PURPOSE) !== key)
      await change({ order_key: api.sealer.seal(key, CERTIFICATE_KEY_PURPOSE) }, name)
  }
  const complete = (results: object) =>
    api.database.transaction((tx) => steps.settle?.commit?.(tx, contextOf(results)) as Promise<void>)
  const all = async () => {
    for (const step of ['order', 'prove', 'issue']) await run(step)
    await complete({ claim: true, issue: true })
  }
  const row = async (name = hostName) => {
    const found = await findName(api.database.read, name)
    if (!found) throw new Error(`${name} is not wanted`)
    return found
  }
  const change = (values: Parameters<typeof changeName>[2], name = hostName) =>
    api.database.transaction((tx) => changeName(tx, name, values))
  const messages = async () =>
    (await api.database.read.selectFrom('activity').select('message').execute()).map(({ message }) => message)
  const limited = (retryAfter?: string) => ({
    ...{ status: 429, type: 'urn:ietf:params:acme:error:rateLimited', detail: 'too many orders' },
    ...(retryAfter && { retryAfter }),
  })

  test('is created, validated by the site, issued and reported, with one account that has the operator’s address', async () => {
    await run('order')
    const ordered = await row()
    expect(ordered).toMatchObject({ order_url: expect.stringContaining('/orders/1'), chain: null })
    await run('prove')
    expect(await row()).toMatchObject({
      ...{ challenge_token: 'token-1-http-01', challenge_answer: expect.stringMatching(/^token-1-http-01\..{43}$/) },
      ...{ authz_url: expect.stringContaining('/proof/1'), authz_expires_at: Date.parse('2040-01-01T00:00:00Z') },
    })
    expect(await run('issue')).toBe(true)
    expect(await row()).toMatchObject({
      ...{ chain, private_key: ordered.order_key, order_key: null, issued_at: time, told: 0 },
      ...{ challenge_token: null, challenge_answer: null },
    })
    const { expires_at, edge_key } = await row()
    expect(expires_at).toBe(Math.floor(end / 1000) * 1000)
    expect(edgeSealer.open(edge_key as string, edgeKeyPurpose(hostName, time))).toContain('PRIVATE KEY')
    await change({ reason: 'It was away', reason_at: 1, failures: 3, not_before: 5 })
    await complete({ claim: true, issue: true })
    const settled = { reason: null, reason_at: null, failures: 0, not_before: null, due_at: time + DAY }
    expect(await row()).toMatchObject(settled)
    expect(await messages()).toContain(`A certificate was issued for ${hostName}`)
    expect(authority.accounts).toEqual([['mailto:ops@example.com']])
    const kept = await api.database.read.selectFrom('acme_accounts').selectAll().execute()
    expect(kept).toMatchObject([{ directory: authority.directory, url: expect.stringContaining('/account/1') }])
    expect(kept[0]?.private_key).not.toContain('PRIVATE')
    expect(api.sealer.open(ordered.order_key as string, CERTIFICATE_KEY_PURPOSE)).toContain('PRIVATE KEY')
  })

  test('requests one authorization, however many the order lists', async () => {
    authority.authorizations = 50
    await run('order')
    await run('prove')
    // Before the response, and after it.
    expect(authority.asked.filter((path) => path === 'proof/1')).toHaveLength(2)
  })

  test('refuses a certificate for another key than its own', async () => {
    await run('order')
    await run('prove')
    const { makeKey } = await import('../../certificates/authority.ts')
    await change({ order_key: api.sealer.seal(await makeKey(), CERTIFICATE_KEY_PURPOSE) })
    await expect(run('issue')).rejects.toThrow('The authority issued an unusable certificate')
    expect(await row()).toMatchObject({ chain: null, order_key: null })
  })

  test('does nothing before it is due, and its end does not affect a name that another operation handles', async () => {
    for (const step of ['order', 'prove', 'issue']) expect(await run(step, { claim: true, due: false })).toBeFalsy()
    const before = await row()
    await complete({ claim: false, issue: false })
    expect([await row(), authority.asked, await messages()]).toEqual([before, [], []])
    await change({ failures: 2 })
    await complete({ claim: true, issue: false })
    expect(await row()).toMatchObject({ failures: 0, due_at: before.due_at })
    expect(await messages()).toEqual([])
  })

  test('continues after an interruption, in any step', async () => {
    for (const step of ['order', 'order', 'prove', 'prove', 'issue', 'issue']) await run(step)
    expect([authority.orders.length, authority.accounts.length]).toEqual([1, 1])
    expect(authority.asked.filter((path) => /^(answer|finalize)/.test(path))).toEqual(['answer/1', 'finalize/1'])
    expect((await row()).chain).toBe(chain)
  })

  test('restarts when the current one is lost, refused, or expired, and the next one names what it replaces', async () => {
    await run('order')
    const state = (changes: object) => Object.assign(authority.orders.at(-1) as object, changes)
    state({ status: 'invalid' })
    await run('order')
    expect(authority.orders).toHaveLength(2)
    state({ expires: new Date(time + 1000).toISOString() })
    await run('order')
    expect(authority.orders).toHaveLength(2)
    time += 1000
    await run('order')
    expect(authority.orders).toHaveLength(3)
    await change({ order_url: `${authority.directory.replace('directory', 'orders')}/99` })
    await run('order')
    expect((await row()).order_url).toContain('/orders/4')
    await change({ order_key: null, chain })
    await run('order')
    const replaced = authority.orders.map(({ replaces }) => replaces)
    expect(replaced).toEqual([undefined, undefined, undefined, undefined, idOfCertificate(chain)])
  })

  test('gives the reason of a failed validation, and the next one restarts', async () => {
    authority.proved = 'invalid'
    await run('order')
    const failed = run('prove') as Promise<void>
    await expect(failed).rejects.toThrow('The authority could not validate the name: it leads elsewhere')
    await expect(failed).rejects.toThrow(PermanentFailure)
    expect((await row()).order_key).toBeNull()
    authority.proved = 'valid'
    await all()
    expect([authority.orders.length, (await row()).chain]).toEqual([2, chain])
  })

  test('gives the reason if it is not issued in the end, and the next one restarts', async () => {
    authority.issued = 'invalid'
    await run('order')
    await run('prove')
    const failed = run('issue') as Promise<void>
    await expect(failed).rejects.toThrow('The authority did not issue a certificate: a record forbids it')
    expect(await row()).toMatchObject({ order_key: null, chain: null })
  })

  test('is refused if the authority offers no challenge that the site could complete', async () => {
    authority.challenges = ['tls-alpn-01']
    await run('order')
    const says = 'The authority does not offer the challenge http-01 for this name'
    await expect(run('prove') as Promise<void>).rejects.toThrow(says)
    expect(authority.asked).not.toContain('answer/1')
  })

  test('validates a wildcard only by its zone, and is refused without one', async () => {
    const wildcard = '*.example.com'
    given = { ...given, resolvers: ['127.0.0.1:9'] }
    await api.database.transaction(async (tx) => {
      await putDomainRoute(tx, siteId, wildcard, 1)
      await wantCertificate(tx, { hostName: wildcard, siteId, now: time })
    })
    const results = { claim: true, due: true }
    await run('order', results, wildcard)
    await expect(run('prove', results, wildcard) as Promise<void>).rejects.toThrow(PermanentFailure)
    expect(await row(wildcard)).toMatchObject({ challenge_token: null, authz_url: expect.any(String) })
    expect(authority.asked).not.toContain('answer/1')
    authority.challenges = ['http-01']
    await expect(run('prove', results, wildcard) as Promise<void>).rejects.toThrow(
      'does not offer the challenge dns-01',
    )
  })

  test.each([
    ['120', 120_000],
    [undefined, 3_600_000],
  ])('waits until a temporary refusal (Retry-After: %s) is over', async (header, ms) => {
    authority.refuse = { path: 'order', by: limited(header) }
    const says = 'The authority currently accepts no more orders: too many orders'
    await expect(run('order') as Promise<void>).rejects.toThrow(new PermanentFailure(says))
    expect((await row()).not_before).toBe(time + ms)
    await change({ reason: 'too many orders' })
    await expect(run('due') as Promise<void>).rejects.toThrow('too many orders')
    await change({ reason: null })
    await expect(run('due') as Promise<void>).rejects.toThrow('It is too early')
  })

  test('is retried when an authority cannot accept it now, and nothing of it is stored', async () => {
    authority.refuse = { path: 'order', by: { status: 503, type: '', detail: 'we are moving' } }
    const failed = run('order') as Promise<void>
    await expect(failed).rejects.toThrow('we are moving')
    await expect(failed).rejects.not.toThrow(PermanentFailure)
    expect(await row()).toMatchObject({ not_before: null, order_url: null })
  })

  test('continues with a new account and the same key if the authority has forgotten the old one', async () => {
    await run('order')
    const detail = 'Account http://authority.test/account/1 not found'
    authority.refuse = {
      path: 'order',
      by: { status: 400, type: 'urn:ietf:params:acme:error:accountDoesNotExist', detail },
    }
    const failed = run('order') as Promise<void>
    await expect(failed).rejects.toThrow(`${detail}. Stead registered again`)
    await expect(failed).rejects.not.toThrow(PermanentFailure)
    authority.refuse = undefined
    expect(await row()).toMatchObject({ order_url: null, order_key: null })
    expect(authority.accounts).toHaveLength(2)
    await all()
    expect((await row()).chain).toBe(chain)
    const accounts = await api.database.read.selectFrom('acme_accounts').selectAll().execute()
    expect(accounts).toMatchObject([{ url: expect.stringContaining('/account/2') }])
  })

  test('checks a one-day certificate when a third of its time is left, and retries often for one that expires soon', async () => {
    const { from, until } = lifeOf(chain)
    const renewAt = Math.ceil(until - (until - from) / 3)
    time = renewAt - DAY / 24
    await change({ chain })
    await complete({ claim: true, issue: true })
    expect((await row()).due_at).toBe(renewAt)
    await change({ failures: 5, expires_at: time + DAY / 3, operation_id: 1 })
    await api.database.transaction((tx) => noteFailure(tx, { ...contextOf({}), error: 'It was away' } as never))
    expect((await row()).due_at).toBe(time + DAY / 12)
  })

  test('is refused for a name that is no longer wanted', async () => {
    await expect(run('order', { claim: true, due: true }, 'gone.example.com') as Promise<void>).rejects.toThrow(
      'gone.example.com no longer needs a certificate',
    )
    expect(authority.orders).toEqual([])
  })

  test('is due when a third of its lifetime is left, and not before', async () => {
    const due = (claim = true) => run('due', { claim })
    expect(await due(false)).toBe(false)
    await change({ chain })
    expect(await due()).toBe(false)
    // It is checked again each day.
    expect((await row()).due_at).toBe(time + DAY)
    const due30 = Math.floor(end / 1000) * 1000 - 30 * DAY
    time = due30 - 3_600_000
    expect(await due()).toBe(false)
    expect((await row()).due_at).toBe(due30)
    time = due30
    await expect(due() as Promise<void>).rejects.toThrow('www.example.com cannot be looked up')
  })

  test('is due in the middle of the authority’s renewal window, and unchanged if that cannot be requested', async () => {
    await change({ chain })
    const due = () => run('due', { claim: true })
    const at = (ms: number) => new Date(time + ms).toISOString()
    authority.window = { start: at(-2 * DAY), end: at(4 * DAY) }
    expect(await due()).toBe(false)
    authority.window = { start: at(-4 * DAY), end: at(2 * DAY) }
    await expect(due() as Promise<void>).rejects.toThrow('www.example.com cannot be looked up')
    authority.window = undefined
    expect(await due()).toBe(false)
    await authority.close()
    expect(await due()).toBe(false)
    authority = await standInAuthority(chain)
  })

  test('is not due until the operator has agreed to the terms, and does not contact the authority before', async () => {
    given = { ...given, acmeTermsAgreed: false }
    await change({ chain })
    const due = () => run('due', { claim: true }) as Promise<unknown>
    expect(await due()).toBe(false)
    await change({ chain: null })
    await expect(due()).rejects.toThrow('until the operator agrees to the terms')
    expect([authority.asked, authority.accounts]).toEqual([[], []])
  })
})
