import { expect, test } from 'vitest'
import { shortLine } from './short-line.ts'

test.each([
  ['two\r\nlines', 20, 'two lines'],
  ['\u001b[31mred', 20, ' [31mred'],
  ['longer than that', 6, 'longer'],
  // A half of a character cannot be stored.
  ['cut 😀', 5, 'cut �'],
])('%j of at most %i characters is %j', (text, length, line) => {
  expect(shortLine(text, length)).toBe(line)
})
