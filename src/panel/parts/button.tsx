import type { ComponentChildren } from 'preact'
import { type Right, useRefusal } from './rights.tsx'

export function Button(props: {
  readonly children: ComponentChildren
  readonly isBad?: boolean
  readonly isMain?: boolean
  readonly isDisabled?: boolean
  /** For who does not see what stands beside it. */
  readonly label?: string
  /** The operation that it is for: who may not do it with the site of the page has no such button. */
  readonly of?: Right
  /** Why it may not be done, where what it is about says so itself. */
  readonly refusal?: string | null
  onClick(): void
}) {
  const { children, label } = props
  const reason = useRefusal(props.of, label ?? (typeof children === 'string' ? children : ''), props.refusal)
  if (reason !== undefined) return null
  return (
    <button
      type="button"
      class={props.isBad ? 'bad' : props.isMain ? 'main' : ''}
      disabled={props.isDisabled}
      aria-label={label}
      data-of={props.of}
      onClick={props.onClick}
    >
      {children}
    </button>
  )
}
