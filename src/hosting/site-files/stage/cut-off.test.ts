/** Tests a change of a site's files that is cut off, or runs out of space, at each point where it changes the disk. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { SiteFiles } from '../site-files.ts'
import {
  anyTree,
  newDirectory,
  readTree,
  sorted,
  type Thing,
  type Tree,
  walkHere,
  wanted,
  writeTree,
} from '../trees.fixture.ts'
import { type Fault, withFault } from './cut-off.fixture.ts'

const options = { quotaOf: async () => undefined, keepFreeBytes: 0, granularityMs: 0, walk: walkHere }
const scope = { paths: [''] }
let directory: Awaited<ReturnType<typeof newDirectory>>
beforeEach(async () => {
  directory = await newDirectory()
})
afterEach(() => directory.remove())

const folder: Thing = { kind: 'folder', mode: 0o755, mtimeMs: 1_600_000_000_001 }
const file = (text: string): Thing => ({ kind: 'file', mode: 0o644, mtimeMs: 1_600_000_000_002, text })
const link = (target: string): Thing => ({ kind: 'link', mtimeMs: 1_600_000_000_003, target })

/** Replaces each kind of entry, or nothing, with each other kind. */
const before: Tree = new Map<string, Thing>([
  ['changed', file('old')],
  ['file-to-folder', file('old')],
  ['folder', { ...folder, mtimeMs: 1_500_000_000_000 }],
  ['folder/goes', file('gone')],
  ['folder/stays', file('stays')],
  ['folder-to-file', folder],
  ['folder-to-file/below', file('old')],
  ['goes', folder],
  ['goes/below', file('gone')],
  ['link', link('changed')],
  ['only-times', file('same')],
])
const after: Tree = new Map<string, Thing>([
  ['changed', file('new')],
  ['comes', folder],
  ['comes/below', file('new')],
  ['comes/link', link('below')],
  ['file-to-folder', folder],
  ['file-to-folder/below', file('new')],
  ['folder', folder],
  ['folder/comes', file('new')],
  ['folder/stays', file('stays')],
  ['folder-to-file', file('new')],
  ['link', link('folder')],
  ['only-times', { ...file('same'), mode: 0o600, mtimeMs: 1_600_000_000_004 } as Thing],
])

/** Simulates another process, which knows only what is on the disk. */
const files = () => new SiteFiles(options)
const there = () => sorted(readTree(directory.web))
const nothingLeft = () => expect(readdirSync(directory.siteDirectory).sort()).toEqual(['private', 'web'])

async function begin(tree: Tree = before): Promise<void> {
  rmSync(directory.siteDirectory, { recursive: true })
  for (const part of ['', '/web', '/private']) await mkdir(directory.siteDirectory + part)
  writeTree(directory.web, tree)
}

const prepare = () => files().prepare(directory, wanted(after), { scope })

/** Tries each point until the work has none left. */
async function atEachPoint(
  kind: Fault['kind'],
  setUp: () => Promise<unknown>,
  work: () => Promise<unknown>,
  check: () => Promise<void>,
) {
  for (let at = 1; ; at++) {
    await begin()
    await setUp()
    const isStruck = await withFault({ at, kind }, work)
    await check()
    if (!isStruck) return at - 1
  }
}

describe.each(['cut off', 'disk full'] as const)('%s', (kind) => {
  test('leaves the site as it was while it is prepared, and the next attempt completes it', async () => {
    const points = await atEachPoint(
      kind,
      async () => {},
      prepare,
      async () => {
        expect(there()).toEqual(sorted(before))
        await prepare()
        await files().switch(directory)
        await files().cleanUp(directory)
        expect(there()).toEqual(sorted(after))
        nothingLeft()
      },
    )
    expect(points).toBeGreaterThan(30)
  })

  test('completes an interrupted switch in the next attempt', async () => {
    const points = await atEachPoint(
      kind,
      prepare,
      () => files().switch(directory),
      async () => {
        await files().switch(directory)
        expect(there()).toEqual(sorted(after))
        await files().switchBack(directory)
        expect(there()).toEqual(sorted(before))
      },
    )
    expect(points).toBeGreaterThan(20)
  })
})

