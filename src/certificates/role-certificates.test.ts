import { randomBytes, X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import { ownerOf, type RoleName } from '../platform/mtls/role-name.ts'
import {
  AlreadyChanging,
  changeAuthority,
  issueRoleCertificate,
  knownRoles,
  RoleRevoked,
  revokeRole,
  signingAuthority,
  trustedAuthorities,
} from './role-certificates.store.ts'
import { makeKeys } from './sign-certificate.ts'

const now = Date.now()
const h1: RoleName = { role: 'host', name: 'h1' }

describe.each(dialects)('the authority for connections between machines on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  const sealer = createSealer(randomBytes(32))
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
  })
  afterEach(() => made?.drop())

  const options = (at = now, by = sealer) => ({ database: made.database, sealer: by, now: at })
  const issue = async (owner: RoleName, at = now) => {
    const { publicKey } = await makeKeys()
    const issued = await issueRoleCertificate(options(at), { owner, publicKey })
    return { ...issued, leaf: new X509Certificate(issued.certificate), publicKey }
  }
  const issuerOf = async (leaf: X509Certificate, at = now) =>
    (await trustedAuthorities(made.database.read, at)).find(({ certificate }) =>
      leaf.checkIssued(new X509Certificate(certificate)),
    )?.number

  test('is created once by several processes, and its key is stored sealed', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => signingAuthority(options())))
    expect(new Set(all.map(({ certificate }) => certificate)).size).toBe(1)
    const [row] = await made.database.read.selectFrom('role_authorities').selectAll().execute()
    expect(row?.private_key).toMatch(/^v1\./)
    expect(new X509Certificate(row?.certificate as string)).toMatchObject({ ca: true })
  })

  test('certifies a role for thirty days, for its key, under one name', async () => {
    const { leaf, publicKey, serial } = await issue({ role: 'host', name: 'host 1/ä' })
    expect(ownerOf(leaf)).toEqual({ role: 'host', name: 'host 1/ä' })
    expect(leaf.publicKey.equals(publicKey)).toBe(true)
    expect(Math.round((Date.parse(leaf.validTo) - now) / DAY_MS)).toBe(30)
    expect([leaf.ca, leaf.serialNumber]).toEqual([false, serial])
    const authority = await signingAuthority(options())
    expect(leaf.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
    expect((await issue({ role: 'edge', name: 'e1' })).leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  })

  test('changes with an overlap: both are trusted until the last certificate of the old one has expired', async () => {
    const old = await issue(h1)
    await changeAuthority(options())
    await expect(changeAuthority(options())).rejects.toThrow(AlreadyChanging)
    expect(await issuerOf((await issue(h1)).leaf)).toBe(1)
    const later = now + HOUR_MS + 1
    expect(await issuerOf((await issue(h1, later)).leaf, later)).toBe(2)
    expect(await issuerOf(old.leaf, later)).toBe(1)
    const numbers = async (at: number) => (await trustedAuthorities(made.database.read, at)).map(({ number }) => number)
    expect(await numbers(later + 30 * DAY_MS - 2)).toEqual([2, 1])
    expect(await numbers(later + 30 * DAY_MS)).toEqual([2])
    await changeAuthority(options(later + 30 * DAY_MS))
  })

  test('is replaced when its key is lost, or when it is about to expire', async () => {
    await issue(h1)
    const other = createSealer(randomBytes(32))
    await signingAuthority(options(now, other))
    expect((await trustedAuthorities(made.database.read, now)).map(({ isSigning }) => isSigning)).toEqual([true, false])
    await signingAuthority(options(now + 3_649 * DAY_MS, other))
    const rows = await made.database.read.selectFrom('role_authorities').select('number').execute()
    expect(rows.length).toBe(3)
  })

  test('lists the serial numbers of revoked certificates until they expire', async () => {
    const [first, second] = [await issue(h1), await issue(h1)]
    await issue({ role: 'host', name: 'h2' })
    await issue({ role: 'edge', name: 'h1' })
    await made.database.transaction((tx) => revokeRole(tx, h1, now))
    const revokedAt = async (at: number) => (await knownRoles(made.database.read, at)).revoked
    expect(await revokedAt(now)).toEqual([first.serial, second.serial].sort())
    expect(await revokedAt(now + 31 * DAY_MS)).toEqual([])
    await issue(h1, now + 31 * DAY_MS)
    const rows = await made.database.read.selectFrom('role_certificates').select('serial').execute()
    expect(rows.length).toBe(1)
  })

  test('certifies no host that is marked lost or removed', async () => {
    for (const state of ['lost', 'removed'] as const) {
      const row = { name: state, address: '', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0, state }
      await made.database.transaction((tx) => tx.insertInto('hosts').values(row).execute())
      await expect(issue({ role: 'host', name: state })).rejects.toThrow(RoleRevoked)
      await issue({ role: 'edge', name: state })
    }
  })
})
