import type { ComponentChildren } from 'preact'
import type { Got, Page } from '../api.ts'
import { commonTexts as texts } from '../texts/common.ts'
import { Columns, hiddenColumns } from './columns.tsx'
import { SelectAllRows, type Selection, SelectRow } from './selection.tsx'
import { type SortColumn, sorted } from './sorted.ts'
import { ariaSort, choicesOf, SortHead, SortSelect, sortOf } from './sorting.tsx'

/** Shows the rows of a loaded list, a text without any, or why it could not be loaded. */
export function List<Row>(props: {
  readonly from: {
    readonly got: { readonly value: Pick<Got<readonly Row[]>, 'data'> | undefined }
    readonly fault: { readonly value: string }
  }
  readonly caption: string
  readonly head: readonly string[]
  readonly empty: ComponentChildren
  /** A class for the cells of each column: `wide`, `num`, `extra` (hidden on a phone). */
  readonly columns?: readonly string[]
  /** Headings only for screen readers, for columns that explain themselves. */
  readonly hiddenHeads?: readonly string[]
  /** On a phone, each row is a card. */
  readonly isCards?: boolean
  /** On a phone, each row is a card with its cells below each other. */
  readonly isStacked?: boolean
  isChosen?(row: Row): boolean
  /** Adds a column of checkboxes. */
  readonly selection?: Selection<Row>
  /** The columns that sort, in the order of the headings. */
  readonly sorts?: readonly (SortColumn<Row> | undefined)[]
  /** The name in the address, if a page has several lists. */
  readonly sortName?: string
  /** The person may hide columns. The browser stores the choice under this name. */
  readonly kept?: string
  /** The page has its own controls for order and columns. */
  readonly hasOwnTools?: boolean
  /** The columns that cannot be hidden, besides the first one and those with hidden headings. */
  readonly stays?: readonly string[]
  row(row: Row): readonly ComponentChildren[]
}) {
  const { got, fault } = props.from
  if (fault.value) return <p class="fault">{fault.value}</p>
  if (!got.value) return <Skeleton />
  const { sorts = [], sortName, kept, selection, hiddenHeads = [] } = props
  const rows = sorted(got.value.data, sorts, sortOf(sortName))
  if (rows.length === 0) return typeof props.empty === 'string' ? <p class="quiet">{props.empty}</p> : props.empty
  const free = kept === undefined ? [] : hideable(props)
  const hidden = kept === undefined ? [] : hiddenColumns(kept).value.filter((each) => free.includes(each))
  const isShown = (_: unknown, column: number) => !hidden.includes(props.head[column] ?? '')
  const columns = props.head.map((head, at) => ({ head, of: props.columns?.[at] || undefined, sort: sorts[at] }))
  const shown = columns.filter(isShown)
  const isChosen = (row: Row) => {
    const key = selection?.keyOf(row)
    return props.isChosen?.(row) || (key !== undefined && selection?.keys.value.has(key))
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
    <section class="scroll" tabIndex={0} aria-label={props.caption}>
      {sorts.length > 0 && rows.length > 1 && !props.hasOwnTools && (props.isCards || props.isStacked) && (
        <SortSelect class="only-phone" choices={choicesOf(sorts, props.head)} {...(sortName && { name: sortName })} />
      )}
      <table class={props.isStacked ? 'list stacked' : props.isCards ? 'list' : ''}>
        <thead>
          <tr>
            {selection && (
              <th scope="col">
                <SelectAllRows of={selection} rows={rows} />
              </th>
            )}
            {shown.map(({ head, of, sort }, at) => (
              <th key={head} scope="col" class={of} aria-sort={ariaSort(sort, sortName)}>
                {kept !== undefined && !props.hasOwnTools && at === shown.length - 1 ? (
                  <span class="row nowrap spread">
                    <Head text={head} isHidden={hiddenHeads.includes(head)} sort={sort} name={sortName} />
                    <Columns list={kept} heads={free} />
                  </span>
                ) : (
                  <Head text={head} isHidden={hiddenHeads.includes(head)} sort={sort} name={sortName} />
                )}
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
              {props
                .row(row)
                .filter(isShown)
                .map((cell, column) => (
                  <td key={shown[column]?.head} class={shown[column]?.of}>
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

interface HeadProps<Row> {
  readonly text: string
  readonly isHidden: boolean
  readonly sort: SortColumn<Row> | undefined
  readonly name: string | undefined
}

function Head<Row>({ text, isHidden, sort, name }: HeadProps<Row>) {
  if (sort) return <SortHead of={sort} text={text} {...(name && { name })} />
  return <span class={isHidden ? 'hidden' : undefined}>{text}</span>
}

/** Headings of the columns that a person can hide. */
function hideable(props: {
  readonly head: readonly string[]
  readonly hiddenHeads?: readonly string[]
  readonly stays?: readonly string[]
}): readonly string[] {
  const { head, hiddenHeads = [], stays = head.slice(0, 1) } = props
  return head.filter((each) => !hiddenHeads.includes(each) && !stays.includes(each))
}

const LINES = [1, 2, 3, 4, 5]

/** Shown while the list loads. */
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
