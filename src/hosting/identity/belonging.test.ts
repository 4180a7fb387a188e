import { describe, expect, test } from 'vitest'
import { belongingOf, type DatabaseFacts, type FolderFacts, isCopyRunning, type KnownHost } from './belonging.ts'

const identity = { installation: 'inst-a', host: 'me', epoch: 5, lastHome: 9, firstUser: 300_000 }
const me: KnownHost = { id: 1, name: 'host-1', identity: 'me', epoch: 5, seenAt: 0 }
const old: KnownHost = { ...me, identity: null, epoch: 0 }
const other: KnownHost = { ...me, id: 2, name: 'host-2', identity: 'other' }

const folders = {
  new: { identity: null, hostName: null, siteDirectories: 0, firstUser: null },
  current: { identity, hostName: 'host-1', siteDirectories: 3, firstUser: 300_000 },
  'current, no homes': { identity, hostName: 'host-1', siteDirectories: 0, firstUser: 300_000 },
  'from before': { identity: null, hostName: 'host-1', siteDirectories: 3, firstUser: null },
  'homes alone': { identity: null, hostName: null, siteDirectories: 3, firstUser: null },
} satisfies Record<string, FolderFacts>

const base = { isInFolder: true, hosts: [] }
const databases = {
  empty: { ...base, installation: null },
  own: { ...base, installation: 'inst-a', hosts: [me] },
  'own from before': { ...base, installation: null, hosts: [old] },
  'own, before this host': { ...base, installation: 'inst-a', hosts: [other], isInFolder: false },
  "another's": { ...base, installation: 'inst-b', hosts: [other] },
  "another's, same name": { ...base, installation: 'inst-b', hosts: [{ ...other, name: 'host-1' }] },
  "another's from before": { ...base, installation: null, hosts: [{ ...other, identity: null }] },
  'shared, with others': { ...base, installation: 'inst-a', hosts: [other], isInFolder: false },
} satisfies Record<string, DatabaseFacts>

test.each<[keyof typeof folders, keyof typeof databases, string]>([
  ['new', 'empty', 'new'],
  ['new', 'own', 'emptied'],
  ['new', "another's", 'emptied'],
  ['new', 'shared, with others', 'new'],
  ['current', 'own', 'known'],
  ['current', 'own from before', 'known'],
  ['current', 'empty', 'host unknown'],
  ['current', "another's", 'other installation'],
  ['current', "another's, same name", 'other installation'],
  ['current', "another's from before", 'host unknown'],
  ['current', 'own, before this host', 'host unknown'],
  ['current, no homes', 'own, before this host', 'new'],
  ['current, no homes', 'empty', 'host unknown'],
  ['from before', 'own from before', 'by name'],
  ['from before', 'own', 'by name'],
  ['from before', 'empty', 'homes of an unknown host'],
  ['from before', "another's", 'homes of an unknown host'],
  ['homes alone', 'own', 'homes of an unknown host'],
  ['homes alone', 'empty', 'homes of an unknown host'],
])('classifies a folder that is %s with a database that is %s: %s', (folder, database, expected) => {
  const found = belongingOf(folders[folder], databases[database])
  expect(found.kind === 'stranger' ? found.reason : found.kind).toBe(expected)
})

describe('a running copy of the folder', () => {
  const now = 1_000_000
  test.each([
    ['the record has this folder’s epoch: its predecessor, killed', 5, now, false],
    ['a newer epoch, heard of just now', 6, now - 1000, true],
    ['a newer epoch, by a clock that is a little ahead', 6, now + 1000, true],
    ['a newer epoch, silent for a while', 6, now - 60_000, false],
    ['an older epoch: the database was put back', 4, now, false],
  ])('is detected for %s', (_what, epoch, seenAt, expected) => {
    expect(isCopyRunning(identity, { ...me, epoch, seenAt }, now)).toBe(expected)
  })
})
