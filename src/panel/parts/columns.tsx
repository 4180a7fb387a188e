import { type Signal, signal } from '@preact/signals'
import { columnsTexts as texts } from '../texts/parts.ts'
import { Icon } from './icon.tsx'
import { Menu, MenuItem } from './menu.tsx'

const keyOf = (list: string): string => `stead-columns-${list}`

const lists = new Map<string, Signal<readonly string[]>>()

/** Headings of the columns that the person hid in a list, in this browser. */
export function hiddenColumns(list: string): Signal<readonly string[]> {
  const known = lists.get(list)
  if (known) return known
  const made = signal(read(list))
  lists.set(list, made)
  return made
}

function read(list: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(list)) ?? '[]')
    return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

function hide(list: string, hidden: readonly string[]): void {
  hiddenColumns(list).value = hidden
  if (hidden.length > 0) localStorage.setItem(keyOf(list), JSON.stringify(hidden))
  else localStorage.removeItem(keyOf(list))
}

/** A menu of the columns of a list: each can be hidden and shown. */
export function Columns(props: { readonly list: string; readonly heads: readonly string[]; readonly class?: string }) {
  const { list, heads } = props
  const hidden = hiddenColumns(list).value
  return (
    <Menu label={texts.title} class={props.class ?? 'ghost sm only-icon'} button={<Icon name="columns" />}>
      {heads.map((head) => (
        <MenuItem
          key={head}
          isTicked={!hidden.includes(head)}
          onClick={() => hide(list, hidden.includes(head) ? hidden.filter((each) => each !== head) : [...hidden, head])}
        >
          {head}
        </MenuItem>
      ))}
      {hidden.length > 0 && <MenuItem onClick={() => hide(list, [])}>{texts.all}</MenuItem>}
    </Menu>
  )
}
