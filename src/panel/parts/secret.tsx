import { useSignal } from '@preact/signals'
import { secretTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** What is shown once, such as a new password. */
export function Secret(props: { readonly title: string; readonly value: string; onClose(): void }) {
  const isCopied = useSignal(false)
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{texts.once}</p>
      <p class="row">
        <code>{props.value}</code>
        <Button
          onClick={() =>
            void navigator.clipboard?.writeText(props.value).then(() => {
              isCopied.value = true
            })
          }
        >
          {isCopied.value ? texts.copied : texts.copy}
        </Button>
      </p>
    </Dialog>
  )
}
