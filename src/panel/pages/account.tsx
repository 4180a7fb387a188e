import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { askFirst } from '../parts/ask-first.tsx'
import { Button } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { showSecret } from '../parts/secret.tsx'
import { Tip } from '../parts/tip.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { session } from '../session.ts'
import { accountTexts as texts } from '../texts/account.ts'
import { accountPartsTexts } from '../texts/account-parts.ts'
import { timeOf } from '../time.ts'
import { Authenticator } from './account/authenticator.tsx'
import { Branding } from './account/branding.tsx'
import { browserName } from './account/browser-name.ts'
import { Passkeys } from './account-passkeys.tsx'

export const AccountPage = () => (
  <>
    <div class="head">
      <h1>
        {accountPartsTexts.names.you} <span class="quiet">{session.value?.email}</span>
      </h1>
    </div>
    <div class="grid-12">
      <Password />
      <Authenticator />
    </div>
    <Passkeys />
    <Branding />
    <Sessions />
    <Applications />
  </>
)

const Password = () => (
  <Card title={texts.password} class="s6">
    <Form
      fields={[
        { name: 'current', label: texts.currentPassword, type: 'password', autocomplete: 'current-password' },
        { name: 'password', label: texts.newPassword, type: 'password', autocomplete: 'new-password' },
      ]}
      button={texts.changePassword}
      isEmptied
      submit={async ({ current = '', password = '' }) => {
        await ask(() => api.PUT('/v1/password', { body: { current_password: current, password } }))
        told(texts.passwordChanged)
      }}
    />
  </Card>
)

function Sessions() {
  const sessions = useLoad(() => ask(() => api.GET('/v1/sessions')))
  return (
    <Card title={texts.sessions} isFlush>
      <List
        from={sessions}
        caption={texts.sessionsList}
        head={texts.sessionsHead}
        hiddenHeads={texts.hiddenHeads}
        columns={['', '', '', 'actions']}
        isStacked
        empty={texts.noSessions}
        row={(each) => [
          <Tip key="browser" text={each.user_agent}>
            <b>{browserName(each.user_agent)}</b>
          </Tip>,
          each.ip_address,
          <time dateTime={each.seen_at}>{timeOf(each.seen_at)}</time>,
          each.current ? (
            <span class="badge accent">{texts.thisSession}</span>
          ) : (
            <Button
              isSmall
              label={texts.endSessionOf(browserName(each.user_agent), each.ip_address)}
              onClick={attempt(async () => {
                await ask(() => api.DELETE('/v1/sessions/{id}', { params: { path: { id: each.id } } }))
                await sessions.reload()
              })}
            >
              {texts.endSession}
            </Button>
          ),
        ]}
      />
    </Card>
  )
}

function Applications() {
  const applications = useLoad(() => ask(() => api.GET('/v1/applications')))
  const isCreating = useSignal(false)
  return (
    <Card
      title={texts.applications}
      isFlush
      actions={
        <Button isSmall icon="plus" onClick={() => (isCreating.value = true)}>
          {texts.newApplication}
        </Button>
      }
    >
      <List
        from={applications}
        caption={texts.applicationsList}
        head={texts.applicationsHead}
        hiddenHeads={texts.hiddenHeads}
        columns={['', '', '', 'actions']}
        isStacked
        empty={<p class="quiet body">{texts.noApplications}</p>}
        row={(each) => [
          <span class="row">
            <b>{each.name}</b> {each.owner && <span class="badge info">{texts.owner}</span>}
          </span>,
          <code>{each.client_id}</code>,
          <time dateTime={each.created_at}>{timeOf(each.created_at)}</time>,
          <Button
            isSmall
            isBad
            label={texts.revokeOf(each.name)}
            onClick={askFirst({
              title: texts.revokeOf(each.name),
              text: texts.revokeIs,
              button: texts.revoke,
              async go() {
                await ask(() => api.DELETE('/v1/applications/{id}', { params: { path: { id: each.id } } }))
                await applications.reload()
              },
            })}
          >
            {texts.revoke}
          </Button>,
        ]}
      />
      {isCreating.value && (
        <Dialog title={texts.newApplication} onClose={() => (isCreating.value = false)}>
          <Form
            fields={[
              { name: 'name', label: texts.name },
              { name: 'owner', label: texts.ownerScope, type: 'checkbox' },
            ]}
            button={texts.createApplication}
            submit={async ({ name = '', owner }) => {
              const body = { name, owner: owner === 'true' }
              const { data } = await ask(() => api.POST('/v1/applications', { body }))
              isCreating.value = false
              showSecret(texts.credential, [
                [texts.clientId, data.client_id],
                [texts.clientSecret, data.client_secret],
              ])
              await applications.reload()
            }}
          />
        </Dialog>
      )}
    </Card>
  )
}
