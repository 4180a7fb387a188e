import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { May } from '../../parts/rights.tsx'
import { presetOf, RolePicker, rolesChosen } from '../../parts/role-picker.tsx'
import type { Role } from '../../parts/roles.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { presetTexts, collaboratorsTexts as texts } from '../../texts/site/collaborators.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

/** Only the owner can read the roles of others. */
type Collaborator = components['schemas']['Collaborator'] & { readonly roles: readonly Role[] | undefined }
interface Asked {
  readonly what: 'roles' | 'remove'
  readonly whose: Collaborator
}

/** The collaborators of the site and their roles. */
export function Collaborators({ id, act }: PartProps) {
  const people = useLoad(async () => {
    const params = { path: { site_id: id } }
    const [ofSite, known] = await Promise.all([
      ask(() => api.GET('/v1/sites/{site_id}/collaborators', { params })),
      ask(() => api.GET('/v1/collaborators')),
    ])
    const rolesOf = new Map(known.data.map((each) => [each.id, each.roles]))
    return { data: ofSite.data.map((one): Collaborator => ({ ...one, roles: rolesOf.get(one.id) })) }
  }, [id])
  const asked = useSignal<Asked | undefined>(undefined)
  const reset = (one: Collaborator) =>
    attempt(async () => {
      const params = { path: { site_id: id, id: one.id } }
      const { data } = await ask(() => api.PUT('/v1/sites/{site_id}/collaborators/{id}/wp-password-reset', { params }))
      showSecret(texts.newPasswordOf(one.email), data)
    })
  return (
    <>
      <Invite id={id} act={act} reload={people.reload} />
      <List
        from={people}
        caption={texts.title}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        columns={['wide', '', 'extra', 'actions']}
        sorts={sorts}
        isCards
        isStacked
        empty={
          <div class="card">
            <Empty icon="users" title={texts.emptyTitle} text={texts.empty} />
          </div>
        }
        row={(one) => [
          <Person of={one} />,
          one.roles ? <span class="badge accent">{presetTexts.names[presetOf(one.roles)]}</span> : texts.notKnown,
          timeOf(one.created),
          <Actions
            of={one}
            reset={reset(one)}
            ask={(what) => {
              asked.value = { what, whose: one }
            }}
          />,
        ]}
      />
      {asked.value && (
        <Question
          id={id}
          act={act}
          asked={asked.value}
          onClose={() => {
            asked.value = undefined
          }}
          reload={people.reload}
        />
      )}
    </>
  )
}

const sorts = [
  { key: 'person', by: ({ email }: Collaborator) => email },
  { key: 'role', by: ({ roles }: Collaborator) => (roles ? presetTexts.names[presetOf(roles)] : null) },
  { key: 'added', by: ({ created }: Collaborator) => created, isLargestFirst: true },
]

const Person = ({ of: { email, name, wpUsername } }: { readonly of: Collaborator }) => (
  <>
    <b>{email}</b>
    <span class="sub">{wpUsername ? texts.wpUser(wpUsername) : name}</span>
  </>
)

const Actions = (props: { readonly of: Collaborator; reset(): void; ask(what: Asked['what']): void }) => {
  const { email, roles, wpUsername } = props.of
  return (
    <span class="row acts">
      <Button isSmall of="batchCreateCollaborators" label={texts.changeOf(email)} onClick={() => props.ask('roles')}>
        {texts.change}
      </Button>
      {(roles?.includes('wp_access') ?? wpUsername) && (
        <Button
          isSmall
          icon="lock"
          of="resetCollaboratorPassword"
          label={texts.passwordOf(email)}
          onClick={props.reset}
        />
      )}
      <Button
        isSmall
        isBad
        icon="trash2"
        of="removeSiteCollaborator"
        label={texts.removeOf(email)}
        onClick={() => props.ask('remove')}
      />
    </span>
  )
}

interface Changing {
  readonly id: number
  readonly act: PartProps['act']
  reload(): Promise<void>
}

/** The form for an address and roles. */
const Invite = ({ id, act, reload }: Changing) => (
  <May do="addSiteCollaborator" what={texts.add}>
    <Card title={texts.invite}>
      <Form
        of="addSiteCollaborator"
        fields={[{ name: 'email', label: texts.email, type: 'email', autocomplete: 'off', hint: texts.inviteIs }]}
        button={texts.add}
        isEmptied
        submit={async (values) => {
          const email = (values.email ?? '').trim()
          const body = { email, roles: rolesChosen(values) }
          const params = { path: { site_id: id } }
          const got = await ask(() => api.POST('/v1/sites/{site_id}/collaborators', { params, body }))
          act(texts.added(email), async () => got)()
          await reload()
        }}
      >
        <RolePicker held={[]} begin="viewer" />
      </Form>
    </Card>
  </May>
)

function Question(props: Changing & { readonly asked: Asked; onClose(): void }) {
  const { id, act, onClose, reload } = props
  const { what, whose } = props.asked
  const end = async (about: string, got: { data: unknown; operationId?: number | undefined }) => {
    onClose()
    act(about, async () => got)()
    await reload()
  }
  if (what === 'roles')
    return (
      <Dialog title={texts.changeOf(whose.email)} isWide onClose={onClose}>
        <Form
          fields={[]}
          button={texts.save}
          submit={async (values) => {
            const body = { email: whose.email, siteIds: [id], roles: rolesChosen(values) }
            await end(texts.saved(whose.email), await ask(() => api.POST('/v1/collaborators/batch_create', { body })))
          }}
        >
          {!whose.roles && <p class="quiet">{texts.takePlace}</p>}
          <RolePicker held={whose.roles ?? []} />
        </Form>
      </Dialog>
    )
  return (
    <Dialog title={texts.removeOf(whose.email)} onClose={onClose}>
      <p>{texts.removeIs}</p>
      <Form
        fields={[{ name: 'user', label: texts.removeUser, type: 'checkbox' }]}
        button={texts.remove}
        isBad
        submit={async ({ user }) => {
          const params = {
            path: { site_id: id, id: whose.id },
            ...(user === 'true' && { query: { delete_wp_user: true } }),
          }
          await end(
            texts.removed(whose.email),
            await ask(() => api.DELETE('/v1/sites/{site_id}/collaborators/{id}', { params })),
          )
        }}
      />
    </Dialog>
  )
}
