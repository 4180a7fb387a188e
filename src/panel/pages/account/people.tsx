import { useSignal } from '@preact/signals'
import { api, ask, type Got } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { filterOf } from '../../parts/filters.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { RoleBoxes, tickedRoles } from '../../parts/roles.tsx'
import { type Chosen, SitePicker } from '../../parts/site-picker.tsx'
import { told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { showWork } from '../../parts/work.ts'
import { setQuery } from '../../route.ts'
import { session } from '../../session.ts'
import { peopleTexts as texts } from '../../texts/account-pages.ts'

const ALL_SITES = -1

interface Person {
  readonly email: string
  readonly sites: readonly { readonly id: number; readonly name: string }[]
}
type Asked = { readonly what: 'add' } | { readonly what: 'remove' | 'account'; readonly who: Person }

async function readPeople(): Promise<Got<readonly Person[]>> {
  const { data } = await ask(() => api.GET('/v1/collaborators'))
  const others = data.filter(({ email }) => email !== session.value?.email)
  const people = Map.groupBy(others, ({ email }) => email)
  return {
    data: [...people].map(([email, rows]) => ({
      email,
      sites: rows.map(({ siteId, siteName }) => ({ id: siteId, name: siteName })),
    })),
  }
}

/** The collaborators on all sites of the account. */
export function People() {
  const people = useLoad(readPeople)
  const asked = useSignal<Asked | undefined>(undefined)
  const open = (what: Asked) => () => {
    asked.value = what
  }
  const end = (about: string, operationId: number | undefined) => {
    asked.value = undefined
    if (operationId === undefined) told(about)
    else showWork(operationId, about, () => void people.reload())
    void people.reload()
  }
  const only = filterOf('person')
  const shown = {
    fault: people.fault,
    got: {
      value: people.got.value && { data: people.got.value.data.filter(({ email }) => !only || email === only) },
    },
  }
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
        <div class="right">
          <Button isMain icon="plus" onClick={open({ what: 'add' })}>
            {texts.add}
          </Button>
        </div>
      </div>
      {only && (
        <p class="row chips">
          <span class="badge accent chip">
            {texts.only(only)}
            <Button isGhost isSmall icon="x" label={texts.showAll} onClick={() => setQuery({ person: '' })} />
          </span>
        </p>
      )}
      <List
        from={shown}
        caption={texts.title}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        sorts={sorts}
        isStacked
        empty={
          <div class="card">
            <Empty icon="users" title={texts.emptyTitle} text={texts.empty} />
          </div>
        }
        row={(who) => [
          who.email,
          <SitesOf person={who} />,
          <span class="row">
            <Button isSmall label={texts.accountOf(who.email)} onClick={open({ what: 'account', who })}>
              {texts.account}
            </Button>
            <Button isSmall isBad label={texts.removeOf(who.email)} onClick={open({ what: 'remove', who })}>
              {texts.remove}
            </Button>
          </span>,
        ]}
      />
      {asked.value && (
        <Question
          asked={asked.value}
          end={end}
          onClose={() => {
            asked.value = undefined
          }}
        />
      )}
    </>
  )
}

const sorts = [
  { key: 'person', by: ({ email }: Person) => email },
  { key: 'sites', by: ({ sites }: Person) => sites.length, isLargestFirst: true },
]

const MOST_SHOWN = 8

const SitesOf = ({ person: { sites } }: { readonly person: Person }) => (
  <span class="row">
    {sites.slice(0, MOST_SHOWN).map((site) => (
      <a key={site.id} class="tag" href={`#/sites/${site.id}/collaborators`}>
        {site.name}
      </a>
    ))}
    {sites.length > MOST_SHOWN && <span class="quiet">{texts.more(sites.length - MOST_SHOWN)}</span>}
  </span>
)

interface QuestionProps {
  end(about: string, operationId: number | undefined): void
  onClose(): void
}

function Question({ asked, ...props }: QuestionProps & { readonly asked: Asked }) {
  if (asked.what === 'add') return <Add {...props} />
  if (asked.what === 'account') return <NewSites who={asked.who} {...props} />
  return <Remove who={asked.who} {...props} />
}

function Add({ end, onClose }: QuestionProps) {
  const chosen = useSignal<readonly Chosen[]>([])
  const { some, all } = texts.which
  return (
    <Dialog title={texts.add} isWide onClose={onClose}>
      <Form
        fields={[
          { name: 'email', label: texts.email, type: 'email', autocomplete: 'off' },
          {
            name: 'which',
            label: texts.sites,
            options: [
              ['some', some],
              ['all', all],
            ],
          },
        ]}
        button={texts.go}
        submit={async (values) => {
          const { email = '', which } = values
          const siteIds = which === 'all' ? [ALL_SITES] : chosen.value.map(({ id }) => id)
          const body = { email, siteIds, roles: tickedRoles(values) }
          const { operationId } = await ask(() => api.POST('/v1/collaborators/batch_create', { body }))
          end(texts.added(email), operationId)
        }}
      >
        <p class="row">
          {chosen.value.map((site) => (
            <span key={site.id} class="tag">
              {site.name}
            </span>
          ))}
        </p>
        <SitePicker
          label={texts.choose}
          chosen={chosen.value.at(-1)}
          choose={(site) => {
            if (!chosen.value.some(({ id }) => id === site.id)) chosen.value = [...chosen.value, site]
          }}
        />
        <p class="quiet">{texts.roles}</p>
        <RoleBoxes held={[]} />
      </Form>
    </Dialog>
  )
}

const NewSites = ({ who: { email }, end, onClose }: QuestionProps & { readonly who: Person }) => (
  <Dialog title={texts.accountOf(email)} isWide onClose={onClose}>
    <p>{texts.accountIs}</p>
    <Form
      fields={[
        { name: 'add_to_all_new', label: texts.addToNew, type: 'checkbox' },
        { name: 'create_site', label: texts.createSite, type: 'checkbox' },
      ]}
      button={texts.save}
      submit={async (values) => {
        const body = {
          email,
          add_to_all_new: values.add_to_all_new === 'true',
          create_site: values.create_site === 'true',
          roles: tickedRoles(values),
        }
        const { operationId } = await ask(() => api.PUT('/v1/collaborators/update-account-level-access', { body }))
        end(texts.saved, operationId)
      }}
    >
      <RoleBoxes held={[]} />
    </Form>
  </Dialog>
)

const Remove = ({ who: { email, sites }, end, onClose }: QuestionProps & { readonly who: Person }) => (
  <Dialog title={texts.removeOf(email)} onClose={onClose}>
    <p>{texts.removeIs(sites.length)}</p>
    <Form
      fields={[{ name: 'user', label: texts.removeUser, type: 'checkbox' }]}
      button={texts.remove}
      isBad
      submit={async ({ user }) => {
        const body = { email, siteIds: sites.map(({ id }) => id), delete_wp_user: user === 'true' }
        const { operationId } = await ask(() => api.POST('/v1/collaborators/batch_destroy', { body }))
        end(texts.removed(email), operationId)
      }}
    />
  </Dialog>
)
