import { setQuery } from '../route.ts'
import { sortTexts as texts } from '../texts/parts.ts'
import { filterOf, PLACE } from './filters.tsx'
import { Icon } from './icon.tsx'
import type { Sort, SortColumn } from './sorted.ts'

/** The name in the address, if a page has several lists. */
export const SORT = 'sort'

/** The order of a list, from the address. */
export function sortOf(name = SORT): Sort | undefined {
  const [, minus, key] = /^(-?)(\w+)$/.exec(filterOf(name)) ?? []
  return key ? { key, isDescending: minus === '-' } : undefined
}

const textOf = ({ key, isDescending }: Sort): string => (isDescending ? `-${key}` : key)

/** A newly sorted list begins at its first page. */
export const sortBy = (sort: Sort | undefined, name = SORT): void =>
  setQuery({ [name]: sort ? textOf(sort) : '', [PLACE]: '' })

/** Returns the effect of a click on a column's heading: its order, then the other direction, then none. */
function nextSort({ key, isLargestFirst = false }: SortColumn<never>, now: Sort | undefined): Sort | undefined {
  if (now?.key !== key) return { key, isDescending: isLargestFirst }
  return now.isDescending === isLargestFirst ? { key, isDescending: !isLargestFirst } : undefined
}

/** The heading of a column, as a button that sorts by it. */
export function SortHead<Row>(props: { readonly of: SortColumn<Row>; readonly text: string; readonly name?: string }) {
  const { of, text, name } = props
  const now = sortOf(name)
  const isOn = now?.key === of.key
  return (
    <button type="button" class={`sort ${isOn ? 'on' : ''}`} onClick={() => sortBy(nextSort(of, now), name)}>
      {text}
      <Icon name="arrowUp" class={isOn && now.isDescending ? 'down' : ''} />
    </button>
  )
}

/** The value of a heading's `aria-sort`. */
export function ariaSort(of: SortColumn<never> | undefined, name?: string): 'ascending' | 'descending' | undefined {
  const now = sortOf(name)
  if (!of || now?.key !== of.key) return undefined
  return now.isDescending ? 'descending' : 'ascending'
}

export interface SortChoice {
  readonly sort: Sort
  readonly text: string
}

/** The orders of columns, by their headings. */
export const choicesOf = (columns: readonly (SortColumn<never> | undefined)[], head: readonly string[]): SortChoice[] =>
  columns.flatMap((column, at) => {
    if (!column) return []
    const first = { key: column.key, isDescending: column.isLargestFirst ?? false }
    return [first, { ...first, isDescending: !first.isDescending }].map((sort) => ({
      sort,
      text: texts.by(head[at] ?? '', sort.isDescending),
    }))
  })

/** The same for a phone, which shows no headings. */
export function SortSelect(props: {
  readonly choices: readonly SortChoice[]
  readonly name?: string
  readonly class?: string
  /** The default order of the list. */
  readonly usual?: string
}) {
  const now = sortOf(props.name)
  return (
    <label class={`sorting ${props.class ?? ''}`}>
      <span>{texts.sort}</span>
      <select
        value={now ? textOf(now) : ''}
        onChange={({ currentTarget: { value } }) =>
          sortBy(props.choices.find(({ sort }) => textOf(sort) === value)?.sort, props.name)
        }
      >
        <option value="">{props.usual ?? texts.usual}</option>
        {props.choices.map(({ sort, text }) => (
          <option key={textOf(sort)} value={textOf(sort)}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
