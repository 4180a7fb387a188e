/** A few choices side by side. A click applies at once. */
export function Segment<Value extends string>(props: {
  readonly label: string
  /** The choices and their texts. */
  readonly options: Readonly<Partial<Record<Value, string>>>
  readonly value: Value
  set(to: Value): void
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a border and a legend
    <div class="segment" role="group" aria-label={props.label}>
      {(Object.entries(props.options) as [Value, string][]).map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.set(value)}>
          {text}
        </button>
      ))}
    </div>
  )
}
