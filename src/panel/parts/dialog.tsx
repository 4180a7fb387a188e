import { type ComponentChildren, createContext } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { commonTexts as texts } from '../texts/common.ts'
import { Around } from './draft.ts'

/** What a form needs of the dialog around it. */
export const InDialog = createContext<
  | {
      /** Closes it without an answer. Undefined if the question cannot be put off. */
      readonly cancel: (() => void) | undefined
      /** Gives the focus to a form that appears later, unless the person has moved on. */
      focus(): void
    }
  | undefined
>(undefined)

const shown = <Kind extends Element>(all: NodeListOf<Kind>): Kind[] =>
  [...all].filter((element) => element.checkVisibility() && !element.matches(':disabled'))

/** Where typing begins: the first field, else the button that changes nothing, else what follows the close button. */
function firstOf(dialog: HTMLElement): HTMLElement {
  const [field, ...fields] = shown(dialog.querySelectorAll<HTMLInputElement>('input, select, textarea'))
  const isChosen = ({ name, checked }: HTMLInputElement) => name === field?.name && checked
  return (
    dialog.querySelector<HTMLElement>('[autofocus]') ??
    (field?.type === 'radio' ? fields.find(isChosen) : undefined) ??
    field ??
    shown(dialog.querySelectorAll<HTMLElement>('.ends button'))[0] ??
    shown(dialog.querySelectorAll<HTMLElement>('button, a'))[1] ??
    dialog
  )
}

/** The browser's own dialog, which keeps the focus inside and closes on Escape. */
export function Dialog(props: {
  readonly title: string
  readonly isWide?: boolean
  /** The element that says what it is about. Screen readers read it with the title. */
  readonly describedBy?: string
  /** It stays until it is answered: Escape does not close it, and its form has no button for that. */
  readonly isFirm?: boolean
  readonly children: ComponentChildren
  onClose(): void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOver = useRef(false)
  const focused = useRef<HTMLElement>(undefined)
  const focus = () => {
    const opened = dialog.current
    if (!opened?.open || (focused.current && focused.current !== document.activeElement)) return
    focused.current = firstOf(opened)
    focused.current.focus()
  }
  // Opens before the first paint, so that key presses after the request go to the dialog and not to the page beneath.
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    focus()
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
  const around = { cancel: props.isFirm ? undefined : end, focus }
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      class={props.isWide ? 'wide' : ''}
      onCancel={(event) => {
        // The event of a file field bubbles up here as well.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        if (!props.isFirm) end()
      }}
      onClose={() => {
        // Browsers close a dialog at the second Escape, whatever the page says to the first.
        if (props.isFirm && !isOver.current) dialog.current?.showModal()
        else end()
      }}
      aria-label={props.title}
      aria-describedby={props.describedBy}
    >
      <div class="row spread">
        <h2>{props.title}</h2>
        <button type="button" onClick={end} aria-label={texts.close}>
          {texts.cross}
        </button>
      </div>
      <InDialog.Provider value={around}>
        <Around.Provider value={props.title}>{props.children}</Around.Provider>
      </InDialog.Provider>
    </dialog>
  )
}
