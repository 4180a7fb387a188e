import { api, ask } from '../api.ts'
import { proof } from '../session.ts'
import { proofTexts as texts } from '../texts/common.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

/** Asks for the password before what cannot be taken back; the request that it is for is then made again. */
export function ProofDialog() {
  const done = proof.value
  if (!done) return null
  return (
    <Dialog title={texts.title} onClose={() => done(false)}>
      <p class="quiet">{texts.why}</p>
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
