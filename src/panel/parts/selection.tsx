import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { selectionTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'

/** Selected rows of a list, by their keys. */
export interface Selection<Row> {
  readonly keys: Signal<ReadonlySet<string>>
  /** A row without a key cannot be selected. */
  keyOf(row: Row): string | undefined
  /** The name of the row. */
  nameOf(row: Row): string
}

export function useSelection<Row>(of: Omit<Selection<Row>, 'keys'>): Selection<Row> {
  return { ...of, keys: useSignal<ReadonlySet<string>>(new Set()) }
}

function set({ keys }: Selection<never>, some: readonly string[], isSelected: boolean): void {
  const next = new Set(keys.value)
  for (const key of some) {
    if (isSelected) next.add(key)
    else next.delete(key)
  }
  keys.value = next
}

/** In the head of a list: selects all visible rows, or none. */
export function SelectAllRows<Row>({ of, rows }: { readonly of: Selection<Row>; readonly rows: readonly Row[] }) {
  const all = rows.flatMap((row) => of.keyOf(row) ?? [])
  const count = all.filter((key) => of.keys.value.has(key)).length
  return (
    <input
      type="checkbox"
      aria-label={texts.all}
      checked={count > 0 && count === all.length}
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && count < all.length
      }}
      onChange={({ currentTarget }) => set(of, all, currentTarget.checked)}
    />
  )
}

export function SelectRow<Row>({ of, row }: { readonly of: Selection<Row>; readonly row: Row }) {
  const key = of.keyOf(row)
  if (key === undefined) return null
  return (
    <label class="box">
      <input
        type="checkbox"
        aria-label={texts.one(of.nameOf(row))}
        checked={of.keys.value.has(key)}
        onChange={({ currentTarget }) => set(of, [key], currentTarget.checked)}
      />
    </label>
  )
}

/** Stays visible while something is selected, with the count and the actions. */
export function BulkBar(props: {
  readonly label: string
  readonly keys: Signal<ReadonlySet<string>>
  readonly children: ComponentChildren
}) {
  const { keys } = props
  if (keys.value.size === 0) return null
  return (
    <section class="bulk" aria-label={props.label}>
      <b>{texts.selected(keys.value.size)}</b>
      {props.children}
      <Button
        isGhost
        isSmall
        onClick={() => {
          keys.value = new Set()
        }}
      >
        {texts.clear}
      </Button>
    </section>
  )
}
