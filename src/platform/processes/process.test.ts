import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { createApiMetrics } from '../http/api-metrics.ts'
import type { MetricReport } from '../metrics/part-metrics.ts'
import { forgetProcess, type ProcessReport, processReports, reportProcess } from './process.store.ts'

const told = (value: number, process: string): MetricReport => ({
  name: 'stead_told',
  help: 'What is told',
  type: 'gauge' as never,
  aggregator: 'sum',
  values: [{ labels: { process }, value }],
  collect: () => {},
})
const edge: ProcessReport = { id: 'edge-1', part: 'edge', metrics: [JSON.parse(JSON.stringify(told(1, 'edge-1')))] }
const NOW = 1_800_000_000_000

describe.each(dialects)('reports of processes on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeAll(async () => {
    if (!skip) made = await testDatabase(dialect)
  })
  afterAll(() => made?.drop())
  const report = (each: ProcessReport, now: number) => made.database.transaction((tx) => reportProcess(tx, each, now))
  const known = async (now: number) => (await processReports(made.database.read, now)).map(({ id }) => id)

  it.skipIf(skip)('are known until they are silent for a minute, or their time is in the future', async () => {
    await report(edge, NOW)
    await report({ ...edge, id: 'edge-2' }, NOW + 3_600_000)
    expect(await known(NOW + 59_000)).toEqual(['edge-1'])
    expect(await known(NOW + 61_000)).toEqual([])
    await report({ ...edge, metrics: [] }, NOW + 70_000)
    expect(await processReports(made.database.read, NOW + 70_000)).toEqual([{ ...edge, metrics: [] }])
  })

  it.skipIf(skip)('have no metrics if an older version wrote them', async () => {
    const row = { id: 'edge-0', part: 'edge', facts: '{"residentBytes":1}', seen_at: NOW + 3_700_000 }
    await made.database.transaction((tx) => tx.insertInto('processes').values(row).execute())
    const reports = await processReports(made.database.read, NOW + 3_700_000)
    expect(reports.find(({ id }) => id === 'edge-0')).toEqual({ id: 'edge-0', part: 'edge', metrics: [] })
    await made.database.transaction((tx) => forgetProcess(tx, 'edge-0', NOW + 70_000))
  })

  it.skipIf(skip)('are deleted with the process, along with those of dead ones', async () => {
    await report({ ...edge, id: 'edge-3' }, NOW + 70_000)
    await report({ ...edge, id: 'edge-4' }, NOW + 70_000)
    await made.database.transaction((tx) => forgetProcess(tx, 'edge-4', NOW + 70_000))
    const rows = await made.database.read.selectFrom('processes').select('id').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(['edge-1', 'edge-3'])
  })
})

it('/metrics: one heading for the metrics of several processes, without those that are unreachable', async () => {
  let others = async () => [told(1, 'edge-1'), told(2, 'edge-2')]
  const metrics = createApiMetrics([async () => [told(3, 'control-1')], () => others()])
  expect((await metrics.collect()).text).toContain(
    [
      '# HELP stead_told What is told',
      '# TYPE stead_told gauge',
      'stead_told{process="control-1"} 3',
      'stead_told{process="edge-1"} 1',
      'stead_told{process="edge-2"} 2',
    ].join('\n'),
  )
  others = async () => {
    throw new Error('no database')
  }
  const without = (await metrics.collect()).text
  expect(without).toContain('stead_told{process="control-1"} 3')
  expect(without).not.toContain('edge-1')
})
