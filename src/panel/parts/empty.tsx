import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'

/** Replaces an empty list: what belongs here, and how to begin. */
export const Empty = (props: {
  readonly icon: IconName
  readonly title: string
  readonly text?: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <div class="mark">
      <Icon name={props.icon} />
    </div>
    <h2>{props.title}</h2>
    {props.text && <p>{props.text}</p>}
    {props.children}
  </div>
)
