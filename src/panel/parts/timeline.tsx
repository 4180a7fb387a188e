import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'

export interface Happening {
  readonly key: number
  readonly icon: IconName
  readonly text: ComponentChildren
  /** The line below, such as the person, the site and the time. */
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
