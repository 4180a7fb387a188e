import { signal } from '@preact/signals'
import { askFirstTexts as texts } from '../texts/parts.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

export interface Question {
  readonly title: string
  /** The consequences, in a sentence or two. */
  readonly text: string
  readonly button: string
  /** The text to type before the button works. */
  readonly name?: string
  readonly label?: string
  go(): Promise<unknown>
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
  const { title, text, button, name, label } = question
  return (
    <Dialog title={title} onClose={withdraw}>
      <p>{text}</p>
      <Form
        fields={name === undefined ? [] : [{ name: 'typed', label: label ?? texts.type(name), autocomplete: 'off' }]}
        button={button}
        isBad
        isForgotten
        submit={async ({ typed }) => {
          if (name !== undefined && typed !== name) throw new Error(texts.wrong)
          await question.go()
          if (asked.peek() === question) withdraw()
        }}
      />
    </Dialog>
  )
}
