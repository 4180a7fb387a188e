import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { qrCode } from '../../src/panel/parts/qr.ts'

/** A decoder read each of these codes before it was recorded here. */
test.each([
  [1, 21, 'bde62c08cc481a13'],
  [60, 33, '46ce7fb396051eff'],
  [150, 45, 'da7bffc962b319b8'],
  [271, 57, 'db7fc11593ca852a'],
])('a QR code of %i bytes is one that scanners can read', (length, size, digest) => {
  const code = qrCode('x'.repeat(length))
  expect(code.length).toBe(size)
  const modules = code.flat().map(Number).join('')
  expect(createHash('sha256').update(modules).digest('hex').slice(0, 16)).toBe(digest)
})

test('refuses a text that is too long for this size', () => {
  expect(() => qrCode('x'.repeat(272))).toThrow(RangeError)
})
