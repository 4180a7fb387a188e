import { expect, test } from 'vitest'
import type { RunReport } from './reporter.ts'
import { countLine, MOST_SECOND_RUNS, together, toRunAgain, verdictOf } from './verdict.ts'

const report = (more: Partial<RunReport> = {}): RunReport => ({
  passed: 10,
  failed: 0,
  skipped: 1,
  failedFiles: [],
  strayErrors: [],
  isComplete: true,
  longest: [],
  ...more,
})
const failedFile = (file = 'a.test.ts') => ({ file, project: 'unit', failures: [{ test: 'adds', reason: 'it is 3' }] })
const failing = report({ passed: 9, failed: 1, failedFiles: [failedFile()] })

test('a run whose files all passed repeats none', () => {
  expect(toRunAgain(report())).toEqual([])
  expect(verdictOf(report(), new Map())).toEqual({ hasPassed: true, lines: [], passed: 10, failed: 0, skipped: 1 })
})

test('a file that passes in its second run makes the run pass, and is reported', () => {
  expect(toRunAgain(failing)).toEqual([failedFile()])
  const verdict = verdictOf(failing, new Map([['a.test.ts', report({ passed: 3 })]]))
  const lines = ['UNSTEADY a.test.ts "adds" it is 3']
  expect(verdict).toEqual({ hasPassed: true, lines, passed: 10, failed: 0, skipped: 1 })
})

test.each([
  ['fails again', report({ failed: 1, failedFiles: [failedFile()] })],
  ['fails in a hook', report({ failedFiles: [failedFile()] })],
  ['leaves an error behind', report({ strayErrors: ['late'] })],
  ['runs nothing', report({ passed: 0 })],
  ['is interrupted', report({ isComplete: false })],
  ['ends without a report', undefined],
])('a file that %s in its second run fails the run', (_how, second) => {
  const { hasPassed, lines, failed } = verdictOf(failing, new Map([['a.test.ts', second]]))
  expect([hasPassed, lines, failed]).toEqual([false, ['FAILED a.test.ts "adds" it is 3'], 1])
})

test('one of two failed files that fails again fails the run', () => {
  const first = report({ passed: 8, failed: 2, failedFiles: [failedFile(), failedFile('b.test.ts')] })
  const second = new Map([
    ['a.test.ts', report()],
    ['b.test.ts', failing],
  ])
  expect(verdictOf(first, second)).toMatchObject({ hasPassed: false, passed: 9, failed: 1 })
})

test('an error in a hook counts, although it fails no test', () => {
  const first = report({ failedFiles: [failedFile()] })
  expect(verdictOf(first, new Map())).toMatchObject({ hasPassed: false, failed: 1 })
})

test.each([
  ['an error outside of any file', report({ strayErrors: ['late'], failedFiles: [failedFile()] })],
  ['an interrupted run', report({ isComplete: false, failedFiles: [failedFile()] })],
  ['many failed files', report({ failedFiles: Array.from({ length: MOST_SECOND_RUNS + 1 }, () => failedFile()) })],
])('%s gets no second run, and fails', (_what, first) => {
  expect(toRunAgain(first)).toEqual([])
  expect(verdictOf(first, new Map())).toMatchObject({ hasPassed: false })
})

test('a run without a report has failed', () => {
  expect(verdictOf(undefined, new Map())).toMatchObject({ hasPassed: false, failed: 1 })
})

test('several tiers fail when one fails, and their tests are added up', () => {
  const both = together([verdictOf(report(), new Map()), verdictOf(failing, new Map())])
  expect(both).toMatchObject({ hasPassed: false, passed: 19, failed: 1, skipped: 2 })
  expect(countLine(both)).toBe('Tests: 19 passed, 1 failed, 2 skipped')
})
