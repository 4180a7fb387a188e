import { expect, test } from 'vitest'
import { readFingerprint } from './fingerprint-data.ts'
import { readServiceBinding, serviceBindingBytes, serviceBindingText } from './service-binding.ts'

// RFC 9460, appendix D.
test.each([
  ['0 foo.example.com.', '000003666f6f076578616d706c6503636f6d00'],
  ['1 .', '000100'],
  ['16 foo.example.com. port=53', '001003666f6f076578616d706c6503636f6d00000300020035'],
  ['1 foo.example.com. key667=hello', '000103666f6f076578616d706c6503636f6d00029b000568656c6c6f'],
  [
    '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
    '000103666f6f076578616d706c6503636f6d0000060020' +
      '20010db8000000000000000000000001' +
      '20010db8000000000000000000530001',
  ],
  [
    '16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1',
    '001003666f6f076578616d706c65036f726700' + '0000000400010004' + '000100090268320568332d3139' + '00040004c0000201',
  ],
])('encodes the HTTPS record %s', (value, hex) => {
  const read = readServiceBinding(value)
  expect(serviceBindingBytes(read).toString('hex')).toBe(hex)
  const text = serviceBindingText(read)
  expect(serviceBindingText(readServiceBinding(text))).toBe(text)
})

test('reads a long value in one pass', () => {
  for (const text of [' ', '"', 'a=" ', '" "'])
    expect(() => readServiceBinding(`1 . ${text.repeat(50_000)}x`)).toThrow()
})

test.each([
  ['', 'must look like'],
  ['1', 'must look like'],
  ['70000 .', 'must look like'],
  ['0 foo.example.com alpn=h2', 'no parameters with priority 0'],
  ['1 . alpn=h2 alpn=h3', 'must have alpn once'],
  ['1 . alpn=h2,,h3', 'no empty entries'],
  ['1 . no-default-alpn', 'must have alpn together with'],
  ['1 . alpn=h2 no-default-alpn=x', 'must have no value'],
  ['1 . port=65536', 'port: must be'],
  ['1 . ipv4hint=::1', 'ipv4hint: must be'],
  ['1 . ipv6hint=192.0.2.1', 'ipv6hint: must be'],
  ['1 . mandatory=alpn', 'every parameter that mandatory names'],
  ['1 . mandatory=mandatory', 'mandatory: must name'],
  ['1 . unknown=1', 'known parameters'],
  ['1 . key1=h2', 'must have alpn instead of key1'],
  ['1 . key65535=x', 'known parameters'],
  ['1 . ech=***', 'must be base64'],
  ['1 . alpn="h2', 'must have parameters like'],
  ['1 . alpn=h\\044', 'without escapes'],
  [`1 . alpn=${'x'.repeat(256)}`, 'at most 255 bytes'],
])('refuses an HTTPS record: %s', (value, fault) => {
  expect(() => readServiceBinding(value)).toThrow(fault)
})

test.each([
  ['SSHFP', `4 2 ${'a'.repeat(63)}`, 'must look like'],
  ['SSHFP', `4 2 ${'a'.repeat(40)}`, '64 hex digits, and has 40'],
  ['SSHFP', `4 1 ${'a'.repeat(64)}`, '40 hex digits, and has 64'],
  ['SSHFP', `256 2 ${'a'.repeat(64)}`, 'must look like'],
  ['SSHFP', '4 2', 'must look like'],
  ['TLSA', `3 1 2 ${'a'.repeat(64)}`, '128 hex digits'],
  ['TLSA', `3 1 ${'a'.repeat(64)}`, 'must look like'],
] as const)('refuses a %s record: %s', (type, value, fault) => {
  expect(() => readFingerprint(type, value)).toThrow(fault)
})

test('reads a whole certificate in a TLSA record, in pieces', () => {
  expect(readFingerprint('TLSA', '3 0 0 30 82AB').bytes.toString('hex')).toBe('3082ab')
})
