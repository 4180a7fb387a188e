import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { commonTexts as texts } from '../texts/common.ts'

/** The browser's own dialog: it keeps the focus inside, and Escape closes it. */
export function Dialog(props: {
  readonly title: string
  readonly isWide?: boolean
  readonly children: ComponentChildren
  onClose(): void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class={props.isWide ? 'wide' : ''} onClose={props.onClose} aria-label={props.title}>
      <div class="row spread">
        <h2>{props.title}</h2>
        <button type="button" onClick={() => dialog.current?.close()} aria-label={texts.close}>
          {texts.cross}
        </button>
      </div>
      {props.children}
    </dialog>
  )
}
