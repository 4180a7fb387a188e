import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { paths } from '../../sdk/api.generated.ts'
import { api, ask, type Got } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Progress } from '../parts/progress.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { go } from '../route.ts'
import { session } from '../session.ts'
import { timeOf } from '../time.ts'
import { Activity } from './activity.tsx'
import { Operations } from './operations.tsx'

type Site = paths['/v1/sites/{id}']['get']['responses'][200]['content']['application/json']['data']

const parts = ['Overview', 'Backups', 'Domains', 'Plugins', 'Operations', 'Activity'] as const
type Part = (typeof parts)[number]

/** What a part of the page does: a change that may start work, whose progress is then shown, and after which the site is read anew. */
export type Act = (about: string, change: () => Promise<Got<unknown>>) => () => void

export function SitePage({ id }: { readonly id: number }) {
  const part = useSignal<Part>('Overview')
  const work = useSignal<{ id: number; about: string } | undefined>(undefined)
  const site = useLoad(() => ask(() => api.GET('/v1/sites/{id}', { params: { path: { id } } })), [id])
  const act: Act = (about, change) =>
    attempt(async () => {
      const { operationId } = await change()
      if (operationId === undefined) told(`${about}: done.`)
      else work.value = { id: operationId, about }
      await site.reload()
    })
  if (site.fault.value) return <p class="fault">{site.fault.value}</p>
  const shown = site.got.value?.data
  if (!shown) return <p class="quiet">Reading …</p>
  return (
    <>
      <p>
        <a href="#/sites">Sites</a>
      </p>
      <div class="row spread">
        <h1>{shown.displayName}</h1>
        <span class={`state ${shown.state}`}>{shown.state}</span>
      </div>
      {shown.deployError && <p class="fault">{shown.deployError}</p>}
      {work.value && <Progress key={work.value.id} {...work.value} onEnd={() => void site.reload()} />}
      <nav class="row" aria-label="Parts of the site">
        {parts.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={part.value === each}
            class={part.value === each ? 'main' : ''}
            onClick={() => (part.value = each)}
          >
            {each}
          </button>
        ))}
      </nav>
      <br />
      {part.value === 'Overview' && <Overview site={shown} act={act} />}
      {part.value === 'Backups' && <Backups id={id} act={act} />}
      {part.value === 'Domains' && <Domains id={id} act={act} />}
      {part.value === 'Plugins' && <Plugins id={id} act={act} />}
      {part.value === 'Operations' && <Operations siteId={id} />}
      {part.value === 'Activity' && <Activity siteId={id} />}
    </>
  )
}

const Button = (props: { readonly children: ComponentChildren; readonly isBad?: boolean; onClick(): void }) => (
  <button type="button" class={props.isBad ? 'bad' : ''} onClick={props.onClick}>
    {props.children}
  </button>
)

