import { createContext, type RefObject } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { person } from '../session.ts'

/** The title of the dialog around a form: those of two things ask for the same. */
export const Around = createContext('')

type Typed = Record<string, string | boolean>

/** Passwords and codes are kept nowhere. */
const mayStay = (field: Element): field is HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement =>
  (field instanceof HTMLInputElement &&
    !['password', 'file'].includes(field.type) &&
    // a password that is shown
    field.dataset.secret === undefined &&
    field.autocomplete !== 'one-time-code') ||
  field instanceof HTMLSelectElement ||
  field instanceof HTMLTextAreaElement

const fieldsOf = (form: HTMLFormElement) => [...form.elements].filter(mayStay).filter(({ name }) => name)

const isA = (type: string, field: Element): field is HTMLInputElement =>
  field instanceof HTMLInputElement && field.type === type

/**
 * What was typed into a form is there again when the page was loaded anew, in this tab alone, until it was taken or the form was left.
 * @param name what the form is for @param on what its fields depend on: those that come later are filled later
 * @returns `keep` for what was typed, `forget` for when it was taken
 */
export function useDraft(
  form: RefObject<HTMLFormElement | null>,
  name: string | undefined,
  on = '',
): { keep(): void; forget(): void } {
  const around = useContext(Around)
  // who else comes to this tab has typed nothing
  const { current: key } = useRef(`draft ${person.peek()?.account_id} ${location.hash} ${around} ${name}`)
  const forget = () => sessionStorage.removeItem(key)
  // before anybody can see the form, or type over it
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
        // what depends on the choice follows it
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
        // more than the browser has room for
      }
    },
    forget,
  }
}
