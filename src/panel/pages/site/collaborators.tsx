import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { allRoles, type Role, RoleBoxes, tickedRoles } from '../../parts/roles.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { collaboratorsTexts as texts } from '../../texts/site/collaborators.ts'
import type { PartProps } from './part.ts'

/** Roles of others are for the owner alone to read. */
type Collaborator = components['schemas']['Collaborator'] & { readonly roles: readonly Role[] | undefined }
type Asked = { readonly what: 'add' } | { readonly what: 'roles' | 'remove'; readonly whose: Collaborator }

/** Who else comes to the site, and what each may do, as one grid. */
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
  const close = () => {
    asked.value = undefined
  }
  const reset = (one: Collaborator) =>
    attempt(async () => {
      const params = { path: { site_id: id, id: one.id } }
      const { data } = await ask(() => api.PUT('/v1/sites/{site_id}/collaborators/{id}/wp-password-reset', { params }))
      showSecret(texts.passwordOf(one.email), data)
    })
  const { value: got } = people.got
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>{texts.title}</h2>
        <Button
          of="addSiteCollaborator"
          onClick={() => {
            asked.value = { what: 'add' }
          }}
        >
          {texts.add}
        </Button>
      </div>
      {people.fault.value && <p class="fault">{people.fault.value}</p>}
      {got && got.data.length === 0 && <p class="quiet">{texts.empty}</p>}
      {got && got.data.length > 0 && (
        <Grid
          people={got.data}
          ask={(what, whose) => {
            asked.value = { what, whose }
          }}
          reset={reset}
        />
      )}
      {asked.value && <Question id={id} act={act} asked={asked.value} onClose={close} reload={people.reload} />}
    </section>
  )
}

const Grid = (props: {
  readonly people: readonly Collaborator[]
  ask(what: 'roles' | 'remove', whose: Collaborator): void
  reset(whose: Collaborator): () => void
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard
  <section class="scroll" tabIndex={0} aria-label={texts.title}>
    <table class="grid">
      <thead>
        <tr>
          <th scope="col">{texts.may}</th>
          {props.people.map((one) => (
            <th key={one.id} scope="col">
              {one.email}
              <span class="row">
                <Button
                  of="batchCreateCollaborators"
                  label={texts.changeOf(one.email)}
                  onClick={() => props.ask('roles', one)}
                >
                  {texts.change}
                </Button>
                {(one.roles?.includes('wp_access') ?? one.wpUsername) && (
                  <Button of="resetCollaboratorPassword" label={texts.passwordOf(one.email)} onClick={props.reset(one)}>
                    {texts.password}
                  </Button>
                )}
                <Button
                  of="removeSiteCollaborator"
                  isBad
                  label={texts.removeOf(one.email)}
                  onClick={() => props.ask('remove', one)}
                >
                  {texts.remove}
                </Button>
              </span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {allRoles.map((role) => (
          <tr key={role}>
            <th scope="row">{texts.roles[role]}</th>
            {props.people.map((one) => (
              <td key={one.id} class={one.roles?.includes(role) ? 'succeeded' : 'quiet'}>
                {one.roles ? texts.has[`${one.roles.includes(role)}`] : texts.notKnown}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

function Question(props: {
  readonly id: number
  readonly act: PartProps['act']
  readonly asked: Asked
  onClose(): void
  reload(): Promise<void>
}) {
  const { id, act, asked, onClose } = props
  const end = async (about: string, got: { data: unknown; operationId?: number | undefined }) => {
    onClose()
    act(about, async () => got)()
    await props.reload()
  }
  if (asked.what === 'add')
    return (
      <Dialog title={texts.add} isWide onClose={onClose}>
        <Form
          fields={[{ name: 'email', label: texts.email, type: 'email', autocomplete: 'off' }]}
          button={texts.addIt}
          submit={async (values) => {
            const body = { email: values.email ?? '', roles: tickedRoles(values) }
            const params = { path: { site_id: id } }
            await end(texts.added, await ask(() => api.POST('/v1/sites/{site_id}/collaborators', { params, body })))
          }}
        >
          <RoleBoxes held={[]} />
        </Form>
      </Dialog>
    )
  const { whose } = asked
  if (asked.what === 'roles')
    return (
      <Dialog title={texts.changeOf(whose.email)} isWide onClose={onClose}>
        <Form
          fields={[]}
          button={texts.save}
          submit={async (values) => {
            const body = { email: whose.email, siteIds: [id], roles: tickedRoles(values) }
            await end(
              texts.changeOf(whose.email),
              await ask(() => api.POST('/v1/collaborators/batch_create', { body })),
            )
          }}
        >
          {!whose.roles && <p>{texts.takePlace}</p>}
          <RoleBoxes held={whose.roles ?? []} />
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
          await end(texts.removed, await ask(() => api.DELETE('/v1/sites/{site_id}/collaborators/{id}', { params })))
        }}
      />
    </Dialog>
  )
}
