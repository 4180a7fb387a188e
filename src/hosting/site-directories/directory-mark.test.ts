import { expect, test } from 'vitest'
import { isSameDirectory } from './directory-mark.ts'

const owner = { installation: 'inst', host: 'me' }
const taken = { ...owner, home: 7, site: { id: 3, name: 'shop' } }
const record = { id: 7, siteId: 3, siteName: 'shop' }

test.each([
  ['all the same', taken, record, true],
  ['prepared, and so recorded', { ...taken, site: null }, { id: 7, siteId: null, siteName: null }, true],
  ['taken a moment ago: the mark has no site yet', { ...taken, site: null }, record, true],
  ['another number', { ...taken, home: 8 }, record, false],
  ['another host', { ...taken, host: 'you' }, record, false],
  ['another installation', { ...taken, installation: 'other' }, record, false],
  ['another site', { ...taken, site: { id: 4, name: 'shop' } }, record, false],
  ['the same site id given out again', { ...taken, site: { id: 3, name: 'blog' } }, record, false],
  ['a site by the mark, none by the record', taken, { id: 7, siteId: null, siteName: null }, false],
])('%s: %s', (_what, mark, recorded, expected) => {
  expect(isSameDirectory(mark, recorded, owner)).toBe(expected)
})