describe('cut off', () => {
  const kind = 'cut off'

  test('leaves the site as it was while it is prepared again, and the next attempt completes it', async () => {
    const points = await atEachPoint(kind, prepare, prepare, async () => {
      expect(there()).toEqual(sorted(before))
      await prepare()
      await files().switch(directory)
      await files().cleanUp(directory)
      expect(there()).toEqual(sorted(after))
      nothingLeft()
    })
    expect(points).toBeGreaterThan(30)
  })

  test('can roll back an interrupted switch', async () => {
    await atEachPoint(
      kind,
      prepare,
      () => files().switch(directory),
      async () => {
        await files().switchBack(directory)
        expect(there()).toEqual(sorted(before))
        await files().cleanUp(directory)
        nothingLeft()
      },
    )
  })

  test('restores the earlier state when another change begins after an interrupted switch', async () => {
    await atEachPoint(
      kind,
      prepare,
      () => files().switch(directory),
      async () => {
        await prepare()
        const isDone = JSON.stringify(there()) === JSON.stringify(sorted(after))
        if (!isDone) expect(there()).toEqual(sorted(before))
      },
    )
  })

  test('continues an interrupted rollback in the next attempt, or switches again', async () => {
    const setUp = async () => {
      await prepare()
      await files().switch(directory)
    }
    const points = await atEachPoint(
      kind,
      setUp,
      () => files().switchBack(directory),
      async () => {
        await files().switchBack(directory)
        expect(there()).toEqual(sorted(before))
        await files().switch(directory)
        expect(there()).toEqual(sorted(after))
      },
    )
    expect(points).toBeGreaterThan(15)
  })

  test('leaves nothing after the next attempt of an interrupted cleanup', async () => {
    const setUp = async () => {
      await prepare()
      await files().switch(directory)
    }
    await atEachPoint(
      kind,
      setUp,
      () => files().cleanUp(directory),
      async () => {
        expect(there()).toEqual(sorted(after))
        await files().cleanUp(directory)
        nothingLeft()
      },
    )
  })
})

test('reports that there is no room, and leaves nothing', async () => {
  for (let at = 1; ; at++) {
    await begin()
    let error: unknown
    const isStruck = await withFault({ at, kind: 'disk full' }, () =>
      prepare().catch((thrown) => {
        error = thrown
      }),
    )
    if (!isStruck) return
    // If the rollback cannot write its record, the change is abandoned anyway.
    if (error) {
      expect(error).toBeInstanceOf(DiskFull)
      nothingLeft()
    }
  }
})

test('any change that is cut off anywhere ends in one of the two states', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyTree,
      anyTree,
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      async (from, to, at, isRetried) => {
        await begin(from)
        await files().prepare(directory, wanted(to), { scope })
        await withFault({ at, kind: 'cut off' }, () => files().switch(directory))
        if (isRetried) await files().switch(directory)
        else await files().switchBack(directory)
        await files().cleanUp(directory)
        expect(there()).toEqual(sorted(isRetried ? to : from))
      },
    ),
    { numRuns: 60 },
  )
})

test('refuses to clean up a half-done switch, and neither switches nor rolls back what was never prepared', async () => {
  await begin()
  for (const work of ['switch', 'switchBack', 'cleanUp'] as const) await files()[work](directory)
  expect(there()).toEqual(sorted(before))
  await prepare()
  expect(await withFault({ at: 8, kind: 'cut off' }, () => files().switch(directory))).toBe(true)
  await expect(files().cleanUp(directory)).rejects.toThrow('half switched')
  await expect(files().copy(directory, directory)).rejects.toThrow('half switched')
  await files().switchBack(directory)
  expect(there()).toEqual(sorted(before))
})

test.each(['on', 'back'] as const)(
  'loses only an entry that appears between the two moves of a place, when it goes %s',
  async (way) => {
    let met = 0
    for (let at = 1; ; at++) {
      await begin()
      await prepare()
      if (!(await withFault({ at, kind: 'cut off' }, () => files().switch(directory)))) break
      if (existsSync(`${directory.web}/changed`)) continue
      met++
      writeFileSync(`${directory.web}/changed`, 'of a moment')
      if (way === 'back') await files().switchBack(directory)
      await files().switch(directory)
      expect(there()).toEqual(sorted(after))
      await files().switchBack(directory)
      expect(there()).toEqual(sorted(before))
    }
    expect(met).toBeGreaterThan(0)
  },
)
