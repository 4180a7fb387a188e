/** The tests that must notice a change of a source, in one Vitest and one process that keep loaded modules. */
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node'
import { unit } from '../../vitest.config.ts'
import {
  allDeclared,
  besideOf,
  contractFiles,
  contractTests,
  type Dialect,
  nearestFirst,
  patternOf,
  reachOf,
} from './judges.ts'
import { keptWorker } from './kept-worker.ts'
import { type Mutant, withSwitches } from './mutants.ts'
import { firstFailure, type Ran } from './run-tests.ts'

/** Tests that may judge a change that the tests beside it missed. */
const ELSEWHERE = /^src\/(resources|platform\/operations)(\/|$)/
const ELSEWHERE_FILES = ['test/acme.test.ts', 'test/acme-wildcard.test.ts']
/** Limits the time for tests elsewhere that reach a change, shortest first. */
const MOST_ELSEWHERE_MS = 60_000
/** After this many runs, a process has collected too many leftovers of tests. */
const RUNS_OF_A_PROCESS = 150
const GOLDEN = (Math.sqrt(5) - 1) / 2

interface Patience {
  /** A test that takes longer has failed. */
  readonly testMs: number
  /** A run that takes longer never ends. */
  readonly runMs: number
}
/** Without a change nothing hangs, but the machine may be busy. */
const patient: Patience = { testMs: unit.testTimeout, runMs: 6 * unit.testTimeout }
/** The time limit if the duration of tests is unknown. */
const impatient: Patience = { testMs: 45_000, runMs: 2 * unit.testTimeout }
const patienceFor = (tests: readonly Known[]): Patience => ({
  testMs: 10_000 + 10 * Math.max(0, ...tests.map(({ ms }) => ms)),
  runMs: 45_000 + 10 * tests.reduce((sum, { ms }) => sum + ms, 0),
})

interface Outcome {
  /** `untold`: its tests also fail without the change, or do not run to their end. */
  readonly outcome: 'caught' | 'survived' | 'untold'
  /** What failed. */
  readonly by?: string
}

export interface Verdict extends Outcome {
  readonly mutant: Mutant
}

export interface MutantTests {
  /** Judges one mutant after the other, with the tests beside each file. */
  verdicts(): AsyncGenerator<Verdict>
  /** Lets tests elsewhere judge the survivors of the tests beside them. */
  elsewhere(survivors: readonly Mutant[]): AsyncGenerator<Verdict>
  /**
   * Returns mutants that no eligible test reaches, which survive any run.
   * @throws when a test fails without a change
   */
  unreached(): Promise<Mutant[]>
  close(): Promise<void>
}

/** A test that passed without a change. */
interface Known {
  readonly path: string
  readonly id: string
  readonly name: string
  readonly ms: number
  /** IDs of the changes that it reaches. */
  readonly reached: ReadonlySet<number>
}

/** Nearest first, in the given order. */
class AsGiven extends BaseSequencer {
  override sort = async (files: TestSpecification[]) => files
}

/**
 * @param root folder of the package
 * @param mutants by ID
 */
