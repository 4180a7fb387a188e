import { switchTexts as texts } from '../texts/parts.ts'
import { type Right, useRefusal } from './rights.tsx'

/** A setting that is on or off, with what it does. Without the right to change it, it shows its state only. */
export function Switch(props: {
  readonly label: string
  readonly help?: string
  readonly isOn: boolean
  readonly of?: Right
  turn(isOn: boolean): void
}) {
  const reason = useRefusal(props.of, props.label)
  return (
    <div class="rowline">
      <div>
        {props.label}
        {props.help && <p class="quiet small">{props.help}</p>}
      </div>
      {reason === undefined ? (
        <button
          type="button"
          role="switch"
          class="switch"
          aria-checked={props.isOn}
          aria-label={props.label}
          data-of={props.of}
          onClick={() => props.turn(!props.isOn)}
        />
      ) : (
        <span class="badge">{texts[`${props.isOn}`]}</span>
      )}
    </div>
  )
}
