import type { ComponentChildren } from 'preact'

/** A short text with a tooltip that says more, for pointer, keyboard and screen readers. */
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
