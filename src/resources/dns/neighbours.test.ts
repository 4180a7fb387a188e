import { expect, test } from 'vitest'
import { addition } from './neighbours.ts'
import type { ReadRecord } from './records/read-record.ts'
import type { DnsRecord } from './records/record.ts'

const read = (over: Partial<ReadRecord>): ReadRecord => ({
  ...{ type: 'A', name: 'www', value: '192.0.2.1', priority: null, weight: null, port: null, ttl: undefined },
  ...{ siteId: null, ...over },
})
const record = (over: Partial<DnsRecord>): DnsRecord => ({
  ...{ id: 1, zoneId: 1, type: 'A', name: 'www', value: '192.0.2.9', priority: null, weight: null, port: null },
  ...{ ttl: 300, siteId: null, createdAt: 1, isPrimary: false, ...over },
})
const ttlOf = (...given: Parameters<typeof addition>) => {
  const done = addition(...given)
  return 'add' in done ? done.add.ttl : undefined
}

test('all records of a name and type use the TTL of the existing ones, and another type has its own', () => {
  const records = [record({ type: 'TXT', value: 'x', ttl: 60 }), record({ name: 'other', ttl: 70 })]
  expect(ttlOf(read({}), records)).toBe(3600)
  expect(ttlOf(read({ ttl: 120 }), records)).toBe(120)
  expect(ttlOf(read({}), [...records, record({})])).toBe(300)
  expect(ttlOf(read({ ttl: 300 }), [...records, record({})])).toBe(300)
  expect(() => addition(read({ ttl: 301 }), [...records, record({})])).toThrow()
})

test('a duplicate has the same type, value and weight', () => {
  const records = [record({ value: '192.0.2.1' }), record({ type: 'TXT', value: '2001:db8::1' })]
  expect(() => addition(read({}), records)).toThrow('an identical A record')
  expect(ttlOf(read({ type: 'AAAA', value: '2001:db8::1' }), records)).toBe(3600)
})

test('an alias cannot be next to other records, nor they next to it', () => {
  const alias = record({ type: 'CNAME', value: 'shops.example.net' })
  expect(() => addition(read({}), [alias])).toThrow('conflict with this one')
  expect(() => addition(read({ type: 'CNAME', value: 'a.example' }), [record({})])).toThrow('conflict with this one')
  expect(ttlOf(read({ type: 'CNAME', value: 'a.example' }), [record({ name: 'other' })])).toBe(3600)
})

test('a site’s domain cannot have addresses of other machines, but any other records', () => {
  const ofSite = record({ siteId: 7 })
  expect(() => addition(read({}), [ofSite])).toThrow('conflict with this one')
  expect(() => addition(read({ type: 'AAAA', value: '2001:db8::1' }), [ofSite])).toThrow('conflict with this one')
  expect(ttlOf(read({ siteId: 7, type: 'AAAA', value: '2001:db8::1' }), [ofSite])).toBe(3600)
  expect(ttlOf(read({ type: 'TXT', value: 'x' }), [ofSite])).toBe(3600)
})

test('a second SPF record is merged into the first, and another text is added', () => {
  const spf = record({ type: 'TXT', value: 'v=spf1 a -all' })
  expect(addition(read({ type: 'TXT', value: 'v=spf1 mx ~all' }), [spf])).toEqual({
    change: spf,
    value: 'v=spf1 a mx -all',
  })
  expect(ttlOf(read({ type: 'TXT', value: 'x' }), [spf])).toBe(300)
  const another = { ...spf, name: 'other' }
  expect(ttlOf(read({ type: 'TXT', value: 'v=spf1 mx ~all' }), [another])).toBe(3600)
})
