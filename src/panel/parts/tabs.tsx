import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { setQuery } from '../route.ts'
import { filterOf } from './filters.tsx'

/**
 * Views of one page, one at a time (the ARIA tabs pattern). The address names the view, and arrow keys move between
 * them.
 */
export function Tabs<Name extends string>(props: {
  readonly label: string
  /** Keys and texts, in order. The first one is shown unless the address names another. */
  readonly tabs: Readonly<Record<Name, string>>
  /** The name in the address. */
  readonly name?: string
  /** Parameters of one tab, removed from the address when the tab changes. */
  readonly clears?: readonly string[]
  /** Shown beside the tabs. */
  readonly actions?: ComponentChildren
  children(shown: Name): ComponentChildren
}) {
  const { tabs, name = 'tab' } = props
  const names = Object.keys(tabs) as Name[]
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const shown = names.find((each) => each === filterOf(name)) ?? (names[0] as Name)
  // On a phone they scroll, and the selected one may be outside the screen.
  useLayoutEffect(() => {
    const row = list.current
    const tab = row?.querySelector<HTMLElement>('[aria-selected=true]')
    if (row && tab) row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2
  }, [shown])
  const show = (to: Name) =>
    setQuery({
      ...Object.fromEntries((props.clears ?? []).map((each) => [each, ''])),
      [name]: to === names[0] ? '' : to,
    })
  function onKeyDown(event: KeyboardEvent): void {
    const at = names.indexOf(shown)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = (to + names.length) % names.length
    show(names[next] as Name)
    list.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    <>
      <div class="tabs">
        <div ref={list} class="row nowrap" role="tablist" aria-label={props.label} tabIndex={-1} onKeyDown={onKeyDown}>
          {names.map((each) => (
            <button
              key={each}
              id={`${id}-${each}`}
              type="button"
              role="tab"
              aria-selected={each === shown}
              aria-controls={`${id}-panel`}
              tabIndex={each === shown ? 0 : -1}
              onClick={() => show(each)}
            >
              {tabs[each]}
            </button>
          ))}
        </div>
        {props.actions}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${shown}`}>
        {props.children(shown)}
      </div>
    </>
  )
}
