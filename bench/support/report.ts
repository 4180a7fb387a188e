import { cpus, totalmem } from 'node:os'

/** One measured figure, beside its yardstick where there is one. */
export interface Figure {
  readonly what: string
  readonly value: string
  /** What it is compared with, measured in the same run. */
  readonly yardstick?: string
  readonly ratio?: string
  readonly aim?: string
}

export interface Section {
  readonly title: string
  /** What was done, so that anybody can judge the figures. */
  readonly how: string
  readonly figures: readonly Figure[]
}

export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`

/** A section as Markdown. */
export function sectionText({ title, how, figures }: Section): string {
  const rows = figures.map(
    ({ what, value, yardstick = '', ratio = '', aim = '' }) =>
      `| ${[what, value, yardstick, ratio, aim].join(' | ')} |`,
  )
  return [
    `## ${title}`,
    '',
    how,
    '',
    '| Measured | Stead | Reference | Ratio | Goal |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** The value below which the share `p` of the values lies (nearest rank). */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1))] as number
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)
