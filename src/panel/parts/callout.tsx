import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

const marks = { info: 'info', warn: 'triangleAlert', bad: 'circleX' } as const

/** A note that stands out from the page. */
export const Callout = (props: { readonly kind?: keyof typeof marks; readonly children: ComponentChildren }) => (
  <div class={`callout ${props.kind ?? 'info'}`}>
    <Icon name={marks[props.kind ?? 'info']} />
    <div>{props.children}</div>
  </div>
)
