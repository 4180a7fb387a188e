import packet from 'dns-packet'
import { describe, expect, it } from 'vitest'
import { ask, decode, lines, questionFor, record, responderOf, zonesOf } from './test-support.ts'
import { createZone } from './zones/zone.ts'

const long = 'x'.repeat(300)
const responder = responderOf(
  zonesOf({
    'example.test': [
      '@ A 192.0.2.10',
      'www A 192.0.2.11',
      'www A 192.0.2.12',
      'www AAAA 2001:db8::11',
      '@ MX mail.example.test',
      '@ MX mail.elsewhere.test',
      'mail A 192.0.2.25',
      { type: 'SRV', name: '_sip._tcp', value: 'mail.example.test', priority: 1, weight: 2, port: 5060 },
      { type: 'TXT', name: 'text', value: long },
      '@ CAA 0 issue "ca.example"',
      'alias CNAME www.example.test',
      'alias2 CNAME alias.example.test',
      'away CNAME www.elsewhere.test',
      'lost CNAME nothing.example.test',
      'into CNAME host.sub.example.test',
      'loop1 CNAME loop2.example.test',
      'loop2 CNAME loop1.example.test',
      'starred CNAME any.wild.example.test',
      'deep.empty.between A 192.0.2.30',
      '*.wild A 192.0.2.40',
      'a.own.wild TXT mine',
      '*.aliased CNAME www.example.test',
      'sub NS ns.sub.example.test',
      'sub NS ns.elsewhere.test',
      'ns.sub A 192.0.2.53',
      'host.sub A 192.0.2.54',
      'deeper.sub NS ns.elsewhere.test',
      ...Array.from({ length: 10 }, (_, at) => `chain${at} CNAME chain${at + 1}.example.test`),
    ],
    'child.example.test': ['@ A 192.0.2.77'],
    'own-ns.test': ['@ NS ns.own-ns.test', 'ns A 192.0.2.88'],
  }),
)
const on = (name: string, type = 'A') => ask(responder, name, { type, over: 'tcp' })
const soa = 'example.test SOA ns1.servers.test hostmaster.example.test 7 14400 3600 1209600 300'

describe('existing names', () => {
  it.each([
    ['www.example.test', 'A', ['www.example.test A 192.0.2.11', 'www.example.test A 192.0.2.12']],
    ['www.example.test', 'AAAA', ['www.example.test AAAA 2001:db8::11']],
    ['example.test', 'SOA', [soa]],
    ['example.test', 'NS', ['example.test NS ns1.servers.test', 'example.test NS ns2.servers.test']],
    ['own-ns.test', 'NS', ['own-ns.test NS ns.own-ns.test']],
    ['example.test', 'MX', ['example.test MX 0 mail.example.test', 'example.test MX 0 mail.elsewhere.test']],
    ['_sip._tcp.example.test', 'SRV', ['_sip._tcp.example.test SRV 1 2 5060 mail.example.test']],
    ['text.example.test', 'TXT', [`text.example.test TXT ${long}`]],
    ['child.example.test', 'A', ['child.example.test A 192.0.2.77']],
  ])('are answered with authority: %s %s', (name, type, answers) => {
    const answer = on(name, type)
    expect(answer).toMatchObject({ rcode: 'NOERROR', flag_aa: true, flag_tc: false, authorities: [] })
    expect(lines(answer.answers)).toEqual(answers)
  })

  it('return a CAA record with flags, tag, and value', () => {
    expect(on('example.test', 'CAA').answers?.[0]).toMatchObject({
      data: { flags: 0, tag: 'issue', value: 'ca.example' },
    })
  })

  it('split a text over 255 bytes', () => {
    const [{ data }] = on('text.example.test', 'TXT').answers as unknown as [{ data: Buffer[] }]
    expect(data.map(({ length }) => length)).toEqual([255, 45])
  })

  it.each([
    ['example.test', 'MX', ['mail.example.test A 192.0.2.25']],
    ['_sip._tcp.example.test', 'SRV', ['mail.example.test A 192.0.2.25']],
    ['own-ns.test', 'NS', ['ns.own-ns.test A 192.0.2.88']],
  ])('add the addresses of their targets: %s %s', (name, type, additionals) => {
    expect(lines(on(name, type).additionals)).toEqual(additionals)
  })

  it('answer ANY with one small record (RFC 8482)', () => {
    expect(lines(on('www.example.test', 'ANY').answers)).toEqual(['www.example.test HINFO RFC8482 '])
    expect(lines(on('alias.example.test', 'ANY').answers)).toEqual(['alias.example.test HINFO RFC8482 '])
  })
})

