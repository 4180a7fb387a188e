/** The tests that must notice a change of a source, in one Vitest and one process that keep what they have loaded. */
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

/** What may judge a change that the tests beside it let pass. */
const ELSEWHERE = /^src\/(resources|platform\/operations)(\/|$)/
const ELSEWHERE_FILES = ['test/acme.test.ts', 'test/acme-wildcard.test.ts']
/** Of the tests elsewhere that come by a change, the shortest are tried, for so long. */
const MOST_ELSEWHERE_MS = 60_000
/** After so many runs a process has kept enough of what tests leave behind. */
const RUNS_OF_A_PROCESS = 150
const GOLDEN = (Math.sqrt(5) - 1) / 2

interface Patience {
  /** A test that takes longer has failed. */
  readonly testMs: number
  /** A run that takes longer has no end. */
  readonly runMs: number
}
/** Without a change nothing hangs, but the machine may be busy with others. */
const patient: Patience = { testMs: unit.testTimeout, runMs: 6 * unit.testTimeout }
/** Where it is not known how long tests take. */
const impatient: Patience = { testMs: 45_000, runMs: 2 * unit.testTimeout }
const patienceFor = (tests: readonly Known[]): Patience => ({
  testMs: 10_000 + 10 * Math.max(0, ...tests.map(({ ms }) => ms)),
  runMs: 45_000 + 10 * tests.reduce((sum, { ms }) => sum + ms, 0),
})

interface Outcome {
  /** `untold`: its tests fail without the change as well, or do not run to their end. */
  readonly outcome: 'caught' | 'survived' | 'untold'
  /** What has failed. */
  readonly by?: string
}

export interface Verdict extends Outcome {
  readonly mutant: Mutant
}

export interface MutantTests {
  /** Of one after the other, by the tests beside each. */
  verdicts(): AsyncGenerator<Verdict>
  /** What tests elsewhere say of those that the tests beside them let pass. */
  elsewhere(survivors: readonly Mutant[]): AsyncGenerator<Verdict>
  /** Those that no test comes by which may judge them: they survive whatever is done. @throws when a test fails without a change */
  unreached(): Promise<Mutant[]>
  close(): Promise<void>
}

/** A test that has passed without a change. */
interface Known {
  readonly path: string
  readonly id: string
  readonly name: string
  readonly ms: number
  /** Ids of the changes that it comes by. */
  readonly reached: ReadonlySet<number>
}

/** Nearest first, as they are given. */
class AsGiven extends BaseSequencer {
  override sort = async (files: TestSpecification[]) => files
}

/** @param root folder of the package @param mutants by id */
export async function openTests(root: string, mutants: readonly Mutant[]): Promise<MutantTests> {
  const sources = await changedSources(root, mutants)
  const worker = keptWorker()
  const vitest = await createVitest(
    {
      ...{ ...unit, root, config: false as const, watch: false, maxWorkers: 1, bail: 1, reporters: [{}] },
      pool: worker.pool,
      // it finds what it keeps by what is in the file, and would keep changes for others
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
  /** Ids of changes that count when their source is loaded, or once after that, so that it must be loaded again for each. */
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
    // it may go on doing what it did
    if (outcome.isUnclean) await renewed()
    return outcome
  }

  /** Runs tests without any change. @throws when one fails */
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
  /** As {@link look}, once for all that asks for it by this name. */
  function known(name: string, specifications: TestSpecification[]): Promise<Known[]> {
    const looked = looks.get(name) ?? look(specifications)
    looks.set(name, looked)
    return looked
  }

  /** In a process of its own. */
  async function whenLoaded(id: number, specifications: TestSpecification[]): Promise<Outcome> {
    if (specifications.length === 0) return { outcome: 'survived', by: 'there is no test' }
    await renewed()
    const { what, isWhole } = await run(specifications, id, impatient)
    await renewed()
    return what ? { outcome: 'caught', by: what } : { outcome: isWhole ? 'survived' : 'untold' }
  }

  /** @param isWide all tests of the files that have one which comes by the change: for those that need what others leave */
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
      // the same must pass without it, where nothing but the change is different
      const [test] = failed.children.allTests('failed')
      const without = await run([specificationOf(failed.moduleId, test?.id)], undefined, patience)
      if (!without.what && without.isWhole) return { outcome: 'caught', by: what }
    }
    await renewed()
    if (!isWide) return whenReached(id, tests, true)
    return { outcome: what && !failed ? 'caught' : 'untold', by: what }
  }

  /** Where it is not known which of the tests come by it, and most files have one change alone: by all, up to the first that fails. */
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

  /** First by the tests beside it; by the contract tests only what they let pass. */
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
      // some sources are loaded by contract tests alone
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

  /** Folder by folder; one whose tests fail without a change judges nothing. */
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
      // a run that is ended early says something of all: whatever has been tried is spread evenly
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
      // tests that fail are what is wanted here
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

/** What is come by while a module is loaded is not come by again: `reach.ts`. */
function toldWhenLoaded(code: string, id: string): string | null {
  if (!/\.ts$/.test(id) || /\.test\.ts$|node_modules|test\/mutants/.test(id)) return null
  return `globalThis.__loading?.(1);${code}\n;globalThis.__loading?.(-1)`
}

/** Transactions overlap there only: a lock is nothing on SQLite. */
const isOfPostgres = ({ what }: Mutant) => /lock|hold|postgres/i.test(what)
