import { randomBytes } from 'node:crypto'
import { type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { type BudgetMetrics, type Budgets, figuresOf } from '../budgets/budget.ts'
import type { FreeRoom } from '../files/free-room.ts'
import { LongestPause } from './longest-pause.ts'
import { only, watch } from './watched.ts'

/** A metric with its values, as a process reports it. */
export type MetricReport = MetricObjectWithValues<MetricValue<string>>

/** The metrics of one process of Stead. Each has the labels `part` and `process`. */
export interface PartMetrics {
  /** A new id at each start, so that counters which restart are a new series: `edge-3f09c1`. */
  readonly id: string
  readonly part: string
  /** Each role adds its own metrics here. */
  readonly registry: Registry
}

interface Sources {
  readonly budgets: Budgets<string>
  readonly room: Pick<FreeRoom, 'freeBytes'>
}

/** Creates the metrics of every role: memory, budgets (`docs/design/limits.md`), the disk. */
export function createPartMetrics(part: string, { budgets, room }: Sources): PartMetrics {
  const id = `${part}-${randomBytes(6).toString('hex')}`
  const registry = new Registry()
  registry.setDefaultLabels({ part, process: id })
  watch(registry, { name: 'stead_process_resident_bytes', help: 'Memory of a Stead process', type: 'gauge' }, () =>
    only(process.memoryUsage.rss()),
  )
  watch(
    registry,
    { name: 'stead_disk_free_bytes', help: 'Free space on the disk of the data folder', type: 'gauge' },
    () => only(room.freeBytes),
  )
  const pause = new LongestPause()
  watch(
    registry,
    {
      name: 'stead_event_loop_longest_pause_seconds',
      help: 'Longest event loop delay of a process in the last one to two minutes',
      type: 'gauge',
    },
    () => only(pause.seconds),
  )
  for (const { name, help, type, of } of ofBudgets)
    watch(registry, { name: `stead_budget_${name}`, help, type, labels: ['budget'] }, () =>
      figuresOf(budgets).map((figures) => [{ budget: figures.name }, of(figures)]),
    )
  return { id, part, registry }
}

const ofBudgets: readonly {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  of(figures: BudgetMetrics): number
}[] = [
  {
    name: 'used',
    help: 'Used part of a budget, in bytes or items',
    type: 'gauge',
    of: ({ used }) => used,
  },
  { name: 'limit', help: 'Total limit of a budget', type: 'gauge', of: ({ limit }) => limit },
  {
    name: 'largest_share',
    help: 'Usage of the site, address or application that uses most',
    type: 'gauge',
    of: ({ largestShare }) => largestShare,
  },
  {
    name: 'share_limit',
    help: 'Limit for one site, address or application',
    type: 'gauge',
    of: ({ shareLimit }) => shareLimit,
  },
  {
    name: 'refusals_total',
    help: 'Number of requests that exceeded a budget',
    type: 'counter',
    of: ({ refusals }) => refusals,
  },
]