export async function openTests(root: string, mutants: readonly Mutant[]): Promise<MutantTests> {
  const sources = await changedSources(root, mutants)
  const worker = keptWorker()
  const vitest = await createVitest(
    {
      ...{ ...unit, root, config: false as const, watch: false, maxWorkers: 1, bail: 1, reporters: [{}] },
      pool: worker.pool,
      // The plugin below changes sources as Vite loads them.
      experimental: { viteModuleRunner: true },
      // Its cache uses the content of the file as its key, and would return the source of other changes.
      fsModuleCache: false,
      globalSetup: 'test/support/database.ts',
      setupFiles: 'test/mutants/reach.ts',
      sequence: { sequencer: AsGiven },
    },
    {
      plugins: [{ name: 'mutants', enforce: 'pre', load: (id) => sources.get(id) ?? null, transform: toldWhenLoaded }],
    },
  )
  const project = vitest.getRootProject()
  /**
   * IDs of changes that count when their source loads, or once after that. The source must be loaded again for each.
   */
  const byLoading = new Set([...mutants.keys()].filter((id) => mutants[id]?.isBuiltOnce))
  let runs = 0

  async function renewed(): Promise<void> {
    runs = 0
    await worker.drop()
  }

  async function run(
    specifications: TestSpecification[],
    active: number | undefined,
    { testMs, runMs }: Patience,
  ): Promise<Ran> {
    if (runs++ > RUNS_OF_A_PROCESS) await renewed()
    project.provide('mutant', { active, testMs })
    const outcome = await firstFailure(vitest, specifications, runMs, worker.drop)
    for (const module of outcome.modules)
      for (const test of module.children.allTests())
        for (const id of test.meta().reachedByLoading ?? []) byLoading.add(id)
    // It may still be running its earlier work.
    if (outcome.isUnclean) await renewed()
    return outcome
  }

  /**
   * Runs tests without any change.
   * @throws when one fails
   */
  async function look(specifications: TestSpecification[]): Promise<Known[]> {
    if (specifications.length === 0) return []
    let ran = await run(specifications, undefined, patient)
    if (ran.what) {
      await renewed()
      ran = await run(specifications, undefined, patient)
    }
    const { modules, what } = ran
    if (what) throw new Error(`${what} fails without any change`)
    return modules.flatMap((module) => {
      const tests = [...module.children.allTests('passed')]
      const before = tests.flatMap((test) => test.meta().reachedBefore ?? [])
      return tests.map((test) => ({
        ...{ path: module.moduleId, id: test.id, name: test.fullName, ms: test.diagnostic()?.duration ?? 0 },
        reached: new Set([...before, ...(test.meta().reached ?? [])]),
      }))
    })
  }

  const looks = new Map<string, Promise<Known[]>>()
  /** Like {@link look}, once for all requests of this name. */
  function known(name: string, specifications: TestSpecification[]): Promise<Known[]> {
    const looked = looks.get(name) ?? look(specifications)
    looks.set(name, looked)
    return looked
  }

  /** In a separate process. */
  async function whenLoaded(id: number, specifications: TestSpecification[]): Promise<Outcome> {
    if (specifications.length === 0) return { outcome: 'survived', by: 'there is no test' }
    await renewed()
    const { what, isWhole } = await run(specifications, id, impatient)
    await renewed()
    return what ? { outcome: 'caught', by: what } : { outcome: isWhole ? 'survived' : 'untold' }
  }

  /**
   * @param isWide runs all tests of the files with one that reaches the change, for tests that need the effects of
   * others
   */
  async function whenReached(id: number, tests: readonly Known[], isWide = false): Promise<Outcome> {
    const near = tests.filter(({ reached }) => reached.has(id))
    if (near.length === 0) return { outcome: 'survived', by: 'no test comes by it' }
    const paths = new Set(near.map(({ path }) => path))
    const chosen = isWide ? tests.filter(({ path }) => paths.has(path)) : near
    const ofPath = Map.groupBy(chosen, ({ path }) => path)
    const specificationOf = (path: string, upTo?: string) => {
      const ids = ofPath.get(path)?.map((test) => test.id) ?? []
      return project.createSpecification(path, { testIds: upTo ? ids.slice(0, ids.indexOf(upTo) + 1) : ids })
    }
    const patience = patienceFor(chosen)
    const specifications = [...ofPath.keys()].map((path) => specificationOf(path))
    const { modules, what, isWhole } = await run(await nearestFirst(specifications, mutants[id]?.file), id, patience)
    if (!what && isWhole) return { outcome: 'survived' }
    const failed = modules.find((module) => !module.ok())
    if (failed) {
      // The same tests must pass without it, with no other difference.
      const [test] = failed.children.allTests('failed')
      const without = await run([specificationOf(failed.moduleId, test?.id)], undefined, patience)
      if (!without.what && without.isWhole) return { outcome: 'caught', by: what }
    }
    await renewed()
    if (!isWide) return whenReached(id, tests, true)
    return { outcome: what && !failed ? 'caught' : 'untold', by: what }
  }

  /**
   * For changes whose tests are unknown: runs all, up to the first failure. Most of these files have only one change.
   */
  async function whenNamed(id: number, specifications: TestSpecification[], isAgain = false): Promise<Outcome> {
    if (specifications.length === 0) return { outcome: 'survived', by: 'no test comes by it' }
    const { modules, what, isWhole } = await run(specifications, id, impatient)
    if (!what && isWhole) return { outcome: 'survived' }
    const failed = modules.find((module) => !module.ok())
    if (failed) {
      const those = specifications.filter(({ moduleId }) => moduleId === failed.moduleId)
      const without = await run(those, undefined, impatient)
      if (!without.what && without.isWhole) return { outcome: 'caught', by: what }
    }
    await renewed()
    if (!isAgain) return whenNamed(id, specifications, true)
    return { outcome: what && !failed ? 'caught' : 'untold', by: what }
  }

  /** Runs the tests beside it first, and contract tests only on survivors. */
  async function outcomeOn(dialect: Dialect, id: number): Promise<Outcome> {
    const { file } = mutants[id] as Mutant
    const folder = dirname(file)
    const beside = await nearestFirst(await besideOf(vitest, folder, dialect), file)
    const contract =
      basename(file) === 'index.ts' ? allDeclared(vitest) : contractTests(vitest, await reachOf(root, file), dialect)
    const near = await known(`${dialect} ${folder}`, beside)
    if (!byLoading.has(id)) {
      const first = await whenReached(id, near)
      if (first.outcome !== 'survived') return first
      const second = await whenNamed(id, contract)
      // Only contract tests load some sources.
      if (!byLoading.has(id)) return second
    }
    return whenLoaded(id, [...beside, ...contract])
  }

  async function outcomeOf(id: number): Promise<Outcome> {
    const outcome = await outcomeOn('sqlite', id)
    const isElsewhere = process.env.TEST_POSTGRES_URL && isOfPostgres(mutants[id] as Mutant)
    return outcome.outcome === 'survived' && isElsewhere ? outcomeOn('postgres', id) : outcome
  }

  const knownOf = async (folder: string): Promise<Known[]> =>
    known(`sqlite ${folder}`, await besideOf(vitest, folder, 'sqlite'))

  /** Runs folder by folder. One whose tests fail without a change judges nothing. */
  async function lookElsewhere(): Promise<Known[]> {
    const under = await vitest.globTestSpecifications()
    const folders = new Set(under.map(({ moduleId }) => relative(root, dirname(moduleId))))
    const all: Known[] = []
    const add = async (place: string, looked: Promise<Known[]>) =>
      all.push(...((await looked.catch((error) => console.error(`${place}: ${error.message}`))) ?? []))
    for (const folder of folders) if (ELSEWHERE.test(folder)) await add(folder, knownOf(folder))
    for (const file of ELSEWHERE_FILES) await add(file, known(file, [project.createSpecification(join(root, file))]))
    return all
  }

  async function outcomeElsewhere(id: number, all: readonly Known[]): Promise<Outcome> {
    let ms = 0
    const shortest = all
      .filter(({ reached }) => reached.has(id))
      .toSorted((left, right) => left.ms - right.ms)
      .filter((test) => {
        ms += test.ms
        return ms < MOST_ELSEWHERE_MS
      })
    return whenReached(id, shortest)
  }

  async function* judged(ids: readonly number[], judge: (id: number) => Promise<Outcome>): AsyncGenerator<Verdict> {
    for (const id of ids)
      yield {
        mutant: mutants[id] as Mutant,
        ...(await judge(id).catch((error: Error) => ({ outcome: 'untold' as const, by: error.message }))),
      }
  }

  return {
    async *elsewhere(survivors) {
      const all = await lookElsewhere()
      yield* judged(
        survivors.map((mutant) => mutants.indexOf(mutant)),
        (id) => outcomeElsewhere(id, all),
      )
    },
    verdicts() {
      // Mutants are tried in an even spread, so that a run that ends early covers everything.
      const place = (id: number) => (id * GOLDEN) % 1
      return judged(
        [...mutants.keys()].sort((left, right) => place(left) - place(right)),
        outcomeOf,
      )
    },
    async unreached() {
      const files = Map.groupBy(mutants.keys(), (id) => mutants[id]?.file as string)
      const contract = await look(await contractFiles(vitest, root, [...files.keys()]))
      const left: Mutant[] = []
      for (const [file, ids] of files) {
        const near = await knownOf(dirname(file))
        const ofFile = patternOf('sqlite', await reachOf(root, file))
        const judges = [...near, ...contract.filter(({ name }) => ofFile.test(name))]
        const isReached = (id: number) => byLoading.has(id) || judges.some(({ reached }) => reached.has(id))
        left.push(...ids.filter((id) => !isReached(id)).map((id) => mutants[id] as Mutant))
      }
      return left
    },
    async close() {
      await worker.drop()
      await vitest.close()
      // Failing tests are the purpose.
      process.exitCode = 0
    },
  }
}

async function changedSources(root: string, mutants: readonly Mutant[]): Promise<Map<string, string>> {
  const sources = new Map<string, string>()
  for (const [file, those] of Map.groupBy(mutants.entries(), ([, mutant]) => mutant.file)) {
    const path = join(root, file)
    sources.set(path, withSwitches(await readFile(path, 'utf8'), new Map(those)))
  }
  return sources
}

/** Changes reached while a module loads are not reached again. See `reach.ts`. */
function toldWhenLoaded(code: string, id: string): string | null {
  if (!/\.ts$/.test(id) || /\.test\.ts$|node_modules|test\/mutants/.test(id)) return null
  return `globalThis.__loading?.(1);${code}\n;globalThis.__loading?.(-1)`
}

/** Transactions overlap only there: a lock has no effect on SQLite. */
const isOfPostgres = ({ what }: Mutant) => /lock|hold|postgres/i.test(what)
