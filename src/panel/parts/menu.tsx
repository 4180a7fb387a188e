import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'
import { type Right, useRefusal } from './rights.tsx'

/** A button that opens a list of actions (the ARIA menu button pattern): arrow keys move, Escape closes. */
export function Menu(props: {
  readonly label: string
  /** The content of the button. Its accessible name is the label, unless `isNamedByButton`. */
  readonly button: ComponentChildren
  readonly isNamedByButton?: boolean
  /** A class of the button. */
  readonly class?: string
  /** As for a button: the menu is hidden without the right to the operation. */
  readonly of?: Right
  /** Opens upwards, at the lower edge of the window. */
  readonly isUp?: boolean
  onOpen?(): void
  readonly children: ComponentChildren
}) {
  const reason = useRefusal(props.of, props.label)
  const isOpen = useSignal(false)
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
  function close(isFocused = false): void {
    if (!isOpen.peek()) return
    isOpen.value = false
    if (isFocused) root.current?.querySelector('button')?.focus()
  }
  useLayoutEffect(() => {
    if (isOpen.value) items()[0]?.focus()
  }, [isOpen.value])
  useEffect(() => {
    if (!isOpen.value) return
    const elsewhere = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) close()
    }
    addEventListener('pointerdown', elsewhere)
    return () => removeEventListener('pointerdown', elsewhere)
  }, [isOpen.value])
  function onKeyDown(event: KeyboardEvent): void {
    if (!isOpen.value) return
    if (event.key === 'Escape') {
      event.stopPropagation()
      close(true)
    }
    if (event.key === 'Tab') close()
    const turn = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (turn === undefined) return
    event.preventDefault()
    const all = items()
    all[(all.indexOf(document.activeElement as HTMLElement) + turn + all.length) % all.length]?.focus()
  }
  if (reason !== undefined) return null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles the keys of its items
    <div ref={root} class={`menu ${props.isUp ? 'upward' : ''}`} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={props.class}
        data-of={props.of}
        data-tip={props.class?.includes('only-icon') && !isOpen.value ? props.label : undefined}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-controls={id}
        aria-label={props.isNamedByButton ? undefined : props.label}
        onClick={() => {
          isOpen.value = !isOpen.value
          if (isOpen.value) props.onOpen?.()
        }}
      >
        {props.button}
      </button>
      {/* It exists while closed too: the panel's search finds its actions. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the items are buttons and links */}
      <div
        id={id}
        role="menu"
        tabIndex={-1}
        aria-label={props.label}
        class="arrives"
        hidden={!isOpen.value}
        onClick={({ target }) => {
          if (!(target as Element).closest('[role=menuitemcheckbox]')) close(true)
        }}
      >
        {props.children}
      </div>
    </div>
  )
}

export function MenuItem(props: {
  readonly children: ComponentChildren
  readonly icon?: IconName
  readonly isBad?: boolean
  /** Whether this one of several choices is active. */
  readonly isChosen?: boolean
  /** A toggle of something shown or hidden. The menu stays open. */
  readonly isTicked?: boolean
  readonly of?: Right
  /** A page of the panel, instead of an action. */
  readonly to?: string
  /** `to` is a file. */
  readonly isDownload?: boolean
  onClick?(): void
}) {
  const reason = useRefusal(props.of, typeof props.children === 'string' ? props.children : '')
  if (reason !== undefined) return null
  const content = (
    <>
      {props.icon && <Icon name={props.icon} />}
      {props.children}
      {(props.isChosen || props.isTicked) && <Icon name="check" class="checked" />}
    </>
  )
  if (props.to !== undefined)
    return (
      <a role="menuitem" href={props.to} download={props.isDownload}>
        {content}
      </a>
    )
  const choice =
    props.isTicked !== undefined
      ? { role: 'menuitemcheckbox', 'aria-checked': props.isTicked }
      : props.isChosen !== undefined
        ? { role: 'menuitemradio', 'aria-checked': props.isChosen }
        : {}
  return (
    <button
      type="button"
      role="menuitem"
      {...(choice as object)}
      class={props.isBad ? 'bad' : ''}
      data-of={props.of}
      onClick={props.onClick}
    >
      {content}
    </button>
  )
}
