import type { ComponentChildren } from 'preact'
import { changesTexts as texts } from '../texts/parts.ts'

const signs = { added: '+', changed: '~', deleted: '−', kept: '=', skipped: '!' } as const

/** A preview of what an action would add, change, delete, and keep. */
export const Changes = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <ul class="changes" aria-label={label}>
    {children}
  </ul>
)

export const Change = (props: {
  readonly kind: keyof typeof signs
  readonly children: ComponentChildren
  /** A line that opens to show which ones. */
  readonly details?: ComponentChildren
}) => (
  <li class={props.kind}>
    <span class="sign" aria-hidden="true">
      {signs[props.kind]}
    </span>
    <div>
      <span class="hidden">{texts[props.kind]}</span> {props.children}
      {props.details && (
        <details>
          <summary>{texts.details}</summary>
          {props.details}
        </details>
      )}
    </div>
  </li>
)
