import { expect, test } from 'vitest'
import { meansNoRecords } from './no-records.ts'

test.each([
  ['ENODATA', true],
  ['ENOTFOUND', true],
  ['ETIMEOUT', false],
  ['ESERVFAIL', false],
])('%s means no records: %s', (code, expected) => expect(meansNoRecords(code)).toBe(expected))
