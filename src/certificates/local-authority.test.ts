import { execFile } from 'node:child_process'
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import { localAuthority } from './local-authority.store.ts'
import { issueLocally, type LocalAuthority, makeLocalAuthority } from './local-authority.ts'
import { isBelow, localDomainOf } from './local-domain.ts'

const run = promisify(execFile)
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const OPENSSL = '/usr/bin/openssl'

test.each([
  ['localhost', 'localhost'],
  ['sites.localhost', 'sites.localhost'],
  ['stead.test', 'stead.test'],
  ['sites.office.internal', 'sites.office.internal'],
  ['nas.local', 'nas.local'],
  ['lan.home.arpa', 'lan.home.arpa'],
  ['example.com', undefined],
  ['mylocalhost', undefined],
  ['localhost.example.com', undefined],
  ['arpa', undefined],
])('the installation certifies names below %s: %s', (stagingDomain, expected) => {
  expect(localDomainOf({ localAuthority: 'auto', stagingDomain })).toBe(expected)
  expect(localDomainOf({ localAuthority: 'off', stagingDomain })).toBeUndefined()
})

test('a domain is not below itself, nor is a name that merely ends like it', () => {
  expect(['a.localhost', 'b.a.localhost', 'localhost', 'alocalhost'].map((name) => isBelow(name, 'localhost'))).toEqual(
    [true, true, false, false],
  )
})

describe('a local authority', () => {
  const now = Date.now()
  let authority: LocalAuthority
  let folder: string
  beforeAll(async () => {
    authority = await makeLocalAuthority('localhost', now)
    folder = await mkdtemp(join(tmpdir(), 'stead-authority-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('signs a certificate of one name, for ninety days, with its own key', async () => {
    const [one, two] = await Promise.all(
      ['one', 'two'].map((name) => issueLocally(authority, `${name}.localhost`, now)),
    )
    const [root, leaf] = [authority.certificate, one?.chain as string].map((pem) => new X509Certificate(pem))
    expect([root?.ca, root?.verify(root.publicKey), leaf?.ca]).toEqual([true, true, false])
    expect([leaf?.checkIssued(root as X509Certificate), leaf?.verify((root as X509Certificate).publicKey)]).toEqual([
      true,
      true,
    ])
    expect(leaf?.subjectAltName).toBe('DNS:one.localhost')
    expect(leaf?.checkHost('two.localhost')).toBeUndefined()
    const days = (Date.parse(leaf?.validTo as string) - Date.parse(leaf?.validFrom as string)) / DAY_MS
    expect(days).toBe(90)
    expect(Math.trunc((one?.expiresAt as number) / 1000) * 1000).toBe(Date.parse(leaf?.validTo as string))
    expect(one?.key).not.toBe(two?.key)
    expect(leaf?.checkPrivateKey(createPrivateKey(one?.key as string))).toBe(true)
    expect(leaf?.serialNumber).not.toBe(new X509Certificate(two?.chain as string).serialNumber)
  })

  test('refuses names outside its domain', async () => {
    for (const name of ['example.com', 'localhost', 'alocalhost', 'localhost.example.com'])
      await expect(issueLocally(authority, name, now)).rejects.toThrow('is not below localhost')
  })

  describe.skipIf(!existsSync(OPENSSL))('verified with openssl', () => {
    const verify = async (chain: string, hostName: string, { certificate } = authority) => {
      await writeFile(join(folder, 'root.pem'), certificate)
      await writeFile(join(folder, 'leaf.pem'), chain)
      const how = ['-x509_strict', '-purpose', 'sslserver', '-verify_hostname', hostName]
      const files = ['-CAfile', join(folder, 'root.pem'), join(folder, 'leaf.pem')]
      return run(OPENSSL, ['verify', ...how, ...files]).then(
        () => 'good',
        ({ stderr }) => /error \d+ at \d+ depth lookup: (.*)/.exec(stderr)?.[1],
      )
    }

    test('issues valid certificates', async () => {
      const { chain } = await issueLocally(authority, 'one.localhost', now)
      expect(await verify(chain, 'one.localhost')).toBe('good')
      expect(await verify(chain, 'two.localhost')).toBe('hostname mismatch')
    })

    test('cannot certify other names or addresses, even in the wrong hands', async () => {
      const free = { ...authority, domain: 'example.com' }
      const { chain } = await issueLocally(free, 'www.example.com', now)
      expect(await verify(chain, 'www.example.com')).toBe('permitted subtree violation')
      const text = (await run(OPENSSL, ['x509', '-noout', '-text', '-in', join(folder, 'root.pem')])).stdout
      expect(text).toMatch(
        /Name Constraints: critical\s+Permitted:\s+DNS:localhost\s+Excluded:\s+IP:0.0.0.0\/0.0.0.0\s+IP:/,
      )
      expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/)
    })

    test('supports the longest domain', async () => {
      const domain = `${Array.from({ length: 3 }, () => 'a'.repeat(60)).join('.')}.${'b'.repeat(50)}.test`
      const long = await makeLocalAuthority(domain, now)
      const { chain } = await issueLocally(long, `c.${domain}`, now)
      expect(await verify(chain, `c.${domain}`, long)).toBe('good')
    })
  })
})

describe.each(dialects)('the authority of an installation on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
  })
  afterEach(() => made?.drop())

  const now = Date.now()
  const sealer = createSealer(randomBytes(32))
  const open = (more: Partial<Parameters<typeof localAuthority>[0]> = {}) =>
    localAuthority({ database: made.database, sealer, domain: 'localhost', now, ...more })

  test('is created once, however many callers come first, and stays', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => open()))
    const again = await open({ now: now + YEAR_MS })
    expect(new Set([...all, again].map(({ certificate }) => certificate)).size).toBe(1)
    expect(new Set([...all, again].map(({ key }) => key)).size).toBe(1)
    expect(new X509Certificate(again.certificate).checkPrivateKey(createPrivateKey(again.key))).toBe(true)
  })

  test('is stored sealed in the database, one for each domain', async () => {
    const one = await open()
    const two = await open({ domain: 'sites.test' })
    expect(one.certificate).not.toBe(two.certificate)
    const rows = await made.database.read.selectFrom('local_authorities').selectAll().orderBy('domain').execute()
    expect(rows.map(({ domain, certificate }) => [domain, certificate])).toEqual([
      ['localhost', one.certificate],
      ['sites.test', two.certificate],
    ])
    for (const row of rows) expect(row.private_key).toMatch(/^v1\.[\w-]+$/)
  })

  test('is replaced once, before certificates would outlive it', async () => {
    const one = await open()
    const almost = now + 10 * YEAR_MS - 91 * DAY_MS
    expect((await open({ now: almost })).certificate).toBe(one.certificate)
    const next = await Promise.all([1, 2, 3].map(() => open({ now: almost + 2 * DAY_MS })))
    expect(new Set(next.map(({ certificate }) => certificate)).size).toBe(1)
    expect(next[0]?.certificate).not.toBe(one.certificate)
  })

  test('is replaced when its key is lost with the master key', async () => {
    const one = await open()
    const other = createSealer(randomBytes(32))
    const next = await Promise.all([1, 2, 3].map(() => open({ sealer: other })))
    expect(new Set(next.map(({ certificate }) => certificate)).size).toBe(1)
    expect(next[0]?.certificate).not.toBe(one.certificate)
  })
})