describe('missing names and types', () => {
  it.each([
    ['nothing.example.test', 'A', 'NXDOMAIN'],
    ['nothing.example.test', 'ANY', 'NXDOMAIN'],
    ['below.www.example.test', 'A', 'NXDOMAIN'],
    ['www.example.test', 'TXT', 'NOERROR'],
    ['empty.between.example.test', 'A', 'NOERROR'],
    ['between.example.test', 'A', 'NOERROR'],
    ['between.example.test', 'ANY', 'NOERROR'],
    ['wild.example.test', 'A', 'NOERROR'],
  ])('answer %s %s with %s and the SOA, whose TTL is its minimum', (name, type, rcode) => {
    const answer = on(name, type)
    expect(answer).toMatchObject({ rcode, flag_aa: true, answers: [] })
    expect(lines(answer.authorities)).toEqual([soa])
    expect(answer.authorities?.[0]).toMatchObject({ ttl: 300 })
  })

  it.each(['elsewhere.test', 'test', 'badexample.test', '.'])(
    'are refused without authority when they are in no zone: %s',
    (name) => {
      expect(on(name)).toMatchObject({ rcode: 'REFUSED', flag_aa: false, answers: [], authorities: [] })
    },
  )
})

describe('wildcards (RFC 4592)', () => {
  it.each(['any.wild.example.test', 'a.b.c.wild.example.test', '*.wild.example.test'])(
    'answer %s under its own name',
    (name) => {
      expect(lines(on(name).answers)).toEqual([`${name} A 192.0.2.40`])
    },
  )

  it('do not answer another type of a name below them', () => {
    expect(on('any.wild.example.test', 'TXT')).toMatchObject({ rcode: 'NOERROR', answers: [] })
  })

  it.each([
    ['a.own.wild.example.test', 'NOERROR'],
    ['own.wild.example.test', 'NOERROR'],
    ['b.own.wild.example.test', 'NXDOMAIN'],
    ['b.a.own.wild.example.test', 'NXDOMAIN'],
  ])('do not cover %s, which exists or is below an existing name', (name, rcode) => {
    expect(on(name)).toMatchObject({ rcode, answers: [] })
  })

  it('follow an alias', () => {
    expect(lines(on('x.aliased.example.test', 'AAAA').answers)).toEqual([
      'x.aliased.example.test CNAME www.example.test',
      'www.example.test AAAA 2001:db8::11',
    ])
  })
})

describe('aliases', () => {
  it('are followed within the zone', () => {
    expect(lines(on('alias2.example.test', 'AAAA').answers)).toEqual([
      'alias2.example.test CNAME alias.example.test',
      'alias.example.test CNAME www.example.test',
      'www.example.test AAAA 2001:db8::11',
    ])
    expect(lines(on('starred.example.test').answers)[1]).toBe('any.wild.example.test A 192.0.2.40')
  })

  it('are the answer to a question for CNAME', () => {
    expect(lines(on('alias2.example.test', 'CNAME').answers)).toEqual(['alias2.example.test CNAME alias.example.test'])
  })

  it('are the whole answer when they lead out of the zone', () => {
    expect(on('away.example.test')).toMatchObject({ rcode: 'NOERROR', flag_aa: true, authorities: [] })
    expect(lines(on('away.example.test').answers)).toEqual(['away.example.test CNAME www.elsewhere.test'])
  })

  it.each([
    ['lost.example.test', 'A', 'NXDOMAIN'],
    ['alias.example.test', 'TXT', 'NOERROR'],
  ])('give the rcode of the last name (RFC 6604), with the SOA: %s %s', (name, type, rcode) => {
    const answer = on(name, type)
    expect(answer).toMatchObject({ rcode, flag_aa: true })
    expect(answer.answers).toHaveLength(1)
    expect(lines(answer.authorities)).toEqual([soa])
  })

  it('stop in a circle', () => {
    expect(lines(on('loop1.example.test').answers)).toEqual([
      'loop1.example.test CNAME loop2.example.test',
      'loop2.example.test CNAME loop1.example.test',
    ])
  })

  it('are followed at most nine times', () => {
    expect(on('chain0.example.test').answers).toHaveLength(9)
  })

  it('lead to the referral when they enter a delegation', () => {
    const answer = on('into.example.test')
    expect(answer).toMatchObject({ rcode: 'NOERROR', flag_aa: true })
    expect(lines(answer.answers)).toEqual(['into.example.test CNAME host.sub.example.test'])
    expect(lines(answer.authorities)).toContain('sub.example.test NS ns.sub.example.test')
  })
})

