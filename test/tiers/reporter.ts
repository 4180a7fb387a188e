/** Writes the result of a run into the file that TEST_REPORT names, for `main.ts`. */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { processorMsOf, processTree } from '../../src/hosting/php/wasm/process-tree.ts'
import { idleAfter } from './idle.ts'

export interface Failure {
  readonly test: string
  readonly reason: string
}

/** A file that failed. */
export interface FailedFile {
  readonly file: string
  readonly project: string
  readonly failures: readonly Failure[]
}

export interface RunReport {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failedFiles: readonly FailedFile[]
  /** Failures outside of any file. A second run of a file cannot tell whether they were random. */
  readonly strayErrors: readonly string[]
  readonly isComplete: boolean
  /** The slowest files, slowest first. */
  readonly longest: readonly LongFile[]
}

export interface LongFile {
  readonly file: string
  readonly seconds: number
  /** Processor time, which other work does not lengthen. Undefined if it is unknown. */
  readonly processorSeconds?: number | undefined
}

const LISTED = 40

const firstLine = (text: unknown): string => String(text).split('\n', 1)[0]?.slice(0, 200) ?? ''

/** Where an error was raised, as vitest notes it on errors that no test awaited. */
const fileOf = (error: SerializedError): string | undefined => {
  const { VITEST_TEST_PATH: path } = error as { VITEST_TEST_PATH?: string }
  return path
}

const pathOf = ({ project, moduleId }: TestModule): string => relative(project.vitest.config.root, moduleId)

const LOOK_MS = 10_000
const WAITS = 'it waits, and nothing has worked for minutes'

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

export default class TierReporter implements Reporter {
  /** What has begun and not ended. */
  readonly #modules = new Set<TestModule>()
  readonly #tests = new Set<TestCase>()

  onInit(vitest: Vitest): void {
    if (process.platform !== 'linux') return // the kernel does not report the time of processes
    const isIdle = idleAfter(() => processorMsOf(process.pid))
    setInterval(() => isIdle() && this.#end(vitest), LOOK_MS).unref()
  }
  onTestModuleStart(module: TestModule): void {
    this.#modules.add(module)
  }
  onTestModuleEnd(module: TestModule): void {
    this.#modules.delete(module)
  }
  onTestCaseReady(test: TestCase): void {
    this.#tests.add(test)
  }
  onTestCaseResult(test: TestCase): void {
    this.#tests.delete(test)
  }

  /** Ends a run that waits in vain. Otherwise it would wait for each limit of a test and of its hooks. */
  #end(vitest: Vitest): never {
    this.onTestRunEnd(vitest.state.getTestModules(), [], 'interrupted')
    for (const pid of processTree(process.pid).slice(1).toReversed()) tryKill(pid)
    process.exit(1)
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: string): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const stray = errors.filter((error) => !modules.some(({ moduleId }) => moduleId === fileOf(error)))
    const report: RunReport = {
      passed: count('passed'),
      failed: count('failed'),
      skipped: count('skipped') + count('pending'),
      failedFiles: modules.flatMap((module) => this.#failed(module, errors)),
      strayErrors: stray.map((error) => firstLine(error.message)),
      isComplete: reason !== 'interrupted',
      longest: modules
        .map((module) => ({
          file: pathOf(module),
          seconds: Math.round(module.diagnostic().duration / 1000),
          processorSeconds: module.meta().processorSeconds,
        }))
        .toSorted((a, b) => b.seconds - a.seconds)
        .slice(0, LISTED),
    }
    writeFileSync(process.env.TEST_REPORT as string, JSON.stringify(report))
  }

  #failed(module: TestModule, errors: readonly SerializedError[]): FailedFile[] {
    const failures: Failure[] = []
    for (const error of [...module.errors(), ...errors.filter((each) => fileOf(each) === module.moduleId)])
      failures.push({ test: '(the file)', reason: firstLine(error.message) })
    for (const suite of module.children.allSuites())
      for (const error of suite.errors()) failures.push({ test: suite.fullName, reason: firstLine(error.message) })
    for (const test of module.children.allTests()) {
      const { state, errors: found } = test.result()
      if (state === 'failed') failures.push({ test: test.fullName, reason: firstLine(found?.[0]?.message) })
      else if (this.#tests.has(test)) failures.push({ test: test.fullName, reason: WAITS })
    }
    if (this.#modules.has(module) && !failures.some(({ reason }) => reason === WAITS))
      failures.push({ test: '(the file)', reason: WAITS })
    if (failures.length === 0) return []
    return [{ file: pathOf(module), project: module.project.name, failures }]
  }
}
