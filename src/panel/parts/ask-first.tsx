import type { ComponentChildren } from 'preact'
import { askFirstTexts as texts } from '../texts/parts.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

/** A question before what cannot be taken back. With a `name`, only who types it goes on. */
export const AskFirst = (props: {
  readonly title: string
  readonly button: string
  readonly name?: string
  readonly label?: string
  readonly children?: ComponentChildren
  onClose(): void
  go(): Promise<unknown>
}) => (
  <Dialog title={props.title} onClose={props.onClose}>
    {props.children}
    <Form
      fields={
        props.name === undefined
          ? []
          : [{ name: 'typed', label: props.label ?? texts.type(props.name), autocomplete: 'off' }]
      }
      button={props.button}
      isBad
      submit={async ({ typed }) => {
        if (props.name !== undefined && typed !== props.name) throw new Error(texts.wrong)
        await props.go()
        props.onClose()
      }}
    />
  </Dialog>
)
