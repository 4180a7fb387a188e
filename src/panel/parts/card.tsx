import type { ComponentChildren } from 'preact'

/** A group on a page with its heading, and actions on all of it. */
export const Card = (props: {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly class?: string
  /** The content extends to the border, like a table with its own name. */
  readonly isFlush?: boolean
  readonly children: ComponentChildren
}) => (
  <section class={`card ${props.class ?? ''}`} aria-label={props.isFlush ? undefined : props.title}>
    <header>
      <h2>{props.title}</h2>
      {props.actions && <div class="right">{props.actions}</div>}
    </header>
    {props.isFlush ? props.children : <div class="body">{props.children}</div>}
  </section>
)