function Overview({ site, act }: { readonly site: Site; readonly act: Act }) {
  const { id } = site
  const path = { params: { path: { id } } }
  const isDeleting = useSignal(false)
  const secret = useSignal('')
  const isOn = site.edgeCache === 'enabled'
  return (
    <div class="columns">
      <section class="sheet">
        <h2>The site</h2>
        <dl>
          <dt>Address</dt>
          <dd>
            <a href={`http://${site.url}`} target="_blank" rel="noreferrer">
              {site.url}
            </a>
          </dd>
          <dt>WordPress</dt>
          <dd>{site.cmsVersion}</dd>
          <dt>PHP</dt>
          <dd>{site.phpVersion ?? '–'}</dd>
          <dt>Kind</dt>
          <dd>
            {site.staging ? 'staging' : 'billable'}, {site.wpEnvironmentType}
          </dd>
          <dt>SFTP</dt>
          <dd>{site.sftpDomain}</dd>
          <dt>Made</dt>
          <dd>{timeOf(site.created)}</dd>
        </dl>
        <p class="row">
          <Button onClick={attempt(() => openLogin(id))}>Log in to WordPress</Button>
          <Button onClick={attempt(() => openDatabase(id))}>Database</Button>
          <Button
            onClick={attempt(async () => {
              const site_id = { params: { path: { site_id: id } } }
              const { data } = await ask(() => api.PUT('/v1/sites/{site_id}/cms/password-reset', site_id))
              secret.value = JSON.stringify(data)
            })}
          >
            New password
          </Button>
        </p>
        {secret.value && (
          <p role="status">
            Shown this once: <code>{secret.value}</code>
          </p>
        )}
      </section>
      <section class="sheet">
        <h2>Caches</h2>
        <p>The edge cache is {isOn ? 'on' : 'off'}.</p>
        <p class="row">
          <Button onClick={act('Empty the edge cache', () => ask(() => api.DELETE('/v1/sites/{id}/edge-cache', path)))}>
            Empty it
          </Button>
          <Button onClick={act('Edge cache', () => ask(() => api.PUT('/v1/sites/{id}/edge-cache', path)))}>
            Switch it {isOn ? 'off' : 'on'}
          </Button>
          <Button
            onClick={act('Empty the object cache', () =>
              ask(() => api.DELETE('/v1/sites/{site_id}/object-cache', { params: { path: { site_id: id } } })),
            )}
          >
            Empty the object cache
          </Button>
        </p>
      </section>
      <section class="sheet">
        <h2>Care</h2>
        <p class="row">
          <Button onClick={act('Maintenance page', () => ask(() => api.PUT('/v1/sites/{id}/maintenance-mode', path)))}>
            Maintenance page on or off
          </Button>
          {site.state === 'disabled' ? (
            <Button onClick={act('Enable', () => ask(() => api.PUT('/v1/sites/{id}/enable', path)))}>Enable</Button>
          ) : (
            <Button isBad onClick={act('Disable', () => ask(() => api.PUT('/v1/sites/{id}/disable', path)))}>
              Disable
            </Button>
          )}
          <Button
            onClick={act(`Safe mode ${site.safeMode ? 'off' : 'on'}`, () =>
              ask(() => api.PUT('/v1/sites/{id}/cms/safe-mode', { ...path, body: { enabled: !site.safeMode } })),
            )}
          >
            Safe mode {site.safeMode ? 'off' : 'on'}
          </Button>
          <Button isBad onClick={() => (isDeleting.value = true)}>
            Delete
          </Button>
        </p>
      </section>
      {isDeleting.value && (
        <Dialog title={`Delete ${site.name}`} onClose={() => (isDeleting.value = false)}>
          <p>Visitors get nothing from it any more. Whoever runs this Stead can bring it back for some days.</p>
          <Form
            fields={[{ name: 'name', label: `Type ${site.name} to delete it`, autocomplete: 'off' }]}
            button="Delete it"
            isBad
            submit={async ({ name }) => {
              if (name !== site.name) throw new Error('That is not its name.')
              await ask(() => api.DELETE('/v1/sites/{id}', path))
              go('/sites')
            }}
          />
        </Dialog>
      )}
    </div>
  )
}

async function openLogin(id: number): Promise<void> {
  const body = { email: session.value?.email ?? '', user_agent: navigator.userAgent }
  const { data } = await ask(() =>
    api.POST('/v1/sites/{site_id}/one_time_login', { params: { path: { site_id: id } }, body }),
  )
  open(data.url, '_blank', 'noopener')
}

async function openDatabase(id: number): Promise<void> {
  const { data } = await ask(() => api.GET('/v1/sites/{site_id}/cms/dbadmin', { params: { path: { site_id: id } } }))
  open(data, '_blank', 'noopener')
}

