import { expect, test } from 'vitest'
import { mutantsOf } from './mutants.ts'

const changes = (source: string) => mutantsOf('a.ts', source).map(({ line, what }) => `${line} ${what}`)

test('throws, calls, conditions, operators, arrays and filters are changed, each alone', () => {
  const source = 'if (a && b < 1)\n  throw new Problem(x)\nawait record(tx)\nconst list = [1].filter(odd)\n'
  expect(changes(source)).toEqual([
    '1 a && b < 1 → !(a && b < 1)',
    '1 && → ||',
    '1 < → <=',
    '2 removed: throw new Problem(x)',
    '3 removed: await record(tx)',
    '4 [1] → []',
    '4 removed: .filter(odd)',
  ])
  expect(mutantsOf('a.ts', source)[1]?.text).toBe(source.replace('&&', '||'))
})

test('types, joined texts, imports and empty arrays are left alone', () => {
  expect(changes("import a from 'a'\ntype A = B extends 1 ? [2] : 3\nconst b: A[] = []\nconst c = 'a' + b\n")).toEqual(
    [],
  )
})
