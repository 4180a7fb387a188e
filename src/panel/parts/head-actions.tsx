import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { createPortal } from 'preact/compat'

const slot = signal<HTMLElement | null>(null)

/** For the page around: where the actions of its part stand, beside its heading. */
export const setHeadSlot = (element: HTMLElement | null): void => {
  slot.value = element
}

/** Actions of a part of a page, beside the heading of the page. */
export const HeadActions = ({ children }: { readonly children: ComponentChildren }) =>
  slot.value ? createPortal(children, slot.value) : null
