import type { ComponentChildren } from 'preact'
import type { Got, Page } from '../api.ts'
import { commonTexts as texts } from '../texts/common.ts'

/** Rows of something that was read, what stands there without any, and why it cannot be read. */
export function List<Row>(props: {
  readonly from: {
    readonly got: { readonly value: Pick<Got<readonly Row[]>, 'data'> | undefined }
    readonly fault: { readonly value: string }
  }
  readonly caption: string
  readonly head: readonly string[]
  readonly empty: string
  row(row: Row): readonly ComponentChildren[]
}) {
  const { got, fault } = props.from
  if (fault.value) return <p class="fault">{fault.value}</p>
  if (!got.value) return <p class="quiet">{texts.reading}</p>
  const rows = got.value.data
  if (rows.length === 0) return <p class="quiet">{props.empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard
    <section class="scroll" tabIndex={0} aria-label={props.caption}>
      <table>
        <thead>
          <tr>
            {props.head.map((each) => (
              <th key={each} scope="col">
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {props.row(row).map((cell, column) => (
                <td key={props.head[column]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

export function Pages(props: { readonly page: Page | undefined; turn(page: number): void }) {
  const { page } = props
  if (!page || page.lastPage < 2) return null
  return (
    <nav class="row" aria-label={texts.turning}>
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
