import { api, ask } from '../api.ts'
import { proof } from '../session.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

/** Asks for the password before what cannot be taken back; the request that it is for is then made again. */
export function ProofDialog() {
  const done = proof.value
  if (!done) return null
  return (
    <Dialog title="Show that it is you" onClose={() => done(false)}>
      <p class="quiet">Nothing asks again for 15 minutes.</p>
      <Form
        fields={[{ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }]}
        button="Go on"
        submit={async ({ password = '' }) => {
          await ask(() => api.POST('/v1/session/proof', { body: { password } }))
          done(true)
        }}
      />
    </Dialog>
  )
}
