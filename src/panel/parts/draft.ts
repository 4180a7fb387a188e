import { createContext, type RefObject } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { person } from '../session.ts'

/** The title of the dialog around a form. Forms for two subjects can have the same fields. */
export const Around = createContext('')

type Typed = Record<string, string | boolean>

/** Passwords and codes are never stored. */
const mayStay = (field: Element): field is HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement =>
  (field instanceof HTMLInputElement &&
    !['password', 'file'].includes(field.type) &&
    // A password that is visible.
    field.dataset.secret === undefined &&
    field.autocomplete !== 'one-time-code') ||
  field instanceof HTMLSelectElement ||
  field instanceof HTMLTextAreaElement

const fieldsOf = (form: HTMLFormElement) => [...form.elements].filter(mayStay).filter(({ name }) => name)

const isA = (type: string, field: Element): field is HTMLInputElement =>
  field instanceof HTMLInputElement && field.type === type

/**
 * Restores the text typed into a form after the page was reloaded, only in this tab, until the form was accepted or
 * left.
 * @param name the purpose of the form
 * @param on what its fields depend on: those that appear later are filled later
 * @returns `keep` for typed text, `forget` for an accepted form
 */
export function useDraft(
  form: RefObject<HTMLFormElement | null>,
  name: string | undefined,
  on = '',
): { keep(): void; forget(): void } {
  const around = useContext(Around)
  // Another person in this tab has typed nothing.
  const { current: key } = useRef(`draft ${person.peek()?.account_id} ${location.hash} ${around} ${name}`)
  const forget = () => sessionStorage.removeItem(key)
  // Before the form is visible and can be typed into.
  useLayoutEffect(() => {
    const kept = name === undefined ? null : sessionStorage.getItem(key)
    if (kept === null || !form.current) return
    const typed = JSON.parse(kept) as Typed
    for (const field of fieldsOf(form.current)) {
      const value = typed[field.name]
      if (isA('checkbox', field)) field.checked = value === true
      else if (isA('radio', field)) {
        if (field.value !== value || field.checked) continue
        field.checked = true
        // Fields that depend on the choice follow it.
        field.dispatchEvent(new Event('change', { bubbles: true }))
      } else if (typeof value === 'string') field.value = value
    }
  }, [on])
  useLayoutEffect(() => forget, [])
  return {
    keep() {
      if (name === undefined || !form.current) return
      const typed: Typed = {}
      for (const field of fieldsOf(form.current)) {
        if (isA('radio', field) && !field.checked) continue
        typed[field.name] = isA('checkbox', field) ? field.checked : field.value
      }
      try {
        sessionStorage.setItem(key, JSON.stringify(typed))
      } catch {
        // The text exceeds the browser's storage.
      }
    },
    forget,
  }
}
