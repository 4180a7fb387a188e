import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { session } from '../../session.ts'
import { overviewTexts as texts } from '../../texts/site/overview.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'
import { Tags } from './tags.tsx'

export function Overview({ site, act, id }: PartProps) {
  const path = { params: { path: { id } } }
  const site_id = { params: { path: { site_id: id } } }
  const isSafe = site.status?.safeMode ?? false
  const maintain = (enabled: boolean) =>
    act(texts.closed, () => ask(() => api.PUT('/v1/sites/{id}/maintenance-mode', { ...path, body: { enabled } })))
  return (
    <>
      <Advice id={id} act={act} site={site} />
      <section class="sheet">
        <h2>{texts.site}</h2>
        <dl>
          <dt>{texts.address}</dt>
          <dd>
            <a
              href={`${location.protocol === 'https:' ? '//' : 'http://'}${site.url}`}
              target="_blank"
              rel="noreferrer"
            >
              {site.url}
            </a>
          </dd>
          <dt>{texts.wordpress}</dt>
          <dd>{site.cmsVersion}</dd>
          <dt>{texts.php}</dt>
          <dd>{site.phpVersion ?? '–'}</dd>
          <dt>{texts.kind}</dt>
          <dd>
            {texts.kinds[`${site.staging}`]}, {site.wpEnvironmentType}
          </dd>
          <dt>{texts.sftp}</dt>
          <dd>{site.sftpDomain}</dd>
          <dt>{texts.made}</dt>
          <dd>{timeOf(site.created)}</dd>
        </dl>
        <p class="row">
          <Button of="createOneTimeLogin" onClick={attempt(() => openLogin(id))}>
            {texts.login}
          </Button>
          <Button of="getDatabaseAdminUrl" onClick={attempt(() => openDatabase(id))}>
            {texts.database}
          </Button>
          <Button
            of="resetAdminPassword"
            onClick={askFirst({
              title: texts.password,
              text: texts.passwordAsk,
              button: texts.password,
              go: async () =>
                showSecret(
                  texts.passwordOf,
                  (await ask(() => api.PUT('/v1/sites/{site_id}/cms/password-reset', site_id))).data,
                ),
            })}
          >
            {texts.password}
          </Button>
        </p>
        <Tags site={site} act={act} id={id} />
      </section>
      <div class="columns">
        <section class="sheet">
          <h2>{texts.caches}</h2>
          <p>{texts.edge[site.edgeCache]}</p>
          <p class="row">
            <Button
              of="purgeEdgeCache"
              onClick={act(texts.emptyEdge, () => ask(() => api.DELETE('/v1/sites/{id}/edge-cache', path)))}
            >
              {texts.emptyIt}
            </Button>
            <Button
              of="toggleEdgeCache"
              onClick={act(texts.switchEdge, () => ask(() => api.PUT('/v1/sites/{id}/edge-cache', path)))}
            >
              {texts.switchIt[site.edgeCache]}
            </Button>
            <Button
              of="purgeObjectCache"
              onClick={act(texts.emptyObjects, () =>
                ask(() => api.DELETE('/v1/sites/{site_id}/object-cache', site_id)),
              )}
            >
              {texts.emptyObjects}
            </Button>
          </p>
        </section>
        <section class="sheet">
          <h2>{texts.care}</h2>
          <p class="quiet">{texts.careIs}</p>
          <p class="row">
            <Button of="toggleMaintenance" onClick={maintain(true)}>
              {texts.close}
            </Button>
            <Button of="toggleMaintenance" onClick={maintain(false)}>
              {texts.open}
            </Button>
            <Button
              of="setSafeMode"
              onClick={act(texts.safe[`${isSafe}`], () =>
                ask(() => api.PUT('/v1/sites/{id}/cms/safe-mode', { ...path, body: { enabled: !isSafe } })),
              )}
            >
              {texts.safe[`${isSafe}`]}
            </Button>
            {site.state === 'disabled' ? (
              <Button
                of="enableSite"
                onClick={act(texts.enable, () => ask(() => api.PUT('/v1/sites/{id}/enable', path)))}
              >
                {texts.enable}
              </Button>
            ) : (
              <Button
                of="disableSite"
                isBad
                onClick={act(texts.disable, () => ask(() => api.PUT('/v1/sites/{id}/disable', path)))}
              >
                {texts.disable}
              </Button>
            )}
          </p>
        </section>
      </div>
    </>
  )
}

/** What the owner should change, with the button that does it. */
function Advice({ id, act }: PartProps) {
  const path = { params: { path: { id } } }
  const advice = useLoad(() => ask(() => api.GET('/v1/sites/{id}/advice', path)))
  return (advice.got.value?.data ?? []).map(({ code, phpVersion }) => (
    <section key={code} class="sheet">
      <h2>{texts.advice[code].title}</h2>
      <p>{texts.advice[code].text(phpVersion)}</p>
      <p class="row">
        <Button
          of="moveSite"
          onClick={askFirst({
            title: texts.advice[code].button,
            text: texts.advice[code].sure,
            button: texts.advice[code].button,
            async go() {
              const body = { runtime: 'native', php_version: phpVersion } as const
              const got = await ask(() => api.PUT('/v1/sites/{id}/runtime', { ...path, body }))
              act(texts.advice[code].button, async () => got)()
            },
          })}
        >
          {texts.advice[code].button}
        </Button>
      </p>
    </section>
  ))
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
