import { useId } from 'preact/hooks'
import { query, setQuery } from '../route.ts'
import { filtersTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'

export interface Filter {
  /** The name in the address. */
  readonly name: string
  readonly label: string
  /** The choices and their texts. Without them, the person types a text. */
  readonly options?: Readonly<Record<string, string>>
}

/** Returns the value of a filter from the address, or empty if it is not set. */
export const filterOf = (name: string): string => query.value.get(name) ?? ''

/** Where a list begins. See `CursorPages`. Another filter returns to the first page. */
export const PLACE = 'after'

/**
 * Filters of a list. They stay in the address, so that a link or a reload shows the same. Active ones are shown below
 * as chips.
 */
export function Filters({ of }: { readonly of: readonly Filter[] }) {
  const id = useId()
  const set = of.filter(({ name }) => filterOf(name) !== '')
  const change = (to: Readonly<Record<string, string>>) => setQuery({ ...to, [PLACE]: '' })
  return (
    <search class="filtering" aria-label={texts.filters}>
      <div class="filters">
        {of.map(({ name, label, options }) => (
          <p key={name} class="field">
            <label htmlFor={`${id} ${name}`}>{label}</label>
            {options ? (
              <select
                id={`${id} ${name}`}
                value={filterOf(name)}
                onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
              >
                <option value="">{texts.any}</option>
                {Object.entries(options).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            ) : (
              <input
                id={`${id} ${name}`}
                type="search"
                value={filterOf(name)}
                onChange={({ currentTarget }) => change({ [name]: currentTarget.value.trim() })}
              />
            )}
          </p>
        ))}
      </div>
      {set.length > 0 && (
        <p class="row chips">
          {set.map(({ name, label, options }) => {
            const chosen = texts.chip(label, options?.[filterOf(name)] ?? filterOf(name))
            return (
              <span key={name} class="badge accent chip">
                {chosen}
                <Button isGhost isSmall icon="x" label={texts.remove(chosen)} onClick={() => change({ [name]: '' })} />
              </span>
            )
          })}
          <Button isGhost isSmall onClick={() => change(Object.fromEntries(of.map(({ name }) => [name, ''])))}>
            {texts.clear}
          </Button>
        </p>
      )}
    </search>
  )
}
