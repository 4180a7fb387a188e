import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { api, ask, Refusal } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form, type Values } from '../parts/form.tsx'
import { attempt, Toasts } from '../parts/toasts.tsx'
import { hasPasskeys, newKeyByLink, usePasskey } from '../passkeys.ts'
import { go } from '../route.ts'
import { leave, person, session } from '../session.ts'
import { passkeysTexts, signInAgainTexts, signInTexts as texts } from '../texts/sign-in.ts'

async function open(): Promise<void> {
  const isAgain = person.peek() !== undefined
  session.value = (await ask(() => api.GET('/v1/session'))).data
  // The page takes the place of the form, so that screen readers and the keyboard continue there.
  if (!isAgain) setTimeout(() => document.querySelector<HTMLElement>('#main')?.focus())
}

const codeField = {
  name: 'code',
  label: texts.code,
  autocomplete: 'one-time-code',
}

/** Sends a request that may require a code as well, and then shows the field for it. */
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

const byPasskey = attempt(async () => {
  const credential = await usePasskey()
  await ask(() => api.POST('/v1/session/passkey', { body: { credential } }))
  await open()
})

const PasskeyButton = () =>
  hasPasskeys() ? (
    <button type="button" onClick={byPasskey}>
      {passkeysTexts.use}
    </button>
  ) : null

function SignInForm({ known }: { readonly known?: string }) {
  const code = useCode()
  const signIn = ({ email = '', password = '', code: sent }: Values) =>
    code.withCode(async () => {
      await ask(() => api.POST('/v1/session', { body: { email, password, ...(sent && { code: sent }) } }))
      await open()
    })
  return (
    <Form
      fields={[
        { name: 'email', label: texts.email, type: 'email', autocomplete: 'username', value: known ?? '' },
        {
          ...{ name: 'password', label: texts.password, autocomplete: 'current-password' },
          ...{ type: 'password', isFirst: known !== undefined },
        },
        ...code.fields,
      ]}
      button={texts.signIn}
      submit={signIn}
    />
  )
}

/** The sign-in form over the current page, after the session ended elsewhere. */
export const SignInAgain = ({ email }: { readonly email: string }) => (
  <Dialog isFirm title={signInAgainTexts.title} onClose={leave}>
    <p>{signInAgainTexts.why}</p>
    <SignInForm known={email} />
    <p>
      <PasskeyButton />
    </p>
  </Dialog>
)

export function SignInPage() {
  const isLost = useSignal(false)
  if (isLost.value) return <LostPage back={() => (isLost.value = false)} />
  return (
    <main class="narrow">
      <div class="sheet">
        <h1>{texts.title}</h1>
        <SignInForm />
        <p class="row">
          <PasskeyButton />
          <button type="button" onClick={() => (isLost.value = true)}>
            {texts.lost}
          </button>
        </p>
      </div>
      <Toasts />
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

interface LinkProps {
  readonly token: string
}

/** A link was accepted and began a session. */
async function enter(): Promise<void> {
  await open()
  // People who were invited to one site expect that site.
  const { data } = await ask(() => api.GET('/v1/sites', { params: { query: { paginate: true, per_page: 2 } } }))
  const [only] = data
  go(only && data.length === 1 ? `/sites/${only.id}` : '/sites')
}

function PasswordByLink({ token }: LinkProps) {
  const code = useCode()
  return (
    <Form
      fields={[
        { name: 'password', label: texts.newPassword, type: 'password', autocomplete: 'new-password' },
        ...code.fields,
      ]}
      button={texts.set}
      submit={({ password = '', code: sent }) =>
        code.withCode(async () => {
          await ask(() =>
            api.POST('/v1/password-links/use', { body: { token, password, ...(sent && { code: sent }) } }),
          )
          await enter()
        })
      }
    />
  )
}

function PasskeyByLink({ token }: LinkProps) {
  const code = useCode()
  // A passkey already replaces the second factor.
  const made = useRef<ReturnType<typeof newKeyByLink> | undefined>(undefined)
  return (
    <>
      <h2>{texts.orPasskey}</h2>
      <p class="quiet">{passkeysTexts.what}</p>
      <Form
        fields={[{ name: 'name', label: passkeysTexts.name, autocomplete: 'off' }, ...code.fields]}
        button={texts.addPasskey}
        submit={({ name = '', code: sent }) =>
          code.withCode(async () => {
            made.current ??= newKeyByLink(token)
            try {
              const credential = await made.current
              await ask(() =>
                api.POST('/v1/password-links/passkey', {
                  body: { token, name, credential, ...(sent && { code: sent }) },
                }),
              )
            } catch (error) {
              if (!(error instanceof Refusal && ['code_needed', 'wrong_code'].includes(error.code)))
                made.current = undefined
              throw error
            }
            await enter()
          })
        }
      />
    </>
  )
}

export const SetPasswordPage = ({ token, isInvited }: LinkProps & { readonly isInvited: boolean }) => (
  <main class="narrow">
    <div class="sheet">
      <h1>{isInvited ? texts.welcome : texts.setTitle}</h1>
      {isInvited && <p>{texts.invited}</p>}
      <p class="quiet">{texts.setAdvice}</p>
      <PasswordByLink token={token} />
      {hasPasskeys() && <PasskeyByLink token={token} />}
    </div>
  </main>
)
