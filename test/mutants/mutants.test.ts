import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { mutantsOf, withSwitches } from './mutants.ts'

const changes = (source: string) => mutantsOf('a.ts', source).map(({ line, what }) => `${line} ${what}`)

/** Returns the result of the source without a change, and then with each of its changes. */
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

test('changes throws, calls, conditions, operators, arrays and filters, one at a time', () => {
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

test('marks changes in a statement that is built once and cached, which need a separate process', () => {
  const source = 'const rows = precompiled((tx) => tx.where(a, b))\nconst other = tx.where(a, b)\n'
  expect(mutantsOf('a.ts', source).map(({ line, isBuiltOnce }) => [line, isBuiltOnce])).toEqual([
    [1, true],
    [2, false],
  ])
})

test('does not change types, joined texts, imports and empty arrays', () => {
  expect(changes("import a from 'a'\ntype A = B extends 1 ? [2] : 3\nconst b: A[] = []\nconst c = 'a' + b\n")).toEqual(
    [],
  )
})

test('puts all changes into one source, each behind its switch, including nested ones', () => {
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

test('keeps one expression as one expression', () => {
  // The chain ends as one expression if the value is missing.
  expect(outcomes('list?.filter((x) => x).length', { list: undefined })).toEqual([undefined, undefined])
  expect(outcomes('(list ?? [1, 0]) // all\n  .filter((x) => x).length', { list: undefined })).toEqual([
    1,
    2,
    "TypeError: Cannot read properties of undefined (reading 'filter')",
    0,
  ])
  expect(outcomes('a ?? b ?? c', { a: 1, b: 2, c: 3 })).toEqual([1, 3, 2])
  // A line that begins with a bracket would continue the previous line.
  expect(outcomes('let c = a\nb && (c = 2)\nc', { a: 1, b: 0 })).toEqual([1, 2])
})
