import { signal } from '@preact/signals'
import { messageOf } from '../api.ts'
import { commonTexts as texts } from '../texts/common.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isFault: boolean
}

const toasts = signal<readonly Toast[]>([])
let count = 0
const SHOWN_MS = 8000

function say(text: string, isFault: boolean): void {
  const toast = { id: ++count, text, isFault }
  toasts.value = [...toasts.value, toast]
  // what went wrong stays until it was read
  if (!isFault) setTimeout(() => drop(toast.id), SHOWN_MS)
}

const drop = (id: number): void => {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

export const told = (text: string): void => say(text, false)
export const failed = (error: unknown): void => say(messageOf(error), true)

/** Does what a button is for, and says when it went wrong. */
export const attempt = (work: () => Promise<unknown>) => (): void => void work().catch(failed)

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isFault }) => (
        <div key={id} class="sheet row spread">
          <span class={isFault ? 'fault' : ''}>{text}</span>
          <button type="button" onClick={() => drop(id)} aria-label={texts.closeMessage}>
            {texts.cross}
          </button>
        </div>
      ))}
    </div>
  )
}
