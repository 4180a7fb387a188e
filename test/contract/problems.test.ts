/**
 * A request causes each problem that an endpoint declares, so that no refusal can be removed unnoticed. `Walk.send`
 * finds undeclared answers, here and in all contract tests.
 */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controlBudgets } from '../../src/budgets.ts'
import type { Config } from '../../src/config.ts'
import { type BudgetTerms, openBudgets } from '../../src/platform/budgets/budget.ts'
import type { Database, Tx } from '../../src/platform/db/database.ts'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { apiOver } from '../support/api.ts'
import type { Stage } from '../support/contract.ts'
import { dialects } from '../support/database.ts'
import { type RowChanges, recordRowChanges } from '../support/row-changes.ts'
import { EMPTY_DATACENTER } from '../support/scenes.ts'
import { problemCases } from './contracts.ts'
import { type CommonCase, commonCases, type Provoked, provokeOwn } from './problem-cases.ts'
import { declaredOf, type ProblemCode, problemOf, statusOf } from './problems.ts'
import { oneOfEachShape } from './selection.ts'
import { apiEndpoints, walk } from './walk.ts'

interface Case {
  readonly endpoint: Endpoint
  readonly code: ProblemCode
  /** A problem of the endpoint itself. The others come from code that serves all endpoints alike. */
  readonly isOwn: boolean
  provoke(stage: Stage): Promise<Provoked>
}

const cases: readonly Case[] = apiEndpoints.flatMap((endpoint) => {
  const own = problemCases.filter(({ of }) => of.includes(endpoint.id))
  const declared = declaredOf(endpoint).filter((code) => !own.some((one) => one.code === code))
  return [
    ...own.map((one) => ({
      endpoint,
      code: one.code,
      isOwn: true,
      provoke: (stage: Stage) => provokeOwn(one, endpoint, stage),
    })),
    ...commonCases
      .filter(({ code }) => declared.includes(code))
      .map((one) => ({ endpoint, code: one.code, isOwn: false, provoke: provokeCommon(one, endpoint) })),
  ]
})

function provokeCommon({ isAlone, provoke }: CommonCase, endpoint: Endpoint): Case['provoke'] {
  return async (stage) => {
    const scene = isAlone ? await stage.tour.scene() : stage.shared
    return { scene, ...(await provoke(endpoint, scene, stage)) }
  }
}

it('every declared problem has a case, and every case is of a declared problem', () => {
  const declared = apiEndpoints.flatMap((endpoint) => declaredOf(endpoint).map((code) => `${endpoint.id}: ${code}`))
  expect(cases.map(({ endpoint, code }) => `${endpoint.id}: ${code}`).sort()).toEqual(declared.sort())
})

it('the document describes exactly the statuses of the declared problems', async () => {
  const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'))
  const described = Object.values(document.paths as Record<string, Record<string, Described>>).flatMap((item) =>
    Object.values(item).map(({ operationId, responses }) => [
      operationId,
      Object.keys(responses).filter((status) => Number(status) >= 400),
    ]),
  )
  expect(Object.fromEntries(described)).toEqual(
    Object.fromEntries(apiEndpoints.map((endpoint) => [endpoint.id, statusesOf(endpoint)])),
  )
})

interface Described {
  readonly operationId: string
  readonly responses: object
}

const statusesOf = (endpoint: Endpoint): string[] => {
  const statuses = declaredOf(endpoint).map((code) => String(statusOf(code)))
  // RFC 6749 §5.2 has its own errors: `tokens.test.ts`.
  return [...new Set([...statuses, ...(endpoint.failure ? ['401'] : [])])].sort()
}

