import { api, ask } from '../api.ts'
import { hasPasskeys, usePasskey } from '../passkeys.ts'
import { proof, session } from '../session.ts'
import { proofTexts as texts } from '../texts/common.ts'
import { passkeysTexts } from '../texts/sign-in.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { attempt } from './toasts.tsx'

/** Asks for the password before an action that cannot be undone. The request is then sent again. */
export function ProofDialog() {
  const done = proof.value
  if (!done) return null
  return (
    <Dialog title={texts.title} onClose={() => done(false)}>
      <p class="quiet">{texts.why}</p>
      {session.value && session.value.passkeys > 0 && hasPasskeys() && (
        <button
          type="button"
          onClick={attempt(async () => {
            const credential = await usePasskey()
            await ask(() => api.POST('/v1/session/proof/passkey', { body: { credential } }))
            done(true)
          })}
        >
          {passkeysTexts.prove}
        </button>
      )}
      <Form
        fields={[{ name: 'password', label: texts.password, type: 'password', autocomplete: 'current-password' }]}
        button={texts.goOn}
        submit={async ({ password = '' }) => {
          await ask(() => api.POST('/v1/session/proof', { body: { password } }))
          done(true)
        }}
      />
    </Dialog>
  )
}
