import type { ComponentChildren } from 'preact'

export const Button = (props: {
  readonly children: ComponentChildren
  readonly isBad?: boolean
  readonly isMain?: boolean
  readonly isDisabled?: boolean
  /** For who does not see what stands beside it. */
  readonly label?: string
  onClick(): void
}) => (
  <button
    type="button"
    class={props.isBad ? 'bad' : props.isMain ? 'main' : ''}
    disabled={props.isDisabled}
    aria-label={props.label}
    onClick={props.onClick}
  >
    {props.children}
  </button>
)
