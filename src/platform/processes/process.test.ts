import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { createApiMetrics } from '../http/metrics.ts'
import { forgetProcess, type ProcessReport, processReports, reportProcess } from './process.store.ts'

const budget = { name: 'pages_bytes', used: 7, limit: 100, largestShare: 5, shareLimit: 50, refusals: 2 }
const edge: ProcessReport = { id: 'edge-1', part: 'edge', residentBytes: 1000, budgets: [budget] }
const NOW = 1_800_000_000_000

describe.each(dialects)('what processes say of themselves on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeAll(async () => {
    if (!skip) made = await testDatabase(dialect)
  })
  afterAll(() => made?.drop())
  const report = (each: ProcessReport, now: number) => made.database.transaction((tx) => reportProcess(tx, each, now))
  const known = async (now: number) => (await processReports(made.database.read, now)).map(({ id }) => id)

  it.skipIf(skip)('is known until they are silent for a minute, or their time is one to come', async () => {
    await report(edge, NOW)
    await report({ ...edge, id: 'edge-2' }, NOW + 3_600_000)
    expect(await known(NOW + 59_000)).toEqual(['edge-1'])
    expect(await known(NOW + 61_000)).toEqual([])
    await report({ ...edge, residentBytes: 2000 }, NOW + 70_000)
    expect(await processReports(made.database.read, NOW + 70_000)).toEqual([{ ...edge, residentBytes: 2000 }])
  })

  it.skipIf(skip)('goes with the process, and what others left behind with it', async () => {
    await report({ ...edge, id: 'edge-3' }, NOW + 70_000)
    await report({ ...edge, id: 'edge-4' }, NOW + 70_000)
    await made.database.transaction((tx) => forgetProcess(tx, 'edge-4', NOW + 70_000))
    const rows = await made.database.read.selectFrom('processes').select('id').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(['edge-1', 'edge-3'])
  })
})

it('/metrics shows the budgets of all processes, and those of its own when the others cannot be asked', async () => {
  let others = async (): Promise<ProcessReport[]> => [edge]
  const own: ProcessReport = { ...edge, id: 'control-1', part: 'control' }
  const metrics = createApiMetrics(
    () => [own],
    () => others(),
  )
  const labels = '{part="edge",process="edge-1",budget="pages_bytes"}'
  const { text } = await metrics.collect()
  for (const [name, value] of [
    ['used', 7],
    ['limit', 100],
    ['largest_share', 5],
    ['share_limit', 50],
    ['refusals', 2],
  ])
    expect(text).toContain(`stead_budget_${name}${labels} ${value}\n`)
  expect(text).toContain('stead_process_resident_bytes{part="edge",process="edge-1"} 1000')
  others = async () => {
    throw new Error('no database')
  }
  const without = (await metrics.collect()).text
  expect(without).toContain('stead_budget_used{part="control",process="control-1",budget="pages_bytes"} 7\n')
  expect(without).not.toContain('edge-1')
})
