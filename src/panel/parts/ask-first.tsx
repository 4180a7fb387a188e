import { signal } from '@preact/signals'
import { askFirstTexts as texts } from '../texts/parts.ts'
import { Dialog } from './dialog.tsx'
import { type Field, Form, type Values } from './form.tsx'

export interface Question {
  readonly title: string
  /** The consequences, in a sentence or two. */
  readonly text: string
  readonly button: string
  /** It destroys nothing, so its button has the color of other main buttons. */
  readonly isSafe?: boolean
  /** Choices, above the button. */
  readonly fields?: readonly Field[]
  /** The text to type before the button works. */
  readonly name?: string
  readonly label?: string
  go(values: Values): Promise<unknown>
}

const asked = signal<Question | undefined>(undefined)

/** Asks before something that cannot be undone. */
export const askFirst = (question: Question) => (): void => {
  asked.value = question
}

function withdraw(): void {
  asked.value = undefined
}
// The question belongs to a page that the person has left.
addEventListener('hashchange', withdraw)

/** The current question, over any page. */
export function AskFirst() {
  const question = asked.value
  if (!question) return null
  const { title, text, ...confirm } = question
  return (
    <Dialog title={title} describedBy="question" onClose={withdraw}>
      <p id="question">{text}</p>
      <Confirm
        {...confirm}
        go={async (values) => {
          await question.go(values)
          if (asked.peek() === question) withdraw()
        }}
      />
    </Dialog>
  )
}

/** The form of a question: a button that works once the person has typed a name. */
export function Confirm(props: {
  /** The text to type. */
  readonly name?: string | undefined
  /** Whether it is an email address. */
  readonly isEmail?: boolean
  readonly label?: string | undefined
  /** Input that the action needs, above the name. */
  readonly fields?: readonly Field[]
  readonly button: string
  readonly isSafe?: boolean | undefined
  go(values: Values): Promise<unknown>
}) {
  const { name, isEmail, label, fields = [], button, isSafe, go } = props
  const kind = isEmail ? 'email' : 'text'
  const typed = { name: 'typed', type: kind, autocomplete: 'off' } as const
  return (
    <Form
      fields={name === undefined ? fields : [...fields, { ...typed, label: label ?? texts.type(name) }]}
      button={button}
      isBad={!isSafe}
      isForgotten
      submit={async (values) => {
        if (name !== undefined && values.typed !== name) throw new Error(texts.wrong[kind])
        await go(values)
      }}
    />
  )
}
