import { signal } from '@preact/signals'
import { messageOf } from '../api.ts'
import { commonTexts as texts } from '../texts/common.ts'
import { Button } from './button.tsx'
import { WorkState } from './progress.tsx'
import { dropWork, works } from './work.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isFault: boolean
  /** Takes back what was said. */
  readonly undo?: (() => void) | undefined
}

const toasts = signal<readonly Toast[]>([])
let count = 0
const SHOWN_MS = 8000

function say(text: string, isFault: boolean, undo?: () => void): void {
  const toast = { id: ++count, text, isFault, undo }
  toasts.value = [...toasts.value, toast]
  // an error stays until it was read
  if (!isFault) setTimeout(() => drop(toast.id), SHOWN_MS)
}

const drop = (id: number): void => {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Says what was done, with a button that takes it back where that can be. */
export const told = (text: string, undo?: () => void): void => say(text, false, undo)
export const failed = (error: unknown): void => say(messageOf(error), true)

/** Does what a button is for, and says when it failed. */
export const attempt = (work: () => Promise<unknown>) => (): void => void work().catch(failed)

/** Messages, and the operations that the person has started, in the corner of every page. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {works.value.map(({ id, about, operation }) => (
        <div key={`work ${id}`} class="toast arrives">
          <div class="row">
            <div>
              <WorkState about={about} operation={operation} />
            </div>
            <Button isGhost isSmall icon="x" label={texts.closeMessage} onClick={() => dropWork(id)} />
          </div>
        </div>
      ))}
      {toasts.value.map(({ id, text, isFault, undo }) => (
        <div key={id} class="toast arrives">
          <div class="row">
            <span class={isFault ? 'fault' : ''}>{text}</span>
            {undo && (
              <Button
                isSmall
                onClick={() => {
                  drop(id)
                  undo()
                }}
              >
                {texts.undo}
              </Button>
            )}
            <Button isGhost isSmall icon="x" label={texts.closeMessage} onClick={() => drop(id)} />
          </div>
        </div>
      ))}
    </div>
  )
}
