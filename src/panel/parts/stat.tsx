import type { ComponentChildren } from 'preact'

/** One number of a dashboard. */
export const Stat = (props: {
  readonly label: string
  readonly value: ComponentChildren
  /** Beside the value, smaller. */
  readonly note?: string | undefined
  readonly children?: ComponentChildren
  /** Its width. */
  readonly class?: string
}) => (
  <section class={`card stat ${props.class ?? 's3'}`} aria-label={props.label}>
    <div class="label">{props.label}</div>
    <div class="value">
      {props.value} {props.note && <small>{props.note}</small>}
    </div>
    {props.children}
  </section>
)
