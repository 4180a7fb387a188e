import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'
import { type Right, useRefusal } from './rights.tsx'

export function Button(props: {
  readonly children?: ComponentChildren
  readonly icon?: IconName
  readonly isBad?: boolean
  readonly isMain?: boolean
  /** Without a border until the pointer is over it. */
  readonly isGhost?: boolean
  readonly isSmall?: boolean
  readonly isDisabled?: boolean
  /** The accessible name, if the text is not enough. An icon needs one. */
  readonly label?: string
  /** The API operation that it runs. The button is hidden without the right to it on the page's site. */
  readonly of?: Right
  /** Why it is disabled, if the reason is the subject itself. */
  readonly refusal?: string | null
  onClick(): void
}) {
  const { children, label, icon } = props
  const reason = useRefusal(props.of, label ?? (typeof children === 'string' ? children : ''), props.refusal)
  if (reason !== undefined) return null
  const kind = props.isBad ? 'bad' : props.isMain ? 'main' : props.isGhost ? 'ghost' : ''
  return (
    <button
      type="button"
      class={`${kind} ${props.isSmall ? 'sm' : ''} ${children === undefined ? 'only-icon' : ''}`.trim()}
      disabled={props.isDisabled}
      aria-label={label}
      data-tip={children === undefined ? label : undefined}
      data-of={props.of}
      onClick={props.onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}
