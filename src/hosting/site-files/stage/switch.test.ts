import { readdirSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FileScope } from '../file-content.ts'
import { isInScope } from '../scope.ts'
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

const files = new SiteFiles({ quotaOf: async () => undefined, keepFreeBytes: 0, granularityMs: 0, walk: walkHere })
let directory: Awaited<ReturnType<typeof newDirectory>>
beforeEach(async () => {
  directory = await newDirectory()
})
afterEach(() => directory.remove())

async function fill(tree: Tree): Promise<void> {
  rmSync(directory.web, { recursive: true })
  await mkdir(directory.web)
  writeTree(directory.web, tree)
}

const anyScope: fc.Arbitrary<FileScope> = fc.constantFrom<FileScope>(
  { paths: [''] },
  { paths: ['wp-content'] },
  { paths: ['wp-content/themes', 'a'] },
  { paths: ['wp-content'], except: ['wp-content/themes', 'wp-content/a'] },
  { paths: [''], except: ['wp-content', 'b/a'] },
  // Parts of excepted paths.
  { paths: ['', 'wp-content/themes', 'b/a/a'], except: ['wp-content', 'b/a'] },
)

/** Returns the tree expected after a change: the wanted one within the scope, the previous one outside. */
function expected(before: Tree, next: Tree, scope: FileScope): [string, Thing][] {
  const outside = [...before].filter(([path]) => !isInScope(scope, path))
  const inside = [...next].filter(([path]) => isInScope(scope, path))
  return sorted(new Map([...outside, ...inside]))
}

/**
 * Returns whether the change is valid: the next tree has no new folder outside the scope, and removes none that holds
 * an exception.
 */
function fits(before: Tree, next: Tree, scope: FileScope): boolean {
  const isFolder = (tree: Tree, path: string) => tree.get(path)?.kind === 'folder'
  return [...new Set([...before.keys(), ...next.keys()])].every((path) => {
    if (isInScope(scope, path)) {
      const holds = scope.except?.some((each) => each.startsWith(`${path}/`)) && isFolder(before, path)
      return !holds || isFolder(next, path)
    }
    return (
      ![...next.keys()].some((each) => isInScope(scope, each) && each.startsWith(`${path}/`)) || isFolder(before, path)
    )
  })
}

test('any tree becomes any other within any scope, and what it was again', async () => {
  await fc.assert(
    fc.asyncProperty(anyTree, anyTree, anyScope, async (before, next, scope) => {
      fc.pre(fits(before, next, scope))
      await fill(before)
      const part = new Map([...next].filter(([path]) => isInScope(scope, path)))
      const told = await files.prepare(directory, wanted(part), { scope })
      expect(sorted(readTree(directory.web)), 'before').toEqual(sorted(before))
      await files.switch(directory)
      expect(sorted(readTree(directory.web)), 'after').toEqual(expected(before, next, scope))
      await files.switchBack(directory)
      expect(sorted(readTree(directory.web)), 'back').toEqual(sorted(before))
      expect(await files.compare(directory, wanted(part), { scope })).toEqual(told)
      await files.switch(directory)
      await files.cleanUp(directory)
      expect(sorted(readTree(directory.web)), 'settled').toEqual(expected(before, next, scope))
      expect(readdirSync(directory.siteDirectory).sort()).toEqual(['private', 'web'])
      const again = await files.compare(directory, wanted(part), { scope })
      expect([again.written.count, again.removed.count]).toEqual([0, 0])
    }),
    { numRuns: 60 },
  )
})

test('preparing again, for a changed site and another tree, equals preparing once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyTree, { minLength: 2, maxLength: 3 }),
      fc.array(anyTree, { minLength: 2, maxLength: 3 }),
      async (sites, nexts) => {
        for (const [at, site] of sites.entries()) {
          await fill(site)
          const next = nexts[at] ?? (nexts[0] as Tree)
          await files.prepare(directory, wanted(next), { scope: { paths: [''] } })
          if (at < sites.length - 1) continue
          await files.switch(directory)
          expect(sorted(readTree(directory.web))).toEqual(sorted(next))
          await files.switchBack(directory)
          expect(sorted(readTree(directory.web))).toEqual(sorted(site))
          await files.cleanUp(directory)
        }
      },
    ),
    { numRuns: 25 },
  )
})
