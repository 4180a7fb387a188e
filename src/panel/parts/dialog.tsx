import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { commonTexts as texts } from '../texts/common.ts'
import { Around } from './draft.ts'

/** The browser's own dialog: it keeps the focus inside, and Escape closes it. */
export function Dialog(props: {
  readonly title: string
  readonly isWide?: boolean
  readonly children: ComponentChildren
  onClose(): void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOver = useRef(false)
  // with its first drawing: what is pressed after it was asked for goes to it, and not to the page beneath
  useLayoutEffect(() => dialog.current?.showModal(), [])
  /** At once: the browser tells of a dialog that was closed a moment later, when the next one may have been opened already. */
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
        // the one of a field for files comes up to here as well
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        end()
      }}
      onClose={end}
      aria-label={props.title}
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
