import type { ComponentChildren } from 'preact'
import { stepTexts as texts } from '../texts/parts.ts'
import { Icon } from './icon.tsx'

const marks = { done: 'check', now: 'arrowRight', todo: 'clock', failed: 'x' } as const

export type StepState = keyof typeof marks

/** A checklist of what is done, what comes next, and what waits for it. */
export const Steps = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <ol class="steps" aria-label={label}>
    {children}
  </ol>
)

export const Step = (props: {
  readonly state: StepState
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <li class={props.state} aria-current={props.state === 'now' ? 'step' : undefined}>
    <span class="mark">
      <Icon name={marks[props.state]} />
    </span>
    <div>
      <b>
        {props.title} <span class="hidden">{texts[props.state]}</span>
      </b>
      {props.children}
    </div>
  </li>
)