describe.each(dialects.filter(({ skip }) => !skip))('problems on $dialect', ({ dialect }) => {
  let stage: Stage
  let others: FastifyInstance[]
  let recorded: RowChanges

  beforeAll(async () => {
    const tour = await walk(dialect)
    const { database, sealer } = tour.api
    await database.transaction((tx) =>
      tx
        .updateTable('hosts')
        .set({ datacenters: datacentersBut(tour.api.config, EMPTY_DATACENTER) })
        .execute(),
    )
    const budgets = openBudgets(nothingOf(controlBudgets(tour.api.config)))
    const settings = { STEAD_RATE_LIMIT: '1', STEAD_TOKEN_RATE_LIMIT: '1' }
    const strict = await apiOver(database, { settings, budgets }, sealer)
    const terms = controlBudgets(tour.api.config)
    const { passwordHashing } = nothingOf(terms)
    const busy = await apiOver(database, { budgets: openBudgets({ ...terms, passwordHashing }) }, sealer)
    stage = {
      tour,
      strict: strict.app,
      busy: busy.app,
      failing: strict.app,
      shared: await tour.scene(),
      failure: { error: undefined, ofReads: false },
    }
    const failing = await apiOver(throwing(database, stage), {}, sealer)
    stage = Object.assign(stage, { failing: failing.app })
    others = [strict.app, busy.app, failing.app]
    recorded = await recordRowChanges(database)
  })
  afterAll(async () => {
    for (const app of others) await app.close()
    await stage.tour.close()
  })

  /**
   * Returns what a refusal has to leave: the site of the scene, and work that was requested.
   */
  async function leftAlone({ siteId }: Provoked['scene']): Promise<unknown> {
    const { read } = stage.tour.api.database
    const { count } = read.fn
    // A preview before a change does not count as requested work.
    const looks = ['plugin.list', 'cms.look_for_releases']
    const work = read.selectFrom('operations').select(count('id').as('work')).where('type', 'not in', looks)
    return [await read.selectFrom('sites').selectAll().where('id', '=', siteId).execute(), await work.execute()]
  }

  /** Returns the tables with a row that came or went since the mark. Counting the keys does not count the request. */
  async function changedSince(mark: number, code: ProblemCode): Promise<string[]> {
    const byLooks = ['operations', 'operation_steps']
    // A wrong guess is counted, and too many of them are logged.
    const others = ['idempotency_keys', 'sign_in_attempts', ...(code === 'too_many_guesses' ? ['activity'] : [])]
    const found = (await recorded.since(mark)).filter(({ change }) => change !== 'update').map(({ table }) => table)
    return [...new Set(found)].filter((table) => ![...byLooks, ...others].includes(table))
  }

  const here =
    dialect === 'sqlite' ? [...cases.filter(({ isOwn }) => isOwn), ...commonOnes()] : cases.filter(({ isOwn }) => isOwn)
  it.each(here.map((each) => [statusOf(each.code), each.endpoint.id, each.code, each] as const))(
    '%i %s: %s',
    async (status, _id, code, { endpoint, provoke }) => {
      const { scene, request, app, after } = await provoke(stage)
      // Work that began and failed stays, with its log entry.
      const before = status < 500 && code !== 'site_cannot' ? await leftAlone(scene) : undefined
      const mark = await recorded.mark()
      try {
        const response = await stage.tour.send(endpoint, request, app)
        expect(problemOf(response), response.body).toBe(code)
        if (before) expect([await leftAlone(scene), await changedSince(mark, code)]).toEqual([before, []])
      } finally {
        await after?.()
      }
    },
  )
})

/**
 * Problems that the platform answers for all endpoints alike: tested on one endpoint of each shape, and on selected
 * ones.
 */
function commonOnes(): Case[] {
  return commonCases.flatMap(({ code }) => {
    const common = cases.filter((each) => !each.isOwn && each.code === code)
    const kept = oneOfEachShape(common.map(({ endpoint }) => endpoint))
    return common.filter(({ endpoint }) => kept.includes(endpoint))
  })
}

const datacentersBut = ({ datacenters }: Config, code: string): string =>
  datacenters
    .map((each) => each.code)
    .filter((each) => each !== code)
    .join()

const nothingOf = <Table extends Record<string, BudgetTerms>>(table: Table): Table =>
  Object.fromEntries(Object.entries(table).map(([name, terms]) => [name, { ...terms, each: 0 }])) as Table

/** A database that only throws the failure of the stage. */
function throwing(database: Database, stage: Stage): Database {
  return {
    ...database,
    get read(): Tx {
      if (stage.failure.ofReads) throw stage.failure.error
      return database.read
    },
    async transaction() {
      throw stage.failure.error
    },
  }
}
