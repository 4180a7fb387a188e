/** Combines the results of a run and of the second runs of its failed files. */
import type { FailedFile, RunReport } from './reporter.ts'

/** With more failed files than this, none of them runs again, because chance is unlikely. */
export const MOST_SECOND_RUNS = 12

export interface Verdict {
  readonly hasPassed: boolean
  /** The last lines before the count. */
  readonly lines: readonly string[]
  /** Tests that passed, failed and were skipped. One that passed in its second run has passed. */
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Returns the files of a run that run once more, each without others. */
export const toRunAgain = ({ failedFiles, strayErrors, isComplete }: RunReport): readonly FailedFile[] =>
  isComplete && strayErrors.length === 0 && failedFiles.length <= MOST_SECOND_RUNS ? failedFiles : []

/**
 * @param first undefined if the run ended without a report
 * @param second by file; a file without a report failed again
 */
export function verdictOf(first: RunReport | undefined, second: ReadonlyMap<string, RunReport | undefined>): Verdict {
  if (!first) return { hasPassed: false, lines: ['FAILED the test run ended before its report'], ...NONE, failed: 1 }
  const again = first.failedFiles.map((failed) => ({ ...failed, report: second.get(failed.file) }))
  const lines = again.flatMap(({ file, failures, report }) =>
    failures.map(({ test, reason }) => `${isMended(report) ? 'UNSTEADY' : 'FAILED'} ${file} "${test}" ${reason}`),
  )
  const unsteady = again.filter(({ report }) => isMended(report))
  const mended = unsteady.flatMap(({ failures }) => failures.filter(({ test }) => test !== '(the file)')).length
  const stray = first.strayErrors.map((reason) => `FAILED outside of a test: ${reason}`)
  const isCut = first.isComplete ? [] : ['FAILED the test run was interrupted']
  const hasPassed = unsteady.length === again.length && stray.length === 0 && first.isComplete
  // An error in a hook, or in a file before its tests, fails no test that could be counted.
  const failed = Math.max(first.failed - mended, hasPassed ? 0 : 1)
  return {
    hasPassed,
    lines: [...stray, ...isCut, ...lines],
    passed: first.passed + mended,
    failed: hasPassed ? 0 : failed,
    skipped: first.skipped,
  }
}

const NONE = { passed: 0, failed: 0, skipped: 0 }
/** A second run without a test proves nothing. */
const isMended = (report: RunReport | undefined): boolean => {
  if (!report?.isComplete) return false
  return report.passed > 0 && report.failed === 0 && report.failedFiles.length === 0 && report.strayErrors.length === 0
}

/** The result of a run of several tiers. */
export const together = (verdicts: readonly Verdict[]): Verdict => ({
  hasPassed: verdicts.every((each) => each.hasPassed),
  lines: verdicts.flatMap(({ lines }) => lines),
  passed: verdicts.reduce((sum, { passed }) => sum + passed, 0),
  failed: verdicts.reduce((sum, { failed }) => sum + failed, 0),
  skipped: verdicts.reduce((sum, { skipped }) => sum + skipped, 0),
})

/** Returns the closing line, which continuous integration reads. */
export const countLine = ({ passed, failed, skipped }: Verdict): string =>
  `Tests: ${passed} passed, ${failed} failed, ${skipped} skipped`
