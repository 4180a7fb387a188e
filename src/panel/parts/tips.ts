/**
 * Tooltips as WCAG 1.4.13 requires: the pointer, the keyboard, or a long press opens them, they stay under the pointer,
 * and Escape closes them. Screen readers skip them, because they read the same text in the page.
 */

/** Elements whose name is only for screen readers have its text in `data-tip`. */
const NAMED = '[data-tip]'
/** Parts of the focused element whose texts may be cut off. */
const GROUPS = '.who, .copy'

const HOVER_MS = 400
const PRESS_MS = 500
/** The distance between a tip and the edge of the window. */
const EDGE_PX = 8

let tip: HTMLElement | undefined
/** The element of the open tip. */
let shown: Element | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let isPressed = false

const isCut = (element: Element): boolean =>
  element.scrollWidth > element.clientWidth && getComputedStyle(element).textOverflow === 'ellipsis'

/** Returns the element at this place that has a tip, from the inside out. */
function subjectAt(target: EventTarget | null): Element | undefined {
  for (let at = target instanceof Element ? target : null; at && at !== document.body; at = at.parentElement)
    if (at.matches(NAMED) || isCut(at)) return at
  return undefined
}

const wordsOf = (element: Element): string =>
  (element instanceof HTMLElement && element.dataset.tip) || (element.textContent ?? '').trim()

/** Returns texts that are cut off around a focused element, and cannot take the focus themselves. */
const cutAround = (element: Element): string[] =>
  [element, ...(element.closest(GROUPS) ?? element).querySelectorAll('*')].filter(isCut).map(wordsOf)

function hide(): void {
  clearTimeout(timer)
  shown = undefined
  tip?.remove()
}

function show(about: Element, text: string): void {
  hide()
  if (!text || !about.isConnected) return
  tip ??= Object.assign(document.createElement('div'), { className: 'tip', popover: 'manual', ariaHidden: 'true' })
  tip.replaceChildren(Object.assign(document.createElement('span'), { textContent: text }))
  // The page behind an open dialog does not react to the pointer.
  const around = about.closest('dialog') ?? document.body
  around.append(tip)
  tip.showPopover()
  const at = about.getBoundingClientRect()
  const { width, height } = tip.getBoundingClientRect()
  const left = Math.min(at.left + (at.width - width) / 2, innerWidth - width - EDGE_PX)
  const isBelow = at.bottom + height <= innerHeight
  Object.assign(tip.style, {
    left: `${Math.max(EDGE_PX, left)}px`,
    top: `${isBelow ? at.bottom : Math.max(0, at.top - height)}px`,
  })
  shown = about
}

function showSoon(about: Element, ms: number, then?: () => void): void {
  clearTimeout(timer)
  timer = setTimeout(() => {
    show(about, wordsOf(about))
    then?.()
  }, ms)
}

function onPointerOver({ target, pointerType }: PointerEvent): void {
  if (pointerType === 'touch' || (target instanceof Node && tip?.contains(target))) return
  const about = subjectAt(target)
  if (about === shown && about) return
  hide()
  if (about) showSoon(about, HOVER_MS)
}

function onFocusIn({ target }: FocusEvent): void {
  if (!(target instanceof Element) || !target.matches(':focus-visible')) return
  const named = target.closest(NAMED)
  const words = [...new Set([...(named ? [wordsOf(named)] : []), ...cutAround(target)])]
  if (words.length > 0) show(target, words.join('\n'))
}

function onPointerDown({ target, pointerType }: PointerEvent): void {
  hide()
  isPressed = false
  const about = pointerType === 'touch' ? subjectAt(target) : undefined
  if (!about) return
  showSoon(about, PRESS_MS, () => {
    isPressed = true
  })
}

/** A short press runs the action. A long press shows the tip. */
function onPointerUp({ pointerType }: PointerEvent): void {
  if (pointerType === 'touch' && !isPressed) clearTimeout(timer)
}

function onClick(event: MouseEvent): void {
  hide()
  if (!isPressed) return
  isPressed = false
  event.preventDefault()
  event.stopPropagation()
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || !shown) return
  hide()
  // A dialog or menu beneath it stays open.
  event.preventDefault()
  event.stopPropagation()
}

/** Starts showing tooltips for the whole page. */
export function listenForTips(): void {
  const all = { capture: true } as const
  addEventListener('pointerover', onPointerOver, all)
  addEventListener('pointerdown', onPointerDown, all)
  addEventListener('pointerup', onPointerUp, all)
  addEventListener('pointercancel', hide, all)
  addEventListener('contextmenu', (event) => isPressed && event.preventDefault(), all)
  addEventListener('click', onClick, all)
  addEventListener('focusin', onFocusIn, all)
  addEventListener('focusout', hide, all)
  addEventListener('keydown', onKeyDown, all)
  addEventListener('scroll', hide, all)
  addEventListener('hashchange', hide)
}
