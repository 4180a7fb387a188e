import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { allProblems } from '../../src/platform/http/problem.ts'

it('docs/errors.md has every problem with its status and text, what to do, and none that is gone', () => {
  const rows = readFileSync('docs/errors.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const documented = rows.map(([, code, status, text]) => `${code?.replaceAll('`', '')} ${status} ${text}`)
  expect(documented.toSorted()).toEqual(
    allProblems()
      .map(({ code, status, text }) => `${code} ${status} ${text}`)
      .toSorted(),
  )
  for (const [, code, , , remedy] of rows) expect([code, remedy]).toEqual([code, expect.stringMatching(/\.$/)])
})
