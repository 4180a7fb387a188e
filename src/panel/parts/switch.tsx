import { switchTexts as texts } from '../texts/parts.ts'
import { type Right, useRefusal } from './rights.tsx'

/** A switch without a label, for a cell of a table. Without the right to change it, it only shows its state. */
export function Toggle(props: {
  readonly label: string
  readonly isOn: boolean
  readonly isDisabled?: boolean
  readonly of?: Right
  turn(isOn: boolean): void
}) {
  const reason = useRefusal(props.of, props.label)
  if (reason !== undefined) return <span class="badge">{texts[`${props.isOn}`]}</span>
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={props.isOn}
      aria-label={props.label}
      data-of={props.of}
      disabled={props.isDisabled}
      onClick={() => props.turn(!props.isOn)}
    />
  )
}

/** A setting that is on or off, with its effect. Without the right to change it, it only shows its state. */
export function Switch(props: {
  readonly label: string
  readonly help?: string
  readonly isOn: boolean
  readonly of?: Right
  turn(isOn: boolean): void
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
