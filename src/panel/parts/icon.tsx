import { createElement } from 'preact'
import { type IconName, icons } from './icons.ts'

/** Draws an icon beside text. Screen readers skip it. */
export const Icon = ({ name, class: also = '' }: { readonly name: IconName; readonly class?: string }) => (
  <svg class={`icon ${also}`} viewBox="0 0 24 24" aria-hidden="true">
    {icons[name].map(([tag, attributes], at) => createElement(tag, { ...attributes, key: at }))}
  </svg>
)
