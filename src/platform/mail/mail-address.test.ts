import { expect, it } from 'vitest'
import { isMailAddress } from './mail-address.ts'

const label = (length: number) => 'a'.repeat(length)

it.each([
  'a@example.com',
  'first.last+tag@sub.example.co.uk',
  "o'brien@example.com",
  'root@localhost',
  'jürgen@müller.example',
  `${label(64)}@example.com`,
  `a@${label(63)}.example`,
])('accepts %s', (address) => {
  expect(isMailAddress(address)).toBe(true)
})

it.each([
  ['no domain', 'nobody'],
  ['nothing before the sign', '@example.com'],
  ['two signs', 'a@b@example.com'],
  ['a domain without a dot', 'a@example'],
  ['an empty label', 'a@example..com'],
  ['a dot at the end', 'a@example.com.'],
  ['a dot at the beginning of the name', '.a@example.com'],
  ['two dots in the name', 'a..b@example.com'],
  ['a line break', 'a@example.com\nBcc: b@example.com'],
  ['a control character', 'a\u0001@example.com'],
  ['a space', 'a b@example.com'],
  ['a name in front', 'A <a@example.com>'],
  ['65 bytes before the sign', `${label(65)}@example.com`],
  ['a label of 64 bytes', `a@${label(64)}.example`],
  ['255 bytes in all', `${label(64)}@${label(63)}.${label(63)}.${label(62)}`],
  ['a label that ends with a hyphen', 'a@example-.com'],
])('refuses %s', (_what, address) => {
  expect(isMailAddress(address)).toBe(false)
})
