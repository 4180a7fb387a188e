/** How a column sorts the rows of a list. */
export interface SortColumn<Row> {
  /** The name in the address, and in the API unless there is `by`. */
  readonly key: string
  /** Sorts in the browser, only for lists that are loaded completely. */
  by?(row: Row): string | number | null
  /** The first click shows the largest or the newest first. */
  readonly isLargestFirst?: boolean
}

export interface Sort {
  readonly key: string
  readonly isDescending: boolean
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** Sorts rows. Equal ones keep their order, and those without a value come last in both directions. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly (SortColumn<Row> | undefined)[],
  sort: Sort | undefined,
): readonly Row[] {
  const by = columns.find((column) => column?.key === sort?.key)?.by
  if (!by || !sort) return rows
  const turn = sort.isDescending ? -1 : 1
  return rows
    .map((row) => ({ row, value: by(row) }))
    .toSorted(({ value: left }, { value: right }) => {
      if (left === null || right === null) return Number(left === null) - Number(right === null)
      if (typeof left === 'number' && typeof right === 'number') return turn * (left - right)
      return turn * collator.compare(String(left), String(right))
    })
    .map(({ row }) => row)
}
