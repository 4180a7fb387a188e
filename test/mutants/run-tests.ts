/** Runs tests up to the first failure. */
import { basename } from 'node:path'
import type { TestModule, TestSpecification, Vitest } from 'vitest/node'

export interface Ran {
  readonly modules: readonly TestModule[]
  /** The failed test, or `undefined` if none failed. */
  readonly what: string | undefined
  /** Whether all requested tests ran to their end. */
  readonly isWhole: boolean
  /** Whether a test, or code outside of tests, may still be running. */
  readonly isUnclean: boolean
}

/**
 * The end of a run sometimes reaches into the next one, whose tests are then skipped. That says nothing about the
 * change.
 */
export async function firstFailure(
  vitest: Vitest,
  specifications: TestSpecification[],
  ms: number,
  drop: () => Promise<void>,
): Promise<Ran> {
  for (let again = 3; ; again--) {
    const outcome = await runOnce(vitest, specifications, ms, drop)
    if (outcome.what || outcome.isWhole || again === 0) return outcome
  }
}

async function runOnce(
  vitest: Vitest,
  specifications: TestSpecification[],
  ms: number,
  drop: () => Promise<void>,
): Promise<Ran> {
  let isLate = false
  const end = () => vitest.cancelCurrentRun('keyboard-input').catch(() => {})
  let second: NodeJS.Timeout | undefined
  const late = setTimeout(() => {
    isLate = true
    void drop()
    void end()
    // On a second request, it does not wait for work that never ends.
    second = setTimeout(end, 5000)
  }, ms)
  // A failure of the previous run would end this one at once.
  vitest.state.filesMap.clear()
  vitest.state.idMap.clear()
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  clearTimeout(late)
  clearTimeout(second)
  const tests = testModules.flatMap((module) => [...module.children.allTests()])
  const states = new Map(tests.map((test) => [test.id, test.result().state]))
  const asked = specifications.flatMap(({ testIds }) => testIds ?? [])
  const failed = testModules.find((module) => !module.ok())
  const outside = unhandledErrors.length > 0 ? 'an error outside of tests' : undefined
  const messages = tests.flatMap((test) => test.result().errors ?? []).map(({ message }) => message)
  return {
    modules: testModules,
    what: failed ? basename(failed.moduleId) : isLate ? 'no end' : outside,
    isWhole:
      testModules.length === specifications.length &&
      [...states.values()].includes('passed') &&
      ![...states.values()].includes('pending') &&
      asked.every((id) => states.get(id) === 'passed' || states.get(id) === 'failed'),
    isUnclean: isLate || outside !== undefined || messages.some((message) => message.includes('timed out in')),
  }
}
