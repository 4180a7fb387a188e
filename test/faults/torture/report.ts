export interface Report {
  /** What was tortured. */
  readonly title: string
  readonly seed: number
  /** How often each harm was done. */
  readonly counts: Readonly<Record<string, number>>
  /** Harms that are not possible on this machine or database, with the reason. */
  readonly skipped: readonly string[]
  readonly figures: Readonly<Record<string, number>>
  readonly answers: Readonly<Record<string, number>>
  readonly seconds: number
  /** What was lost, doubled, or wrong; empty when Stead kept its promises. */
  readonly faults: readonly string[]
}

/** Of one kind, so that many of it do not hide another. */
const MOST_SHOWN = 12

/** The check that found it, and the problem: `tags: lost`. */
const kindOf = (fault: string): string => fault.split(':', 2).join(':')

/** Formats the report for a terminal. */
export function reportText({ title, seed, counts, skipped, figures, answers, seconds, faults }: Report): string {
  const table = (rows: Readonly<Record<string, number>>) =>
    Object.entries(rows)
      .map(([what, count]) => `  ${String(count).padStart(8)}  ${what}`)
      .join('\n')
  return [
    `Torture of ${title}, seed ${seed}, ${Math.round(seconds)} s`,
    '',
    'Harm',
    table(counts),
    ...skipped.map((line) => `   skipped  ${line}`),
    '',
    'Load',
    table(figures),
    '',
    'Answers',
    table(answers),
    '',
    faults.length === 0 ? 'Nothing lost, nothing doubled.' : `${faults.length} faults:`,
    ...[...Map.groupBy(faults, kindOf)].flatMap(([kind, all]) => [
      ...all.slice(0, MOST_SHOWN).map((fault) => `  ${fault}`),
      ...(all.length > MOST_SHOWN ? [`  and ${all.length - MOST_SHOWN} more of “${kind}”`] : []),
    ]),
    '',
  ].join('\n')
}
