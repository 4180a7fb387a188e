import { useSignal } from '@preact/signals'
import { api, ask, Refusal } from '../api.ts'
import { Form, type Values } from '../parts/form.tsx'
import { go } from '../route.ts'
import { session } from '../session.ts'

async function open(): Promise<void> {
  session.value = (await ask(() => api.GET('/v1/session'))).data
}

const codeField = {
  name: 'code',
  label: 'Code of your authenticator app, or a recovery code',
  autocomplete: 'one-time-code',
}

/** Makes a request that may ask for a code as well: then its field is shown. */
function useCode() {
  const isAsked = useSignal(false)
  return {
    fields: isAsked.value ? [codeField] : [],
    async withCode(request: () => Promise<unknown>): Promise<void> {
      try {
        await request()
      } catch (error) {
        if (error instanceof Refusal && error.code === 'code_needed') isAsked.value = true
        throw error
      }
    },
  }
}

export function SignInPage() {
  const isLost = useSignal(false)
  const code = useCode()
  const signIn = ({ email = '', password = '', code: sent }: Values) =>
    code.withCode(async () => {
      await ask(() => api.POST('/v1/session', { body: { email, password, ...(sent && { code: sent }) } }))
      await open()
    })
  if (isLost.value) return <LostPage back={() => (isLost.value = false)} />
  return (
    <main class="narrow">
      <div class="sheet">
        <h1>Stead</h1>
        <Form
          fields={[
            { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' },
            { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
            ...code.fields,
          ]}
          button="Sign in"
          submit={signIn}
        />
        <p>
          <button type="button" onClick={() => (isLost.value = true)}>
            No password, or forgotten
          </button>
        </p>
      </div>
    </main>
  )
}

function LostPage({ back }: { back(): void }) {
  const isSent = useSignal(false)
  return (
    <main class="narrow">
      <div class="sheet">
        <h1>A new password</h1>
        {isSent.value ? (
          <p role="status">If the address has an account, a link is on its way to it. It works once, within an hour.</p>
        ) : (
          <Form
            fields={[{ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' }]}
            button="Send a link"
            submit={async ({ email = '' }) => {
              await ask(() => api.POST('/v1/password-links', { body: { email } }))
              isSent.value = true
            }}
          />
        )}
        <p class="quiet">
          Whoever runs this Stead can make one, too: <code>stead account link --email …</code>
        </p>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </main>
  )
}

export function SetPasswordPage({ token }: { readonly token: string }) {
  const code = useCode()
  const set = ({ password = '', code: sent }: Values) =>
    code.withCode(async () => {
      await ask(() => api.POST('/v1/password-links/use', { body: { token, password, ...(sent && { code: sent }) } }))
      await open()
      go('/sites')
    })
  return (
    <main class="narrow">
      <div class="sheet">
        <h1>Set a password</h1>
        <p class="quiet">At least ten characters. A sentence is easy to remember and hard to guess.</p>
        <Form
          fields={[
            { name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password' },
            ...code.fields,
          ]}
          button="Set it, and sign in"
          submit={set}
        />
      </div>
    </main>
  )
}
