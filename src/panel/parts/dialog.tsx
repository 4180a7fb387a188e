import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { commonTexts as texts } from '../texts/common.ts'
import { Around } from './draft.ts'

/** The browser's own dialog, which keeps the focus inside and closes on Escape. */
export function Dialog(props: {
  readonly title: string
  readonly isWide?: boolean
  /** The element that says what it is about. Screen readers read it with the title. */
  readonly describedBy?: string
  readonly children: ComponentChildren
  onClose(): void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOver = useRef(false)
  // Opens before the first paint, so that key presses after the request go to the dialog and not to the page beneath.
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    return () => {
      // Another dialog may take its place, and must give the focus back to the same element.
      isOver.current = true
      opened?.close()
    }
  }, [])
  /** Closes at once. The browser reports a closed dialog a moment later, when the next one may already be open. */
  function end(): void {
    if (isOver.current) return
    isOver.current = true
    dialog.current?.close()
    props.onClose()
  }
  return (
    <dialog
      ref={dialog}
      class={props.isWide ? 'wide' : ''}
      onCancel={(event) => {
        // The event of a file field bubbles up here as well.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        end()
      }}
      onClose={end}
      aria-label={props.title}
      aria-describedby={props.describedBy}
    >
      <div class="row spread">
        <h2>{props.title}</h2>
        <button type="button" onClick={end} aria-label={texts.close}>
          {texts.cross}
        </button>
      </div>
      <Around.Provider value={props.title}>{props.children}</Around.Provider>
    </dialog>
  )
}
