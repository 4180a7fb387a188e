import { useSignal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { useContext, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { commonTexts } from '../texts/common.ts'
import { formTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'
import { InDialog } from './dialog.tsx'
import { useDraft } from './draft.ts'
import { type Right, useRefusal } from './rights.tsx'

export interface Field {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'checkbox' | 'number' | 'url' | 'textarea'
  readonly autocomplete?: string
  readonly value?: string
  /** A choice: the value, or the value and its text. */
  readonly options?: readonly (string | readonly [value: string, label: string])[]
  readonly isOptional?: boolean
  readonly isChecked?: boolean
  /** Typing begins here, although other fields come first. */
  readonly isFirst?: boolean
  readonly hint?: string
  readonly placeholder?: string
}

export type Values = Readonly<Record<string, string>>

/** Fields and one button. When the API refuses the input, it stays, with the API's text beside it. */
export function Form(props: {
  readonly fields: readonly Field[]
  readonly button: string
  readonly class?: string
  readonly isBad?: boolean
  /** As for a button: the form is hidden without the right to the operation. */
  readonly of?: Right
  /** The form cannot be sent yet. */
  readonly isHeld?: boolean
  /** Clears the fields after success. */
  readonly isEmptied?: boolean
  /** The field confirms something, so its text is not restored after a reload. */
  readonly isForgotten?: boolean
  readonly children?: ComponentChildren
  submit(values: Values): Promise<unknown>
}) {
  const reason = useRefusal(props.of, props.button)
  const dialog = useContext(InDialog)
  useLayoutEffect(() => dialog?.focus(), [])
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const form = useRef<HTMLFormElement>(null)
  const draft = useDraft(
    form,
    props.isForgotten ? undefined : [props.button, ...props.fields.map(({ label }) => label)].join(' '),
    props.fields.map(({ options }) => options?.length).join(),
  )
  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    const sent = event.currentTarget as HTMLFormElement
    const data = new FormData(sent)
    isBusy.value = true
    fault.value = ''
    try {
      await props.submit(Object.fromEntries([...data].map(([name, value]) => [name, String(value)])))
      draft.forget()
      if (props.isEmptied) sent.reset()
    } catch (error) {
      fault.value = namedAs(messageOf(error), props.fields)
    } finally {
      isBusy.value = false
    }
  }
  if (reason !== undefined) return null
  return (
    <form ref={form} class={props.class} onSubmit={onSubmit} onInput={draft.keep} data-of={props.of}>
      {props.fields.map((field) => (
        <Input key={field.name} {...field} />
      ))}
      {props.children}
      <p class="fault" role="alert">
        {fault.value}
      </p>
      <Ends cancel={dialog?.cancel}>
        <button type="submit" class={props.isBad ? 'bad' : 'main'} disabled={isBusy.value || props.isHeld}>
          {props.button}
        </button>
      </Ends>
    </form>
  )
}

/** The API names what it refuses as programs do: `masks[1]: …`. People read the label of the field. */
const namedAs = (message: string, fields: readonly Field[]): string =>
  message.replace(/^(\w+)(?:\[(\d+)\])?(?=: )/gm, (given, name: string, index?: string) => {
    const label = fields.find((field) => field.name === name)?.label
    if (label === undefined) return given
    return index === undefined ? label : texts.entry(label, Number(index) + 1)
  })

/** The end of a form. In a dialog, it has a button that changes nothing. */
const Ends = ({ cancel, children }: { readonly cancel: (() => void) | undefined; readonly children: VNode }) =>
  cancel ? (
    <p class="row ends">
      <Button onClick={cancel}>{commonTexts.cancel}</Button>
      {children}
    </p>
  ) : (
    children
  )

function Input(field: Field) {
  const { name, label, type = 'text', autocomplete, value, options, isOptional } = field
  const id = useId()
  if (options)
    return (
      <p class="field">
        <label htmlFor={id}>{label}</label>
        <select name={name} id={id}>
          {options.map((each) => {
            const [sent, shown] = typeof each === 'string' ? [each, each] : each
            return (
              // The initial value only, so that a choice survives the next render.
              <option key={sent} value={sent} selected={sent === value}>
                {shown}
              </option>
            )
          })}
        </select>
      </p>
    )
  const hint = field.hint && `${id}-hint`
  if (type === 'checkbox')
    return (
      <label>
        <input type="checkbox" name={name} value="true" defaultChecked={field.isChecked} aria-describedby={hint} />{' '}
        {label}
        {hint && (
          <span id={hint} class="quiet small">
            {field.hint}
          </span>
        )}
      </label>
    )
  const rest = {
    name,
    id,
    autocomplete,
    defaultValue: value ?? '',
    required: !isOptional,
    placeholder: field.placeholder,
    'aria-describedby': hint,
    ...(field.isFirst && { autofocus: true }),
  }
  return (
    <p class="field">
      <label htmlFor={id}>{label}</label>
      {type === 'textarea' && <textarea rows={5} {...rest} />}
      {type === 'password' && <Password {...rest} />}
      {type === 'email' && <input type="email" {...rest} />}
      {type === 'number' && <input type="number" {...rest} />}
      {type === 'url' && <input type="url" {...rest} />}
      {type === 'text' && <input type="text" {...rest} />}
      {hint && (
        <span id={hint} class="quiet small">
          {field.hint}
        </span>
      )}
    </p>
  )
}

/** A secret to type, which the person may reveal. */
function Password(field: {
  readonly name: string
  readonly id: string
  readonly autocomplete: string | undefined
  readonly required: boolean
  readonly defaultValue: string
  readonly 'aria-describedby': string | undefined
}) {
  const isShown = useSignal(false)
  return (
    <span class="revealed">
      {/* The same element in both states: another one would lose the typed text. */}
      <input type={(isShown.value ? 'text' : 'password') as 'password'} data-secret spellcheck={false} {...field} />
      <Button
        isGhost
        isSmall
        icon={isShown.value ? 'eyeOff' : 'eye'}
        label={texts.reveal[`${isShown.value}`]}
        onClick={() => {
          isShown.value = !isShown.value
        }}
      />
    </span>
  )
}
