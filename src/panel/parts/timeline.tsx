import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'

export interface Happening {
  readonly key: number
  readonly icon: IconName
  readonly text: ComponentChildren
  /** Who, where and when, below. */
  readonly about: ComponentChildren
}

/** Events, one line each, newest first. */
export const Timeline = ({ of }: { readonly of: readonly Happening[] }) => (
  <ul class="timeline">
    {of.map(({ key, icon, text, about }) => (
      <li key={key}>
        <span class="mark">
          <Icon name={icon} />
        </span>
        <span>
          {text}
          <span class="quiet small row">{about}</span>
        </span>
      </li>
    ))}
  </ul>
)
