/**
 * Selects the endpoints and jobs that a run walks in every case. Shared code answers many problems for all endpoints.
 * Those problems are tested on one endpoint of each shape, on endpoints whose files changed, and on a few others that
 * change with the commit. TEST_LONG walks everything.
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { apiEndpoints } from '../../src/app.ts'
import { jobs } from '../../src/jobs.ts'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import type { AnyDefinition } from '../../src/platform/operations/definition.ts'
import { atLength } from '../support/at-length.ts'
import { changedFiles, headCommit } from '../support/changes.ts'
import { declaredNames } from '../support/declared.ts'

const GOING_ROUND = 8
/** A fault in one step costs up to five seconds of a processor. This limits the steps of one run. */
const MOST_STEPS = 5
/** A change of these affects every endpoint. */
const OF_ALL = ['src/platform/http/', 'src/resources/access/access.ts', 'src/resources/kit/endpoint.ts']

const changed = changedFiles()
const changedFolders = new Set(changed.flatMap((file) => /^src\/resources\/([\w-]+)\//.exec(file)?.[1] ?? []))

/** Names that the files of changed folders declare: IDs of endpoints, names of jobs. */
const declared = new Set(
  [...changedFolders]
    .flatMap((folder) => globSync(`src/resources/${folder}/**/*.ts`))
    .flatMap((file) => declaredNames(readFileSync(file, 'utf8'))),
)

const head = headCommit()

/** The same few for all runs of one commit. */
function goingRound(names: readonly string[], many = names.length): string[] {
  const rank = (name: string) => createHash('sha256').update(`${head} ${name}`).digest('hex')
  return names.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, many)
}

const ids = apiEndpoints.map(({ id }) => id)
const changesAll = changed.some((file) => OF_ALL.some((path) => file.startsWith(path)))
const selected = new Set(
  atLength(changesAll, true) ? ids : [...ids.filter((id) => declared.has(id)), ...goingRound(ids, GOING_ROUND)],
)

/** Returns whether an endpoint gets every case in this run. */
export const isSelected = ({ id }: Pick<Endpoint, 'id'>): boolean => selected.has(id)

/** Returns everything that decides how the platform answers for an endpoint, except its own handler. */
function shapeOf({ access, method, params, query, body, problems: _, handle: __, ...rest }: Endpoint): string {
  const flags = Object.entries(rest)
    .filter(([, value]) => value === true || typeof value === 'number')
    .map(([name, value]) => `${name}=${value}`)
  const guard =
    typeof access === 'string'
      ? access
      : Object.entries(access as object).map(([kind, of]) => [kind, kind === 'account' ? of : ''])
  return JSON.stringify([guard, method, Boolean(params), Boolean(query), Boolean(body), flags.sort()])
}

/** The first endpoint of each shape, and all selected ones. */
export function oneOfEachShape(list: readonly Endpoint[]): Endpoint[] {
  const seen = new Set<string>()
  return list.filter((endpoint) => {
    const isNew = !seen.has(shapeOf(endpoint))
    seen.add(shapeOf(endpoint))
    return isNew || isSelected(endpoint)
  })
}

/** Returns jobs with changed files while their steps are few enough, at least one of them. */
function fewJobs(): Set<string> {
  const taken = new Set<string>()
  let steps = 0
  for (const name of goingRound([...jobs.keys()].filter((each) => declared.has(each)))) {
    const more = Object.keys(jobs.get(name)?.steps ?? {}).length
    if (taken.size > 0 && steps + more > MOST_STEPS) continue
    taken.add(name)
    steps += more
  }
  return taken
}
const selectedJobs = fewJobs()

/** Whether a run walks all endpoints and jobs, except for what the platform answers alike for all of them. */
const walksAll = process.env.TEST_TIER !== 'quick'

/** Returns whether a run tests the permissions of an endpoint: of all in the tier `databases`, and when run by hand. */
export const walksEndpoint = (id: string): boolean => walksAll || isSelected({ id })

/** Returns whether this run tests the faults of a job: of all in the system tier, and when run by hand. */
export const walksJob = (name: string): boolean => walksAll || selectedJobs.has(name)

/** Returns the steps of a job that get a fault in this run, in their order. Others follow with other commits. */
export function walkedSteps({ name, steps }: AnyDefinition): string[] {
  const all = Object.keys(steps)
  if (walksAll) return all
  const few = goingRound(
    all.map((step) => `${name} ${step}`),
    MOST_STEPS,
  )
  return all.filter((step) => few.includes(`${name} ${step}`))
}
