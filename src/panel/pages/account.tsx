import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { showSecret } from '../parts/secret.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { session } from '../session.ts'
import { accountTexts as texts } from '../texts/account.ts'
import { timeOf } from '../time.ts'
import { Passkeys } from './account-passkeys.tsx'

export const AccountPage = () => (
  <>
    <h1>{texts.title}</h1>
    <div class="columns">
      <Plan />
      <Password />
      <Authenticator />
    </div>
    <br />
    <Passkeys />
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
          <dt>{texts.address}</dt>
          <dd>{session.value?.email}</dd>
          <dt>{texts.sites}</dt>
          <dd>{texts.sitesOf(known.sitesCount, known.maxSites)}</dd>
        </dl>
      )}
    </section>
  )
}

const Password = () => (
  <section class="sheet">
    <h2>{texts.password}</h2>
    <Form
      fields={[
        { name: 'current', label: texts.currentPassword, type: 'password', autocomplete: 'current-password' },
        { name: 'password', label: texts.newPassword, type: 'password', autocomplete: 'new-password' },
      ]}
      button={texts.changePassword}
      submit={async ({ current = '', password = '' }) => {
        await ask(() => api.PUT('/v1/password', { body: { current_password: current, password } }))
        told(texts.passwordChanged)
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
      <h2>{texts.app}</h2>
      <p>{isOn ? texts.appIsOn(session.value?.recovery_codes ?? 0) : texts.appIsOff}</p>
      {isOn ? (
        <button
          type="button"
          class="bad"
          onClick={attempt(async () => {
            await ask(() => api.DELETE('/v1/totp'))
            await reread()
          })}
        >
          {texts.switchAppOff}
        </button>
      ) : (
        <button
          type="button"
          onClick={attempt(async () => {
            begun.value = (await ask(() => api.POST('/v1/totp'))).data
          })}
        >
          {texts.setAppUp}
        </button>
      )}
      {begun.value && (
        <Dialog title={texts.setUpTitle} onClose={() => (begun.value = undefined)}>
          <p>
            {texts.open} <a href={begun.value.uri}>{texts.thisLink}</a> {texts.orType} <code>{begun.value.secret}</code>
          </p>
          <Form
            fields={[{ name: 'code', label: texts.shownCode, autocomplete: 'one-time-code' }]}
            button={texts.switchAppOn}
            submit={async ({ code = '' }) => {
              codes.value = (await ask(() => api.PUT('/v1/totp', { body: { code } }))).data.recovery_codes
              begun.value = undefined
              await reread()
            }}
          />
        </Dialog>
      )}
      {codes.value.length > 0 && (
        <Dialog title={texts.codesTitle} onClose={() => (codes.value = [])}>
          <p>{texts.codesHelp}</p>
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
      <h2>{texts.sessions}</h2>
      <List
        from={sessions}
        caption={texts.sessions}
        head={texts.sessionsHead}
        empty={texts.noSessions}
        row={(each) => [
          each.user_agent,
          each.ip_address,
          timeOf(each.seen_at),
          each.current ? (
            texts.thisSession
          ) : (
            <button
              type="button"
              onClick={attempt(async () => {
                await ask(() => api.DELETE('/v1/sessions/{id}', { params: { path: { id: each.id } } }))
                await sessions.reload()
              })}
            >
              {texts.endSession}
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
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>{texts.applications}</h2>
        <button type="button" onClick={() => (isMaking.value = true)}>
          {texts.newApplication}
        </button>
      </div>
      <List
        from={applications}
        caption={texts.applications}
        head={texts.applicationsHead}
        empty={texts.noApplications}
        row={(each) => [
          each.owner ? texts.ofOwner(each.name) : each.name,
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
            {texts.revoke}
          </button>,
        ]}
      />
      {isMaking.value && (
        <Dialog title={texts.newApplication} onClose={() => (isMaking.value = false)}>
          <Form
            fields={[
              { name: 'name', label: texts.name },
              { name: 'owner', label: texts.ownerScope, type: 'checkbox' },
            ]}
            button={texts.makeApplication}
            submit={async ({ name = '', owner }) => {
              const body = { name, owner: owner === 'true' }
              const { data } = await ask(() => api.POST('/v1/applications', { body }))
              isMaking.value = false
              showSecret(texts.keysTitle, [
                [texts.clientId, data.client_id],
                [texts.clientSecret, data.client_secret],
              ])
              await applications.reload()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}
