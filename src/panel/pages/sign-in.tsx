import { useSignal } from '@preact/signals'
import { api, ask, Refusal } from '../api.ts'
import { Form, type Values } from '../parts/form.tsx'
import { go } from '../route.ts'
import { session } from '../session.ts'
import { signInTexts as texts } from '../texts/sign-in.ts'

async function open(): Promise<void> {
  session.value = (await ask(() => api.GET('/v1/session'))).data
}

const codeField = {
  name: 'code',
  label: texts.code,
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
        <h1>{texts.title}</h1>
        <Form
          fields={[
            { name: 'email', label: texts.email, type: 'email', autocomplete: 'username' },
            { name: 'password', label: texts.password, type: 'password', autocomplete: 'current-password' },
            ...code.fields,
          ]}
          button={texts.signIn}
          submit={signIn}
        />
        <p>
          <button type="button" onClick={() => (isLost.value = true)}>
            {texts.lost}
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
        <h1>{texts.lostTitle}</h1>
        {isSent.value ? (
          <p role="status">{texts.sent}</p>
        ) : (
          <Form
            fields={[{ name: 'email', label: texts.email, type: 'email', autocomplete: 'username' }]}
            button={texts.sendLink}
            submit={async ({ email = '' }) => {
              await ask(() => api.POST('/v1/password-links', { body: { email } }))
              isSent.value = true
            }}
          />
        )}
        <p class="quiet">
          {texts.operatorCan} <code>{texts.operatorCommand}</code>
        </p>
        <button type="button" onClick={back}>
          {texts.back}
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
        <h1>{texts.setTitle}</h1>
        <p class="quiet">{texts.setAdvice}</p>
        <Form
          fields={[
            { name: 'password', label: texts.newPassword, type: 'password', autocomplete: 'new-password' },
            ...code.fields,
          ]}
          button={texts.set}
          submit={set}
        />
      </div>
    </main>
  )
}
