/** The tests that must notice a change of a source, in one Vitest that keeps what it has compiled. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { BaseSequencer, createVitest, type TestModule, type TestSpecification, type Vitest } from 'vitest/node'
import { unit } from '../../vitest.config.ts'
import type { Mutant } from './mutants.ts'

/** They walk all endpoints, or all jobs, by name; a fuzzer would only make the same runs longer. */
const CONTRACT_TESTS = ['problems', 'endpoints', 'records', 'permissions', 'jobs'].map(
  (name) => `test/contract/${name}.test.ts`,
)
/** A change may make tests hang; so long takes none that passes, on a machine that is busy with others. */
const HANGS_MS = 300_000
/** Of one test that waits for what a change has taken away. */
const TEST_HANGS_MS = 60_000

/** By the names of tests. A rule that only one of the databases needs is proven on that one. */
const dialects = { sqlite: '^(?!.*postgres)', postgres: 'postgres' }
type Dialect = keyof typeof dialects

export interface MutantTests {
  /** What has failed with this change; `undefined`: nothing. */
  failureOf(mutant: Mutant): Promise<string | undefined>
  /** Which of those that have failed so far fails without any change as well, and so says nothing. */
  failureWithout(): Promise<string | undefined>
  close(): Promise<void>
}

/** Nearest first, as they are given. */
class AsGiven extends BaseSequencer {
  override sort = async (files: TestSpecification[]) => files
}

/** @param root folder of the package */
export async function openTests(root: string): Promise<MutantTests> {
  let change: Mutant | undefined
  const load = (id: string) => (change && id === join(root, change.file) ? change.text : null)
  const vitest = await createVitest(
    {
      ...{ ...unit, root, config: false as const, watch: false, maxWorkers: 1, bail: 1, reporters: [{}] },
      ...{ testTimeout: TEST_HANGS_MS, hookTimeout: TEST_HANGS_MS },
      // it finds what it keeps by what is in the file, and would keep changes for others
      fsModuleCache: false,
      globalSetup: 'test/support/database.ts',
      sequence: { sequencer: AsGiven },
    },
    { plugins: [{ name: 'mutant', enforce: 'pre', load }] },
  )

  const failed = new Map<string, Set<string>>()

  async function run(specifications: TestSpecification[]): Promise<string | undefined> {
    const { modules, what } = await firstFailure(vitest, specifications)
    for (const module of modules) {
      const names = failed.get(module.moduleId) ?? new Set()
      failed.set(module.moduleId, names)
      for (const { fullName } of module.children.allTests('failed')) names.add(fullName.replaceAll(' > ', ' '))
    }
    return what
  }

  async function failureOn(dialect: Dialect, mutant: Mutant): Promise<string | undefined> {
    const path = join(root, mutant.file)
    change = mutant
    vitest.invalidateFile(path)
    try {
      return await run(await testsOf(vitest, mutant.file, dialect))
    } finally {
      change = undefined
      vitest.invalidateFile(path)
    }
  }

  return {
    async failureOf(mutant) {
      const onSqlite = await failureOn('sqlite', mutant)
      if (onSqlite || !process.env.TEST_POSTGRES_URL || !isOfPostgres(mutant)) return onSqlite
      return failureOn('postgres', mutant)
    },
    failureWithout() {
      const project = vitest.getRootProject()
      return run(
        [...failed].map(([path, names]) => {
          const testNamePattern = new RegExp(`^(${[...names].map(escaped).join('|')})$`)
          return project.createSpecification(path, { testNamePattern })
        }),
      )
    },
    async close() {
      await vitest.close()
      // tests that fail are what is wanted here
      process.exitCode = 0
    },
  }
}

/** Transactions overlap there only: a lock is nothing on SQLite. */
const isOfPostgres = ({ what }: Mutant) => /lock|hold|postgres/i.test(what)

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** The tests of a file's own folder, those that name it first, then the contract tests of what it declares, or else its folder. */
async function testsOf(vitest: Vitest, file: string, dialect: Dialect): Promise<TestSpecification[]> {
  const { root } = vitest.config
  const [folder, project] = [dirname(file), vitest.getRootProject()]
  const beside = await vitest.globTestSpecifications([`${folder}/`])
  const paths = beside.map(({ moduleId }) => moduleId).filter((path) => dirname(path) === join(root, folder))
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  const near = (index: number) => Number(texts[index]?.includes(`/${basename(file)}'`))
  const order = [...paths.keys()].sort((left, right) => near(right) - near(left))
  const declared = await reachOf(root, file)
  const named = `${dialects[dialect]}.*(^|[^\\w.])(${declared.join('|').replaceAll('.', '\\.')})(?![\\w.])`
  return [
    ...order.map((index) =>
      project.createSpecification(paths[index] as string, { testNamePattern: new RegExp(dialects[dialect]) }),
    ),
    ...(declared.length > 0 ? CONTRACT_TESTS : []).map((path) =>
      project.createSpecification(join(root, path), { testNamePattern: new RegExp(named) }),
    ),
  ]
}

/** Names of the endpoints and jobs that a file declares; of all of its folder when it declares none. */
async function reachOf(root: string, file: string): Promise<string[]> {
  const own = await declaredIn(root, [file])
  if (own.length > 0) return own
  const files = await readdir(join(root, dirname(file)), { recursive: true })
  return declaredIn(
    root,
    files.filter((name) => name.endsWith('.ts')).map((name) => join(dirname(file), name)),
  )
}

async function declaredIn(root: string, files: readonly string[]): Promise<string[]> {
  const sources = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  const named = sources.flatMap((source) => [...source.matchAll(/^ {2}(?:id: '(\w+)'|name: '(\w+\.\w+)'),$/gm)])
  return [...new Set(named.map(([, id, job]) => id ?? (job as string)))].sort()
}

interface Outcome {
  readonly modules: readonly TestModule[]
  /** `undefined`: all have passed. */
  readonly what: string | undefined
}

async function firstFailure(vitest: Vitest, specifications: TestSpecification[]): Promise<Outcome> {
  let isLate = false
  const end = () => vitest.cancelCurrentRun('keyboard-input').catch(() => {})
  const late = setTimeout(() => {
    isLate = true
    void end()
    // asked a second time it does not wait for what never comes to an end
    setTimeout(end, 5000).unref()
  }, HANGS_MS)
  // what failed in the run before would end this one at once
  vitest.state.filesMap.clear()
  vitest.state.idMap.clear()
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  clearTimeout(late)
  const modules = testModules.filter((module) => !module.ok())
  const outside = unhandledErrors.length > 0 ? 'an error outside of tests' : undefined
  const what = modules[0] ? basename(modules[0].moduleId) : isLate ? 'no end' : outside
  return { modules, what }
}
