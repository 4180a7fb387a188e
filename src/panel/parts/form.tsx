import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { messageOf } from '../api.ts'

interface Field {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'checkbox'
  readonly autocomplete?: string
  readonly value?: string
  readonly options?: readonly string[]
  readonly isOptional?: boolean
}

export type Values = Readonly<Record<string, string>>

/** Fields and one button. What was typed stays when the API refuses it, with its words beside. */
export function Form(props: {
  readonly fields: readonly Field[]
  readonly button: string
  readonly isBad?: boolean
  readonly children?: ComponentChildren
  submit(values: Values): Promise<unknown>
}) {
  const fault = useSignal('')
  const isBusy = useSignal(false)
  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    isBusy.value = true
    fault.value = ''
    try {
      await props.submit(Object.fromEntries([...data].map(([name, value]) => [name, String(value)])))
    } catch (error) {
      fault.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form onSubmit={onSubmit}>
      {props.fields.map((field) => (
        <Input key={field.name} {...field} />
      ))}
      {props.children}
      <p class="fault" role="alert">
        {fault.value}
      </p>
      <button type="submit" class={props.isBad ? 'bad' : 'main'} disabled={isBusy.value}>
        {props.button}
      </button>
    </form>
  )
}

function Input({ name, label, type = 'text', autocomplete, value, options, isOptional }: Field) {
  if (options)
    return (
      <label>
        <span>{label}</span>
        <select name={name} value={value ?? options[0]}>
          {options.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
    )
  if (type === 'checkbox')
    return (
      <label>
        <input type="checkbox" name={name} value="true" /> {label}
      </label>
    )
  const rest = { name, id: name, autocomplete, defaultValue: value ?? '', required: !isOptional }
  return (
    <p class="field">
      <label htmlFor={name}>{label}</label>
      {type === 'password' && <input type="password" {...rest} />}
      {type === 'email' && <input type="email" {...rest} />}
      {type === 'text' && <input type="text" {...rest} />}
    </p>
  )
}
