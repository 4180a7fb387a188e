import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { createPortal } from 'preact/compat'

const slot = signal<HTMLElement | null>(null)

/** Provided by the surrounding page: the place beside its heading for the actions of its part. */
export const setHeadSlot = (element: HTMLElement | null): void => {
  slot.value = element
}

/** Actions of a part of a page, beside the heading of the page. */
export const HeadActions = ({ children }: { readonly children: ComponentChildren }) =>
  slot.value ? createPortal(children, slot.value) : null
