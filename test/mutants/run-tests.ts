/** Runs tests up to the first that fails. */
import { basename } from 'node:path'
import type { TestModule, TestSpecification, Vitest } from 'vitest/node'

export interface Ran {
  readonly modules: readonly TestModule[]
  /** What has failed; `undefined`: nothing. */
  readonly what: string | undefined
  /** All tests that were asked for have run to their end. */
  readonly isWhole: boolean
  /** A test, or something outside of one, may go on. */
  readonly isUnclean: boolean
}

/** What ended a run reaches into the next one at times, whose tests are then left out; that says nothing of the change. */
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
    // asked a second time it does not wait for what never comes to an end
    second = setTimeout(end, 5000)
  }, ms)
  // what failed in the run before would end this one at once
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
