import { signal } from '@preact/signals'
import type { paths } from '../sdk/api.generated.ts'

type Answered = paths['/v1/session']['get']['responses'][200]['content']['application/json']
export type CurrentSession = Answered['data']

/** Who is signed in; `null`: nobody; `undefined`: not known yet. */
export const session = signal<CurrentSession | null | undefined>(undefined)

/** Somebody waits for the password: ends with whether it was shown. */
export const proof = signal<((shown: boolean) => void) | undefined>(undefined)

/** Opens the dialog that asks for the password. @returns whether it was shown */
export function askForProof(): Promise<boolean> {
  return new Promise((resolve) => {
    proof.value = (shown) => {
      proof.value = undefined
      resolve(shown)
    }
  })
}
