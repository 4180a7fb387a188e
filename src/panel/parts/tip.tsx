import type { ComponentChildren } from 'preact'

/** Something short with more to say: in a tooltip, for the pointer and the keyboard, and to screen readers. */
export const Tip = (props: {
  readonly text: string
  readonly class?: string
  readonly children: ComponentChildren
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has no other way to read it
  <span class={props.class} tabIndex={0} data-tip={props.text}>
    <span>{props.children}</span>
    <span class="hidden">: {props.text}</span>
  </span>
)
