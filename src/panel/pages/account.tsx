import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { session } from '../session.ts'
import { timeOf } from '../time.ts'

export const AccountPage = () => (
  <>
    <h1>Account</h1>
    <div class="columns">
      <Plan />
      <Password />
      <Authenticator />
    </div>
    <br />
    <Sessions />
    <Applications />
  </>
)

function Plan() {
  const account = useLoad(() => ask(() => api.GET('/v1/account')))
  const known = account.got.value?.data
  return (
    <section class="sheet">
      <h2>{session.value?.name}</h2>
      {known && (
        <dl>
          <dt>Address</dt>
          <dd>{session.value?.email}</dd>
          <dt>Sites</dt>
          <dd>
            {known.sitesCount} of {known.maxSites}
          </dd>
        </dl>
      )}
    </section>
  )
}

const Password = () => (
  <section class="sheet">
    <h2>Password</h2>
    <Form
      fields={[
        { name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password' },
        { name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password' },
      ]}
      button="Change it"
      submit={async ({ current = '', password = '' }) => {
        await ask(() => api.PUT('/v1/password', { body: { current_password: current, password } }))
        told('The password is changed. All other sessions have ended.')
      }}
    />
  </section>
)

function Authenticator() {
  const begun = useSignal<{ secret: string; uri: string } | undefined>(undefined)
  const codes = useSignal<readonly string[]>([])
  const reread = async () => {
    session.value = (await ask(() => api.GET('/v1/session'))).data
  }
  const isOn = session.value?.totp
  return (
    <section class="sheet">
      <h2>Authenticator app</h2>
      <p>
        {isOn ? `Its codes are asked for. ${session.value?.recovery_codes} recovery codes are left.` : 'Not set up.'}
      </p>
      {isOn ? (
        <button
          type="button"
          class="bad"
          onClick={attempt(async () => {
            await ask(() => api.DELETE('/v1/totp'))
            await reread()
          })}
        >
          Switch it off
        </button>
      ) : (
        <button
          type="button"
          onClick={attempt(async () => {
            begun.value = (await ask(() => api.POST('/v1/totp'))).data
          })}
        >
          Set it up
        </button>
      )}
      {begun.value && (
        <Dialog title="Set up an authenticator app" onClose={() => (begun.value = undefined)}>
          <p>
            Open <a href={begun.value.uri}>this link</a> on the device of the app, or type the secret into it:{' '}
            <code>{begun.value.secret}</code>
          </p>
          <Form
            fields={[{ name: 'code', label: 'The code that it shows', autocomplete: 'one-time-code' }]}
            button="Switch it on"
            submit={async ({ code = '' }) => {
              codes.value = (await ask(() => api.PUT('/v1/totp', { body: { code } }))).data.recovery_codes
              begun.value = undefined
              await reread()
            }}
          />
        </Dialog>
      )}
      {codes.value.length > 0 && (
        <Dialog title="Recovery codes" onClose={() => (codes.value = [])}>
          <p>Each works once in place of a code. They are shown this once: keep them where the device is not.</p>
          <ul>
            {codes.value.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </section>
  )
}

function Sessions() {
  const sessions = useLoad(() => ask(() => api.GET('/v1/sessions')))
  return (
    <section class="sheet">
      <h2>Sessions</h2>
      <List
        from={sessions}
        caption="Sessions"
        head={['Browser', 'From', 'Last used', 'Actions']}
        empty="None."
        row={(each) => [
          each.user_agent,
          each.ip_address,
          timeOf(each.seen_at),
          each.current ? (
            'this one'
          ) : (
            <button
              type="button"
              onClick={attempt(async () => {
                await ask(() => api.DELETE('/v1/sessions/{id}', { params: { path: { id: each.id } } }))
                await sessions.reload()
              })}
            >
              End it
            </button>
          ),
        ]}
      />
    </section>
  )
}

function Applications() {
  const applications = useLoad(() => ask(() => api.GET('/v1/applications')))
  const isMaking = useSignal(false)
  const made = useSignal<{ client_id: string; client_secret: string } | undefined>(undefined)
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>API applications</h2>
        <button type="button" onClick={() => (isMaking.value = true)}>
          New application
        </button>
      </div>
      <List
        from={applications}
        caption="API applications"
        head={['Name', 'Client id', 'Made', 'Actions']}
        empty="None. What this panel does, a program can do by the API."
        row={(each) => [
          `${each.name}${each.owner ? ' (owner)' : ''}`,
          <code>{each.client_id}</code>,
          timeOf(each.created_at),
          <button
            type="button"
            class="bad"
            onClick={attempt(async () => {
              await ask(() => api.DELETE('/v1/applications/{id}', { params: { path: { id: each.id } } }))
              await applications.reload()
            })}
          >
            Revoke
          </button>,
        ]}
      />
      {isMaking.value && (
        <Dialog title="New application" onClose={() => (isMaking.value = false)}>
          <Form
            fields={[
              { name: 'name', label: 'Name' },
              { name: 'owner', label: 'May do what only an account owner may', type: 'checkbox' },
            ]}
            button="Make it"
            submit={async ({ name = '', owner }) => {
              const body = { name, owner: owner === 'true' }
              made.value = (await ask(() => api.POST('/v1/applications', { body }))).data
              isMaking.value = false
              await applications.reload()
            }}
          />
        </Dialog>
      )}
      {made.value && (
        <Dialog title="Its keys" onClose={() => (made.value = undefined)}>
          <p>The secret is shown this once.</p>
          <dl>
            <dt>client_id</dt>
            <dd>
              <code>{made.value.client_id}</code>
            </dd>
            <dt>client_secret</dt>
            <dd>
              <code>{made.value.client_secret}</code>
            </dd>
          </dl>
        </Dialog>
      )}
    </section>
  )
}
