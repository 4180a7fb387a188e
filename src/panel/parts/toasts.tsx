import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { commonTexts as texts } from '../texts/common.ts'
import { Button } from './button.tsx'
import { ACT_MS, hold, lapseAfter, READ_MS } from './lapse.ts'
import { WorkState } from './progress.tsx'
import { dropWork, works } from './work.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isFault: boolean
  /** Undoes the reported action. */
  readonly undo?: (() => void) | undefined
}

const toasts = signal<readonly Toast[]>([])
let count = 0

function say(text: string, isFault: boolean, undo?: () => void): void {
  const toast = { id: ++count, text, isFault, undo }
  toasts.value = [...toasts.value, toast]
  // An error stays until the person closes it.
  if (!isFault) lapseAfter(undo ? ACT_MS : READ_MS, () => drop(toast.id))
}

const drop = (id: number): void => {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Reports an action, with an undo button if it can be undone. */
export const told = (text: string, undo?: () => void): void => say(text, false, undo)
export const failed = (error: unknown): void => say(messageOf(error), true)

/** Runs the action of a button, and reports its failure. */
export const attempt = (work: () => Promise<unknown>) => async (): Promise<void> => {
  await work().catch(failed)
}

/** Messages, and the operations that the person started, in the corner of every page. */
export function Toasts() {
  const isEmpty = works.value.length + toasts.value.length === 0
  useEffect(() => {
    const onHide = () => hold('hidden', document.hidden)
    document.addEventListener('visibilitychange', onHide)
    return () => document.removeEventListener('visibilitychange', onHide)
  }, [])
  // A message removed under the pointer, or with the focus in it, fires no leave event.
  useEffect(() => {
    if (!isEmpty) return
    hold('pointer', false)
    hold('focus', false)
  }, [isEmpty])
  return (
    <div
      class="toasts"
      role="status"
      aria-live="polite"
      onPointerEnter={() => hold('pointer', true)}
      onPointerLeave={() => hold('pointer', false)}
      onFocusIn={() => hold('focus', true)}
      onFocusOut={() => hold('focus', false)}
    >
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
