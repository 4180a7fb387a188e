import { useId } from 'preact/hooks'

/** A choice that applies at once. */
export function Select<Value extends string>(props: {
  readonly label: string
  /** The choices and their texts. */
  readonly options: Readonly<Partial<Record<Value, string>>>
  readonly value: Value
  set(to: Value): void
}) {
  const id = useId()
  return (
    <p class="field">
      <label htmlFor={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={({ currentTarget }) => props.set(currentTarget.value as Value)}>
        {(Object.entries(props.options) as [Value, string][]).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </p>
  )
}
