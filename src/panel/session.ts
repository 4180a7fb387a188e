import { effect, signal } from '@preact/signals'
import type { paths } from '../sdk/api.generated.ts'

type Answered = paths['/v1/session']['get']['responses'][200]['content']['application/json']
export type CurrentSession = Answered['data']

/** Who is signed in; `null`: nobody; `undefined`: not known yet. */
export const session = signal<CurrentSession | null | undefined>(undefined)

/** Who was signed in last, and has not signed out: what he typed stays on the page when the session ends elsewhere. */
export const person = signal<CurrentSession | undefined>(undefined)

effect(() => {
  if (session.value) person.value = session.value
})

export function leave(): void {
  // what was typed into forms
  sessionStorage.clear()
  person.value = undefined
  session.value = null
}

/** Somebody waits for the password: ends with whether it was shown. */
export const proof = signal<((shown: boolean) => void) | undefined>(undefined)

let asked: Promise<boolean> | undefined

/** Opens the dialog that asks for the password, once for all who wait for it. @returns whether it was shown */
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
