import type { ComponentChildren } from 'preact'
import type { Got, Page } from '../api.ts'
import { commonTexts as texts } from '../texts/common.ts'
import { SelectAll, type Selection, SelectRow } from './selection.tsx'

/** Rows of something that was read, what stands there without any, and why it cannot be read. */
export function List<Row>(props: {
  readonly from: {
    readonly got: { readonly value: Pick<Got<readonly Row[]>, 'data'> | undefined }
    readonly fault: { readonly value: string }
  }
  readonly caption: string
  readonly head: readonly string[]
  readonly empty: ComponentChildren
  /** A class for the cells of each column: `wide`, `num`, `extra` (left out on a phone). */
  readonly columns?: readonly string[]
  /** Heads for screen readers alone: their columns explain themselves. */
  readonly hiddenHeads?: readonly string[]
  /** On a phone each row is a card. */
  readonly isCards?: boolean
  /** On a phone each row is a card with its cells below each other. */
  readonly isStacked?: boolean
  isChosen?(row: Row): boolean
  /** Adds a column of checkboxes. */
  readonly selection?: Selection<Row>
  row(row: Row): readonly ComponentChildren[]
}) {
  const { got, fault } = props.from
  if (fault.value) return <p class="fault">{fault.value}</p>
  if (!got.value) return <Skeleton />
  const rows = got.value.data
  if (rows.length === 0) return typeof props.empty === 'string' ? <p class="quiet">{props.empty}</p> : props.empty
  const classOf = (column: number) => props.columns?.[column] || undefined
  const { selection } = props
  const isChosen = (row: Row) => {
    const key = selection?.keyOf(row)
    return props.isChosen?.(row) || (key !== undefined && selection?.keys.value.has(key))
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard
    <section class="scroll" tabIndex={0} aria-label={props.caption}>
      <table class={props.isStacked ? 'list stacked' : props.isCards ? 'list' : ''}>
        <thead>
          <tr>
            {selection && (
              <th scope="col">
                <SelectAll of={selection} rows={rows} />
              </th>
            )}
            {props.head.map((each, column) => (
              <th key={each} scope="col" class={classOf(column)}>
                {props.hiddenHeads?.includes(each) ? <span class="hidden">{each}</span> : each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at} class={isChosen(row) ? 'chosen' : undefined}>
              {selection && (
                <td class="pick">
                  <SelectRow of={selection} row={row} />
                </td>
              )}
              {props.row(row).map((cell, column) => (
                <td key={props.head[column]} class={classOf(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const LINES = [1, 2, 3, 4, 5]

/** In the place of what is being read. */
export const Skeleton = () => (
  <div class="sheet">
    <span class="hidden">{texts.reading}</span>
    {LINES.map((line) => (
      <p key={line}>
        <span class="skeleton row" />
      </p>
    ))}
  </div>
)

export function Pages(props: { readonly page: Page | undefined; turn(page: number): void }) {
  const { page } = props
  if (!page || page.lastPage < 2) return null
  return (
    <nav class="row pager" aria-label={texts.turning}>
      <button type="button" disabled={page.currentPage === 1} onClick={() => props.turn(page.currentPage - 1)}>
        {texts.back}
      </button>
      <span>{texts.pageOf(page.currentPage, page.lastPage)}</span>
      <button
        type="button"
        disabled={page.currentPage >= page.lastPage}
        onClick={() => props.turn(page.currentPage + 1)}
      >
        {texts.next}
      </button>
    </nav>
  )
}
