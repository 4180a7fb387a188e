import { cpus, totalmem } from 'node:os'

/** One measured value, with its reference if there is one. */
export interface Figure {
  readonly what: string
  readonly value: string
  /** The reference, measured in the same run. */
  readonly yardstick?: string
  readonly ratio?: string
  readonly aim?: string
}

export interface Section {
  readonly title: string
  /** The setup, so that readers can judge the numbers. */
  readonly how: string
  readonly figures: readonly Figure[]
}

export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`

/** Formats a section as Markdown. */
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

/** Returns the value below which the share `p` of the values is (nearest rank). */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1))] as number
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)