describe('delegations', () => {
  it.each([
    ['sub.example.test', 'A'],
    ['sub.example.test', 'NS'],
    ['sub.example.test', 'ANY'],
    ['host.sub.example.test', 'A'],
    ['ns.sub.example.test', 'A'],
    ['nothing.at.all.sub.example.test', 'A'],
    ['www.deeper.sub.example.test', 'A'],
  ])('refer %s %s, with glue and without authority', (name, type) => {
    const answer = on(name, type)
    expect(answer).toMatchObject({ rcode: 'NOERROR', flag_aa: false, answers: [] })
    expect(lines(answer.authorities)).toEqual([
      'sub.example.test NS ns.sub.example.test',
      'sub.example.test NS ns.elsewhere.test',
    ])
    expect(lines(answer.additionals)).toEqual(['ns.sub.example.test A 192.0.2.53'])
  })

  it('answer DS above the cut, which says that the zone below is not signed', () => {
    expect(on('sub.example.test', 'DS')).toMatchObject({ flag_aa: true, rcode: 'NOERROR' })
    expect(lines(on('sub.example.test', 'DS').authorities)).toEqual([soa])
    expect(lines(on('child.example.test', 'DS').authorities)).toEqual([soa])
  })
})

describe('the form of an answer', () => {
  it('repeats the question to the letter, with the flag for recursion', () => {
    const question = questionFor('WwW.eXample.TEST', { flags: packet.RECURSION_DESIRED })
    const answer = decode(responder.respond(question, { address: '192.0.2.1', transport: 'udp' }) as Buffer)
    expect(answer).toMatchObject({ id: 4711, flag_qr: true, flag_rd: true, flag_ra: false })
    expect(answer.questions).toEqual([{ name: 'WwW.eXample.TEST', type: 'A', class: 'IN' }])
    expect(lines(answer.answers)).toEqual(['WwW.eXample.TEST A 192.0.2.11', 'WwW.eXample.TEST A 192.0.2.12'])
  })

  it('writes names only once', () => {
    const bytes = responder.respond(questionFor('example.test', { type: 'MX' }), {
      address: '192.0.2.1',
      transport: 'udp',
    })
    expect((bytes as Buffer).toString('latin1').match(/example/g)).toHaveLength(1)
  })
})

describe('a zone from stored records', () => {
  const one = (...records: Parameters<typeof record>[0][]) => {
    const faults: string[] = []
    const zone = createZone(
      { name: 'example.test', serial: 1, records: records.map(record) },
      { nameservers: ['ns.test'], onFault: (_zone, { name }) => faults.push(name) },
    )
    return { zone, faults }
  }

  it.each([
    { type: 'A', value: '192.0.2.256' },
    { type: 'A', value: '2001:db8::1' },
    { type: 'A', value: '10' },
    { type: 'AAAA', value: '192.0.2.1' },
    { type: 'AAAA', value: 'fe80::1%eth0' },
    { type: 'CNAME', value: `${'a'.repeat(64)}.test` },
    { type: 'MX', value: 'a..test' },
    { type: 'NS', value: 'ns.münchen.test' },
    { type: 'CAA', value: 'issue' },
    { type: 'TXT', value: 'x'.repeat(70_000) },
    { type: 'LOC', value: 'here' },
    { type: 'toString', value: 'here' },
  ])('leaves out what DNS cannot express: $type $value', (given) => {
    const { zone, faults } = one({ ...given, name: 'bad' }, { type: 'A', name: 'good', value: '192.0.2.1' })
    expect(faults).toEqual(['bad'])
    expect([...zone.nodes.keys()]).toEqual(['good.example.test', 'example.test'])
  })

  it('has sets with the lowest of their TTLs, and each value once', () => {
    const { zone } = one(
      { type: 'A', name: '', value: '192.0.2.1', ttl: 300 },
      { type: 'A', name: '', value: '192.0.2.1', ttl: 60 },
      { type: 'A', name: '', value: '192.0.2.2', ttl: 900 },
    )
    const set = zone.nodes.get('example.test')?.get(1)
    expect(set?.ttl).toBe(60)
    expect(set?.data).toHaveLength(2)
  })
})
