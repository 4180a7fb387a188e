/** Tests a signed zone over real sockets with independent programs: BIND's delv and dnssec-verify. */
import { spawn, spawnSync } from 'node:child_process'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Budget } from '../../platform/budgets/budget.ts'
import { createTcp, type TcpServer } from '../tcp.ts'
import { ask, lines, nameservers, recordOf, responderOf } from '../test-support.ts'
import { listenUdp } from '../udp.ts'
import { createZone } from '../zones/zone.ts'
import { ZoneSet } from '../zones/zone-set.ts'
import { ZoneSigner } from './signer.ts'
import { dsOf, makePrivateKey, zoneKey } from './signing-key.ts'

const has = (program: string) => spawnSync(program, ['-v']).error === undefined
const hasDelv = has('delv')
const hasVerify = has('dnssec-verify') && has('dig')

const name = 'example.test'
const long = `${Array.from({ length: 3 }, () => 'y'.repeat(63)).join('.')}.${'z'.repeat(48)}`
const records = [
  'www A 192.0.2.1',
  'www AAAA 2001:db8::1',
  '@ A 192.0.2.9',
  '@ MX mail.example.test',
  'mail A 192.0.2.3',
  '@ TXT v=spf1 -all',
  'Shop CNAME www.example.test',
  'gone CNAME nothing.example.test',
  'away CNAME elsewhere.invalid',
  '*.wild TXT found',
  'deep.empty.name A 192.0.2.4',
  'sub NS ns.sub.example.test',
  'ns.sub A 192.0.2.5',
  '@ CAA 0 issue "ca.test"',
  `${long} TXT far`,
]
const active = zoneKey(makePrivateKey(), 'active')
const published = zoneKey(makePrivateKey(), 'published')
const retired = zoneKey(makePrivateKey(), 'retired')
const zoneWith = (keys = [active], isLeaving = false) =>
  createZone({ name, serial: 7, records: records.map(recordOf), openKeys: () => keys, isLeaving }, { nameservers })

const zones = new ZoneSet()
const responder = responderOf(zones, { mayTransfer: () => true })
let tcp: TcpServer
let udp: Socket
let port: number
let folder: string
beforeAll(async () => {
  const terms = { name: 'dns_connections', what: '', of: 'count', whose: 'address', over: '' } as const
  tcp = createTcp({ responder, connections: new Budget({ ...terms, each: 50, all: 100 }) })
  // Finds a port that is free for both.
  for (;;) {
    udp = await listenUdp({ responder, host: '127.0.0.1', port: 0, isShared: false, onError() {} })
    port = udp.address().port
    tcp.server.listen(port, '127.0.0.1')
    const isFree = await once(tcp.server, 'listening').then(
      () => true,
      () => false,
    )
    if (isFree) break
    udp.close()
  }
  folder = await mkdtemp(join(tmpdir(), 'stead-signing-'))
})
afterAll(async () => {
  udp.close()
  await tcp.close()
  await rm(folder, { recursive: true })
})

async function run(program: string, ...words: string[]): Promise<string> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, fault] = await Promise.all([text(child.stdout), text(child.stderr)])
  return out + fault
}

/** Returns the verdict of a resolver that trusts a key. */
async function delv(key: { dnskey: Buffer }, ...words: string[]): Promise<string> {
  const anchors = join(folder, 'anchors')
  const base64 = key.dnskey.subarray(4).toString('base64')
  await writeFile(anchors, `trust-anchors { ${name}. static-key 257 3 13 "${base64}"; };\n`)
  const where = ['@127.0.0.1', '-p', String(port), '-a', anchors, `+root=${name}`]
  return run('delv', ...where, ...words)
}

