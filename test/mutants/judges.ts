/** Chooses the tests that judge a change of a file. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { TestSpecification, Vitest } from 'vitest/node'
import { declaredNames } from '../support/declared.ts'

/** They walk all endpoints, or all jobs, by name. A fuzzer would only lengthen the same runs. */
const JOBS = ['jobs-1', 'jobs-2', 'jobs-3']
const CONTRACT_TESTS = ['records', 'neighbours', 'endpoints', 'problems', 'permissions', ...JOBS].map((name) => ({
  path: `test/contract/${name}.test.ts`,
  ofJobs: JOBS.includes(name),
}))
/** By the names of tests. A rule that only one of the databases needs is tested on that one. */
const dialects = { sqlite: '^(?!.*postgres)', postgres: 'postgres' }
export type Dialect = keyof typeof dialects

export async function besideOf(vitest: Vitest, folder: string, dialect: Dialect): Promise<TestSpecification[]> {
  const under = await vitest.globTestSpecifications([`${folder}/`])
  return under
    .map(({ moduleId }) => moduleId)
    .filter((path) => dirname(path) === join(vitest.config.root, folder))
    .map((path) =>
      vitest.getRootProject().createSpecification(path, { testNamePattern: new RegExp(dialects[dialect]) }),
    )
}

/** Names of endpoints, and of jobs, which have a dot. */
export function contractTests(vitest: Vitest, names: readonly string[], dialect: Dialect): TestSpecification[] {
  const testNamePattern = patternOf(dialect, names)
  return CONTRACT_TESTS.filter(({ ofJobs }) => names.some((name) => name.includes('.') === ofJobs)).map(({ path }) =>
    vitest.getRootProject().createSpecification(join(vitest.config.root, path), { testNamePattern }),
  )
}

/** Like {@link contractTests}, for all tests that may judge these files. */
export async function contractFiles(
  vitest: Vitest,
  root: string,
  files: readonly string[],
): Promise<TestSpecification[]> {
  const names = await Promise.all(files.map((file) => reachOf(root, file)))
  return contractTests(vitest, [...new Set(names.flat())], 'sqlite')
}

/** An index only declares. A contract test compares it with the declarations in the files of its resource. */
export const allDeclared = (vitest: Vitest): TestSpecification[] => [
  vitest.getRootProject().createSpecification(join(vitest.config.root, 'test/contract/resources.test.ts')),
]

export const patternOf = (dialect: Dialect, names: readonly string[]) =>
  new RegExp(`${dialects[dialect]}.*(^|[^\\w.])(${names.join('|').replaceAll('.', '\\.')})(?![\\w.])`)

/** Tests beside a file that name it, then the others beside it, and then the rest. */
export async function nearestFirst(specifications: TestSpecification[], file = ''): Promise<TestSpecification[]> {
  const ranks = await Promise.all(
    specifications.map(async ({ moduleId }) => {
      if (!moduleId.includes(`/${dirname(file)}/`)) return 2
      return (await readFile(moduleId, 'utf8')).includes(`/${basename(file)}'`) ? 0 : 1
    }),
  )
  const order = [...specifications.keys()].sort((left, right) => (ranks[left] ?? 0) - (ranks[right] ?? 0))
  return order.map((index) => specifications[index] as TestSpecification)
}

/** Returns the names of the endpoints and jobs that a file declares, or those of its folder when it declares none. */
export async function reachOf(root: string, file: string): Promise<string[]> {
  const own = await declaredIn(root, [file])
  return own.length > 0 ? own : declaredUnder(root, dirname(file))
}

async function declaredUnder(root: string, folder: string): Promise<string[]> {
  const files = await readdir(join(root, folder), { recursive: true })
  return declaredIn(
    root,
    files.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name)),
  )
}

async function declaredIn(root: string, files: readonly string[]): Promise<string[]> {
  const sources = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  return [...new Set(sources.flatMap(declaredNames))].sort()
}