function Backups({ id, act }: { readonly id: number; readonly act: Act }) {
  const params = { path: { id } }
  const backups = useLoad(() => ask(() => api.GET('/v1/sites/{id}/ondemand-backups', { params })))
  const asked = useSignal<{ type: string; id: string | null } | undefined>(undefined)
  const order = (kind: 'fs' | 'db') =>
    act(kind === 'fs' ? 'Backup of the files' : 'Backup of the database', async () => {
      const got = await ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params, body: { backup_type: kind } }))
      await backups.reload()
      return got
    })
  const restore = (kind: string, backup: string) =>
    act('Restore', () =>
      ask(() =>
        api.POST('/v1/sites/{site_id}/restores', {
          params: { path: { site_id: id } },
          body: { [kind === 'fs' ? 'filesystem_id' : 'database_id']: Number(backup) },
        }),
      ),
    )
  return (
    <section class="sheet">
      <h2>Backups on demand</h2>
      <p class="row">
        <Button onClick={order('fs')}>Back up the files</Button>
        <Button onClick={order('db')}>Back up the database</Button>
      </p>
      <List
        from={backups}
        caption="Backups on demand"
        head={['Of', 'State', 'Taken', 'Kept', 'Actions']}
        empty="None yet. Every night and every hour one is taken by itself."
        row={(backup) => [
          backup.type === 'fs' ? 'files' : 'database',
          <span class={`state ${backup.status}`}>{backup.status}</span>,
          timeOf(new Date(backup.requested * 1000).toISOString()),
          `removed in ${backup.removedIn}`,
          backup.status === 'completed' && backup.id !== null && (
            <span class="row">
              <a href={`/v1/sites/${id}/ondemand-backups/${backup.id}/download`} download>
                Download
              </a>
              <Button isBad onClick={() => (asked.value = backup)}>
                Restore
              </Button>
            </span>
          ),
        ]}
      />
      {asked.value && (
        <Dialog title="Restore" onClose={() => (asked.value = undefined)}>
          <p>
            The {asked.value.type === 'fs' ? 'files' : 'database'} of the site become those of the backup; what was
            written since is gone. It can be taken back for seven days, under Operations.
          </p>
          <Form
            fields={[]}
            button="Restore it"
            isBad
            submit={async () => {
              const { type, id: backup } = asked.value ?? {}
              asked.value = undefined
              if (type && backup) restore(type, backup)()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}

function Domains({ id, act }: { readonly id: number; readonly act: Act }) {
  const params = { path: { site_id: id } }
  const domains = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/domains', { params })))
  const isAdding = useSignal(false)
  const primary = (domain: number) =>
    act('Primary domain', async () => {
      const path = { site_id: id, id: domain }
      const got = await ask(() => api.PUT('/v1/sites/{site_id}/domains/{id}/primary', { params: { path } }))
      await domains.reload()
      return got
    })
  return (
    <section class="sheet">
      <h2>Domains</h2>
      <Button onClick={() => (isAdding.value = true)}>Add a domain</Button>
      <List
        from={domains}
        caption="Domains"
        head={['Name', 'Leads here', 'Answers', 'Certificate or plain', 'Actions']}
        empty="No domain leads here yet."
        row={(domain) => [
          domain.domainName,
          domain.dnsConfirmed ? 'yes' : 'not yet: point its A records here',
          domain.healthy ? 'yes' : 'not yet',
          domain.provisioned ? 'yes' : 'not yet',
          domain.primary ? 'primary' : <Button onClick={primary(domain.id)}>Make primary</Button>,
        ]}
      />
      {isAdding.value && (
        <Dialog title="Add a domain" onClose={() => (isAdding.value = false)}>
          <Form
            fields={[{ name: 'name', label: 'Domain, such as example.com' }]}
            button="Add it"
            submit={async ({ name = '' }) => {
              await ask(() => api.POST('/v1/sites/{site_id}/domains', { params, body: { name } }))
              isAdding.value = false
              await domains.reload()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}

function Plugins({ id, act }: { readonly id: number; readonly act: Act }) {
  const params = { path: { id } }
  const plugins = useLoad(() => ask(() => api.GET('/v1/sites/{id}/plugins', { params })))
  const isAdding = useSignal(false)
  const change = (about: string, path: string, where: '/activate' | '/deactivate' | '') =>
    act(about, () => ask(() => api.PUT(`/v1/sites/{id}/plugins${where}`, { params, body: { plugins: [{ path }] } })))
  return (
    <section class="sheet">
      <h2>Plugins</h2>
      <Button onClick={() => (isAdding.value = true)}>Install a plugin</Button>
      <List
        from={plugins}
        caption="Plugins"
        head={['Name', 'State', 'Version', 'Actions']}
        empty="No plugins."
        row={({ name, title, status, version, update, update_version }) => [
          title || name,
          status,
          version,
          <span class="row">
            {update === 'available' && (
              <Button onClick={change(`Update ${name}`, name, '')}>Update to {update_version}</Button>
            )}
            {status === 'active' && (
              <Button onClick={change(`Deactivate ${name}`, name, '/deactivate')}>Deactivate</Button>
            )}
            {status === 'inactive' && <Button onClick={change(`Activate ${name}`, name, '/activate')}>Activate</Button>}
          </span>,
        ]}
      />
      {isAdding.value && (
        <Dialog title="Install a plugin" onClose={() => (isAdding.value = false)}>
          <Form
            fields={[{ name: 'path', label: 'Its name in the directory, or the https address of its zip' }]}
            button="Install it"
            submit={async ({ path = '' }) => {
              const body = { plugins: [{ path, activate: true }] }
              const got = await ask(() => api.POST('/v1/sites/{id}/plugins', { params, body }))
              isAdding.value = false
              act(`Install ${path}`, async () => got)()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}