describe.runIf(hasDelv)('delv', { timeout: 60_000 }, () => {
  test.each([
    ['www.example.test', 'A', '192.0.2.1'],
    ['www.example.test', 'AAAA', '2001:db8::1'],
    ['WWW.Example.TEST', 'A', '192.0.2.1'],
    ['example.test', 'MX', '0 mail.example.test.'],
    ['example.test', 'SOA', 'hostmaster.example.test.'],
    ['example.test', 'NS', nameservers[0]],
    ['example.test', 'CAA', '0 issue "ca.test"'],
    ['example.test', 'DNSKEY', '257 3 13'],
    ['example.test', 'CDS', '13 2'],
    ['shop.example.test', 'A', '192.0.2.1'],
    ['any.thing.wild.example.test', 'TXT', '"found"'],
    ['*.wild.example.test', 'TXT', '"found"'],
    [`${long}.example.test`, 'TXT', '"far"'],
  ])('validates %s %s', async (asked, type, expected) => {
    zones.put(zoneWith())
    const answer = await delv(active, asked, type)
    expect(answer).toContain('; fully validated')
    expect(answer).toContain(expected)
    expect(answer).not.toContain('; unsigned')
  })

  test.each([
    ['no such name', 'nobody.example.test', 'A'],
    ['no such name below one that exists', 'a.b.www.example.test', 'A'],
    ['no such type', 'www.example.test', 'TXT'],
    ['a name with names below it alone', 'empty.name.example.test', 'A'],
    ['no such type below a wildcard', 'any.wild.example.test', 'A'],
    ['no such type beside the longest of names', `${long}.example.test`, 'A'],
  ])('validates a missing name or type: %s', async (_what, asked, type) => {
    zones.put(zoneWith())
    const answer = await delv(active, asked, type)
    expect(answer).toContain('negative response, fully validated')
  })

  test('validates an alias of a missing name', async () => {
    zones.put(zoneWith())
    const answer = await delv(active, 'gone.example.test', 'A')
    expect(answer).toMatch(/^; fully validated\ngone.example.test.*nothing.example.test/)
    expect(answer).toContain('$NXRRSET')
  })

  test('validates that a delegation is not signed', async () => {
    zones.put(zoneWith())
    expect(await delv(active, 'sub.example.test', 'DS')).toContain('negative response, fully validated')
  })

  test('rejects a changed record, and a different key', async () => {
    const zone = zoneWith()
    const forged = createZone({ name, serial: 7, records: [recordOf('www A 203.0.113.66')] }, { nameservers })
    const set = forged.nodes.get('www.example.test')?.values().next().value
    const nodes = new Map(zone.nodes).set('www.example.test', new Map([[1, { ...set, ttl: 300 } as never]]))
    zones.put({ ...zone, nodes, signer: { ...zone.signer, signaturesOf: () => zoneSignature(zone) } as never })
    expect(await delv(active, 'www.example.test', 'A')).not.toContain('fully validated')
    zones.put(zoneWith())
    expect(await delv(published, 'www.example.test', 'A')).not.toContain('fully validated')
  })

  test('validates with any of the keys while they change', async () => {
    zones.put(zoneWith([retired, active, published]))
    for (const key of [retired, active, published])
      expect(await delv(key, 'www.example.test', 'A')).toContain('; fully validated')
    expect(await delv(active, 'nobody.example.test', 'A')).toContain('negative response, fully validated')
  })
})

/** Returns the zone's signature for its real data. */
function zoneSignature(zone: ReturnType<typeof zoneWith>) {
  const set = zone.nodes.get('www.example.test')?.get(1)
  return zone.signer?.signaturesOf({ owner: 'www.example.test', set: set as never }, false)
}

describe('a signed zone', () => {
  test('answers the same as before without a request for signatures', () => {
    zones.put(zoneWith())
    expect(lines(ask(responder, 'www.example.test').answers)).toEqual(['www.example.test A 192.0.2.1'])
    const none = ask(responder, 'nobody.example.test')
    expect([none.rcode, none.authorities?.map(({ type }) => type)]).toEqual(['NXDOMAIN', ['SOA']])
  })

  test('states in the proof that a name does not exist, and names no others there', () => {
    zones.put(zoneWith())
    const { rcode, authorities = [] } = ask(responder, 'nobody.example.test', { edns: { flags: 0x8000 } })
    expect(rcode).toBe('NOERROR')
    const proof = authorities.find(({ type }) => type === 'NSEC')
    expect(proof).toMatchObject({ name: 'nobody.example.test', data: { nextDomain: '\0.nobody.example.test' } })
  })

  test('answers questions for NSEC and RRSIG', () => {
    zones.put(zoneWith())
    expect(ask(responder, 'www.example.test', { type: 'NSEC' }).answers).toMatchObject([
      { type: 'NSEC', data: { rrtypes: ['A', 'AAAA', 'RRSIG', 'NSEC'] } },
    ])
    expect(ask(responder, 'www.example.test', { type: 'RRSIG' }).answers).toMatchObject([
      { type: 'RRSIG', data: { typeCovered: 'A' } },
    ])
  })

  test('tells the registry which key to name: the next one, or none any longer', () => {
    const digests = (zone: ReturnType<typeof zoneWith>) => {
      zones.put(zone)
      const { answers = [] } = ask(responder, name, { type: 'CDS' })
      return answers.map((each) => (each as unknown as { data: Buffer }).data)
    }
    expect(digests(zoneWith([active]))).toEqual([dsOf(name, active)])
    expect(digests(zoneWith([active, published]))).toEqual([dsOf(name, published)])
    expect(digests(zoneWith([active], true))).toEqual([Buffer.from([0, 0, 0, 0, 0])])
  })

  test('reuses a signature, and creates another one after a day', () => {
    let now = Date.UTC(2026, 0, 1)
    const zone = zoneWith()
    const signer = new ZoneSigner(name, [active], () => now)
    const owned = { owner: 'www.example.test', set: zone.nodes.get('www.example.test')?.get(1) as never }
    const first = signer.signaturesOf(owned, true)
    now += 3600_000
    expect(signer.signaturesOf(owned, true)).toBe(first)
    now += 86_400_000
    expect(signer.signaturesOf(owned, true)).not.toBe(first)
  })
})

describe.runIf(hasVerify)('dnssec-verify', { timeout: 60_000 }, () => {
  test('accepts what a secondary receives', async () => {
    zones.put(zoneWith([active, published]))
    const zone = await run('dig', '@127.0.0.1', '-p', String(port), '+tcp', '+onesoa', name, 'AXFR')
    expect(zone).toContain('XFR size')
    const file = join(folder, 'zone')
    await writeFile(file, zone)
    const verdict = await run('dnssec-verify', '-z', '-o', name, file)
    expect(verdict).toMatch(/Zone fully signed/)
  })
})
