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
import { commonTexts } from '../texts/common.ts'
import { backupsTexts, domainsTexts, pluginsTexts, siteTexts as texts } from '../texts/site.ts'
import { timeOf } from '../time.ts'
import { Activity } from './activity.tsx'
import { Operations } from './operations.tsx'

type Site = paths['/v1/sites/{id}']['get']['responses'][200]['content']['application/json']['data']

const parts = ['overview', 'backups', 'domains', 'plugins', 'operations', 'activity'] as const
type Part = (typeof parts)[number]

/** What a part of the page does: a change that may start work, whose progress is then shown, and after which the site is read anew. */
export type Act = (about: string, change: () => Promise<Got<unknown>>) => () => void

export function SitePage({ id }: { readonly id: number }) {
  const part = useSignal<Part>('overview')
  const work = useSignal<{ id: number; about: string } | undefined>(undefined)
  const site = useLoad(() => ask(() => api.GET('/v1/sites/{id}', { params: { path: { id } } })), [id])
  const act: Act = (about, change) =>
    attempt(async () => {
      const { operationId } = await change()
      if (operationId === undefined) told(commonTexts.done(about))
      else work.value = { id: operationId, about }
      await site.reload()
    })
  if (site.fault.value) return <p class="fault">{site.fault.value}</p>
  const shown = site.got.value?.data
  if (!shown) return <p class="quiet">{commonTexts.reading}</p>
  return (
    <>
      <p>
        <a href="#/sites">{texts.sites}</a>
      </p>
      <div class="row spread">
        <h1>{shown.displayName}</h1>
        <span class={`state ${shown.state}`}>{shown.state}</span>
      </div>
      {shown.deployError && <p class="fault">{shown.deployError}</p>}
      {work.value && <Progress key={work.value.id} {...work.value} onEnd={() => void site.reload()} />}
      <nav class="row" aria-label={texts.partsOfSite}>
        {parts.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={part.value === each}
            class={part.value === each ? 'main' : ''}
            onClick={() => (part.value = each)}
          >
            {texts.parts[each]}
          </button>
        ))}
      </nav>
      <br />
      {part.value === 'overview' && <Overview site={shown} act={act} />}
      {part.value === 'backups' && <Backups id={id} act={act} />}
      {part.value === 'domains' && <Domains id={id} act={act} />}
      {part.value === 'plugins' && <Plugins id={id} act={act} />}
      {part.value === 'operations' && <Operations siteId={id} />}
      {part.value === 'activity' && <Activity siteId={id} />}
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
        <h2>{texts.site}</h2>
        <dl>
          <dt>{texts.address}</dt>
          <dd>
            <a href={`http://${site.url}`} target="_blank" rel="noreferrer">
              {site.url}
            </a>
          </dd>
          <dt>{texts.wordPress}</dt>
          <dd>{site.cmsVersion}</dd>
          <dt>{texts.php}</dt>
          <dd>{site.phpVersion ?? commonTexts.unknown}</dd>
          <dt>{texts.kind}</dt>
          <dd>
            {site.staging ? texts.staging : texts.billable}, {site.wpEnvironmentType}
          </dd>
          <dt>{texts.sftp}</dt>
          <dd>{site.sftpDomain}</dd>
          <dt>{texts.made}</dt>
          <dd>{timeOf(site.created)}</dd>
        </dl>
        <p class="row">
          <Button onClick={attempt(() => openLogin(id))}>{texts.logIn}</Button>
          <Button onClick={attempt(() => openDatabase(id))}>{texts.database}</Button>
          <Button
            onClick={attempt(async () => {
              const site_id = { params: { path: { site_id: id } } }
              const { data } = await ask(() => api.PUT('/v1/sites/{site_id}/cms/password-reset', site_id))
              secret.value = JSON.stringify(data)
            })}
          >
            {texts.newPassword}
          </Button>
        </p>
        {secret.value && (
          <p role="status">
            {texts.shownOnce} <code>{secret.value}</code>
          </p>
        )}
      </section>
      <section class="sheet">
        <h2>{texts.caches}</h2>
        <p>{texts.edgeCacheIs(isOn)}</p>
        <p class="row">
          <Button onClick={act(texts.emptyEdgeCache, () => ask(() => api.DELETE('/v1/sites/{id}/edge-cache', path)))}>
            {texts.emptyIt}
          </Button>
          <Button onClick={act(texts.edgeCache, () => ask(() => api.PUT('/v1/sites/{id}/edge-cache', path)))}>
            {texts.switchTo(!isOn)}
          </Button>
          <Button
            onClick={act(texts.emptyObjectCache, () =>
              ask(() => api.DELETE('/v1/sites/{site_id}/object-cache', { params: { path: { site_id: id } } })),
            )}
          >
            {texts.emptyObjectCache}
          </Button>
        </p>
      </section>
      <section class="sheet">
        <h2>{texts.care}</h2>
        <p class="row">
          <Button onClick={act(texts.maintenance, () => ask(() => api.PUT('/v1/sites/{id}/maintenance-mode', path)))}>
            {texts.switchMaintenance}
          </Button>
          {site.state === 'disabled' ? (
            <Button onClick={act(texts.enable, () => ask(() => api.PUT('/v1/sites/{id}/enable', path)))}>
              {texts.enable}
            </Button>
          ) : (
            <Button isBad onClick={act(texts.disable, () => ask(() => api.PUT('/v1/sites/{id}/disable', path)))}>
              {texts.disable}
            </Button>
          )}
          <Button
            onClick={act(texts.safeMode(!site.safeMode), () =>
              ask(() => api.PUT('/v1/sites/{id}/cms/safe-mode', { ...path, body: { enabled: !site.safeMode } })),
            )}
          >
            {texts.safeMode(!site.safeMode)}
          </Button>
          <Button isBad onClick={() => (isDeleting.value = true)}>
            {texts.delete}
          </Button>
        </p>
      </section>
      {isDeleting.value && (
        <Dialog title={texts.deleteTitle(site.name)} onClose={() => (isDeleting.value = false)}>
          <p>{texts.deleteHelp}</p>
          <Form
            fields={[{ name: 'name', label: texts.typeName(site.name), autocomplete: 'off' }]}
            button={texts.deleteIt}
            isBad
            submit={async ({ name }) => {
              if (name !== site.name) throw new Error(texts.notItsName)
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
    act(backupsTexts.about[kind], async () => {
      const got = await ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params, body: { backup_type: kind } }))
      await backups.reload()
      return got
    })
  const restore = (kind: string, backup: string) =>
    act(backupsTexts.restore, () =>
      ask(() =>
        api.POST('/v1/sites/{site_id}/restores', {
          params: { path: { site_id: id } },
          body: { [kind === 'fs' ? 'filesystem_id' : 'database_id']: Number(backup) },
        }),
      ),
    )
  return (
    <section class="sheet">
      <h2>{backupsTexts.title}</h2>
      <p class="row">
        <Button onClick={order('fs')}>{backupsTexts.order.fs}</Button>
        <Button onClick={order('db')}>{backupsTexts.order.db}</Button>
      </p>
      <List
        from={backups}
        caption={backupsTexts.title}
        head={backupsTexts.head}
        empty={backupsTexts.empty}
        row={(backup) => [
          backupsTexts.of[backup.type === 'fs' ? 'fs' : 'db'],
          <span class={`state ${backup.status}`}>{backup.status}</span>,
          timeOf(new Date(backup.requested * 1000).toISOString()),
          backupsTexts.removedIn(backup.removedIn),
          backup.status === 'completed' && backup.id !== null && (
            <span class="row">
              <a href={`/v1/sites/${id}/ondemand-backups/${backup.id}/download`} download>
                {backupsTexts.download}
              </a>
              <Button isBad onClick={() => (asked.value = backup)}>
                {backupsTexts.restore}
              </Button>
            </span>
          ),
        ]}
      />
      {asked.value && (
        <Dialog title={backupsTexts.restore} onClose={() => (asked.value = undefined)}>
          <p>{backupsTexts.restoreHelp(backupsTexts.of[asked.value.type === 'fs' ? 'fs' : 'db'])}</p>
          <Form
            fields={[]}
            button={backupsTexts.restoreIt}
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
    act(domainsTexts.primaryDomain, async () => {
      const path = { site_id: id, id: domain }
      const got = await ask(() => api.PUT('/v1/sites/{site_id}/domains/{id}/primary', { params: { path } }))
      await domains.reload()
      return got
    })
  return (
    <section class="sheet">
      <h2>{domainsTexts.title}</h2>
      <Button onClick={() => (isAdding.value = true)}>{domainsTexts.add}</Button>
      <List
        from={domains}
        caption={domainsTexts.title}
        head={domainsTexts.head}
        empty={domainsTexts.empty}
        row={(domain) => [
          domain.domainName,
          domain.dnsConfirmed ? commonTexts.yes : domainsTexts.pointHere,
          domain.healthy ? commonTexts.yes : commonTexts.notYet,
          domain.provisioned ? commonTexts.yes : commonTexts.notYet,
          domain.primary ? (
            domainsTexts.primary
          ) : (
            <Button onClick={primary(domain.id)}>{domainsTexts.makePrimary}</Button>
          ),
        ]}
      />
      {isAdding.value && (
        <Dialog title={domainsTexts.add} onClose={() => (isAdding.value = false)}>
          <Form
            fields={[{ name: 'name', label: domainsTexts.name }]}
            button={domainsTexts.addIt}
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
      <h2>{pluginsTexts.title}</h2>
      <Button onClick={() => (isAdding.value = true)}>{pluginsTexts.install}</Button>
      <List
        from={plugins}
        caption={pluginsTexts.title}
        head={pluginsTexts.head}
        empty={pluginsTexts.empty}
        row={({ name, title, status, version, update, update_version }) => [
          title || name,
          status,
          version,
          <span class="row">
            {update === 'available' && (
              <Button onClick={change(pluginsTexts.about.update(name), name, '')}>
                {pluginsTexts.updateTo(update_version ?? commonTexts.unknown)}
              </Button>
            )}
            {status === 'active' && (
              <Button onClick={change(pluginsTexts.about.deactivate(name), name, '/deactivate')}>
                {pluginsTexts.deactivate}
              </Button>
            )}
            {status === 'inactive' && (
              <Button onClick={change(pluginsTexts.about.activate(name), name, '/activate')}>
                {pluginsTexts.activate}
              </Button>
            )}
          </span>,
        ]}
      />
      {isAdding.value && (
        <Dialog title={pluginsTexts.install} onClose={() => (isAdding.value = false)}>
          <Form
            fields={[{ name: 'path', label: pluginsTexts.path }]}
            button={pluginsTexts.installIt}
            submit={async ({ path = '' }) => {
              const body = { plugins: [{ path, activate: true }] }
              const got = await ask(() => api.POST('/v1/sites/{id}/plugins', { params, body }))
              isAdding.value = false
              act(pluginsTexts.about.install(path), async () => got)()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}
