import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { mutantsOf, withSwitches } from './mutants.ts'

const changes = (source: string) => mutantsOf('a.ts', source).map(({ line, what }) => `${line} ${what}`)

/** What the source comes to with each of its changes, after what it comes to without any. */
function outcomes(source: string, given: Record<string, unknown>): unknown[] {
  const mutants = new Map(mutantsOf('a.ts', source).map((mutant, id) => [id, mutant]))
  const text = withSwitches(source, mutants)
  return [-1, ...mutants.keys()].map((active) => {
    try {
      return runInNewContext(text, { ...structuredClone(given), __mutant: (id: number) => id === active })
    } catch (error) {
      return String(error)
    }
  })
}

test('throws, calls, conditions, operators, arrays and filters are changed, each alone', () => {
  const source = 'if (a && b < 1)\n  throw new Problem(x)\nawait record(tx)\nconst list = [1].filter(odd)\n'
  expect(changes(source)).toEqual([
    '1 a && b < 1 → !(a && b < 1)',
    '1 && → ||',
    '1 < → <=',
    '2 removed: throw new Problem(x)',
    '3 removed: await record(tx)',
    '4 removed: .filter(odd)',
    '4 [1] → []',
  ])
})

test('what is in a statement that is built once and kept is told apart: it needs a process of its own', () => {
  const source = 'const rows = precompiled((tx) => tx.where(a, b))\nconst other = tx.where(a, b)\n'
  expect(mutantsOf('a.ts', source).map(({ line, isBuiltOnce }) => [line, isBuiltOnce])).toEqual([
    [1, true],
    [2, false],
  ])
})

test('types, joined texts, imports and empty arrays are left alone', () => {
  expect(changes("import a from 'a'\ntype A = B extends 1 ? [2] : 3\nconst b: A[] = []\nconst c = 'a' + b\n")).toEqual(
    [],
  )
})

test('one source has all changes, each behind its switch, those within another one too', () => {
  expect(outcomes('a && b < 1', { a: true, b: 1 })).toEqual([false, true, true])
  expect(outcomes('(a ? [1, 2] : [3]).filter((x) => x > 1)', { a: true })).toEqual([
    [2],
    undefined,
    [1, 2],
    [3],
    [],
    [2],
    [1, 2],
  ])
  expect(outcomes("if (a) throw 'no'\n'yes'", { a: true })).toEqual(['no', 'yes', 'yes'])
})

test('what was one expression stays one', () => {
  // ends as a whole where there is nothing
  expect(outcomes('list?.filter((x) => x).length', { list: undefined })).toEqual([undefined, undefined])
  expect(outcomes('(list ?? [1, 0]) // all\n  .filter((x) => x).length', { list: undefined })).toEqual([
    1,
    2,
    "TypeError: Cannot read properties of undefined (reading 'filter')",
    0,
  ])
  expect(outcomes('a ?? b ?? c', { a: 1, b: 2, c: 3 })).toEqual([1, 3, 2])
  // a line that begins with a bracket would go on with the one before it
  expect(outcomes('let c = a\nb && (c = 2)\nc', { a: 1, b: 0 })).toEqual([1, 2])
})
