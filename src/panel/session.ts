import { effect, signal } from '@preact/signals'
import type { paths } from '../sdk/api.generated.ts'

type Answered = paths['/v1/session']['get']['responses'][200]['content']['application/json']
export type CurrentSession = Answered['data']

/** The signed-in account: `null` if there is none, `undefined` while it is unknown. */
export const session = signal<CurrentSession | null | undefined>(undefined)

/** The last account that has not signed out. Its drafts stay on the page when the session ends elsewhere. */
export const person = signal<CurrentSession | undefined>(undefined)

effect(() => {
  if (session.value) person.value = session.value
})

export function leave(): void {
  // Drafts of forms.
  sessionStorage.clear()
  person.value = undefined
  session.value = null
}

/** Waits for the password. Resolves to whether it was confirmed. */
export const proof = signal<((shown: boolean) => void) | undefined>(undefined)

let asked: Promise<boolean> | undefined

/**
 * Opens the dialog for the password, once for all requests that wait for it.
 * @returns whether it was confirmed
 */
export function askForProof(): Promise<boolean> {
  asked ??= new Promise((resolve) => {
    proof.value = (shown) => {
      proof.value = undefined
      asked = undefined
      resolve(shown)
    }
  })
  return asked
}
