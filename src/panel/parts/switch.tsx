import { useSignal } from '@preact/signals'
import { switchTexts as texts } from '../texts/parts.ts'
import { type Right, useRefusal } from './rights.tsx'

/**
 * A switch without a label, for a cell of a table. Without the right to change it, it only shows its state. It turns at
 * once, and turns back if the change is refused.
 */
export function Toggle(props: {
  readonly label: string
  readonly isOn: boolean
  readonly isDisabled?: boolean
  readonly of?: Right
  /** Resolves once `isOn` is true to the answer. */
  turn(isOn: boolean): void | Promise<void>
}) {
  const wanted = useSignal<boolean | undefined>(undefined)
  const isOn = wanted.value ?? props.isOn
  const reason = useRefusal(props.of, props.label)
  if (reason !== undefined) return <span class="badge">{texts[`${props.isOn}`]}</span>
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={isOn}
      aria-label={props.label}
      data-of={props.of}
      disabled={props.isDisabled}
      onClick={async () => {
        // The answer to the first press decides.
        if (wanted.value !== undefined) return
        wanted.value = !isOn
        await props.turn(!isOn)
        wanted.value = undefined
      }}
    />
  )
}

/** A setting that is on or off, with its effect. Without the right to change it, it only shows its state. */
export function Switch(props: {
  readonly label: string
  readonly help?: string
  readonly isOn: boolean
  readonly of?: Right
  turn(isOn: boolean): void | Promise<void>
}) {
  return (
    <div class="rowline">
      <div>
        {props.label}
        {props.help && <p class="quiet small">{props.help}</p>}
      </div>
      <Toggle label={props.label} isOn={props.isOn} {...(props.of && { of: props.of })} turn={props.turn} />
    </div>
  )
}
