import type { ComponentChildren } from 'preact'

/** A group of a page with its heading, and what can be done with all of it. */
export const Card = (props: {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly class?: string
  /** Its content reaches to the border, as a table does, which has a name of its own. */
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
