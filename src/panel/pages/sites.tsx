import { useSignal } from '@preact/signals'
import type { paths } from '../../sdk/api.generated.ts'
import { api, ask, type Got } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List, Pages } from '../parts/list.tsx'
import { Progress } from '../parts/progress.tsx'
import { useLoad } from '../parts/use-load.ts'
import { commonTexts } from '../texts/common.ts'
import { sitesTexts as texts } from '../texts/sites.ts'

const PER_PAGE = 25

/** Versions are those that the API has named. */
type NewSite = paths['/v1/sites']['post']['requestBody']['content']['application/json']

type Site = Pick<
  paths['/v1/sites']['get']['responses'][200]['content']['application/json']['data'][number],
  'id' | 'displayName' | 'state' | 'url' | 'phpVersion' | 'cmsVersion'
>

function readSites(name: string, page: number): Promise<Got<readonly Site[]>> {
  const asked = { page, per_page: PER_PAGE }
  if (!name) return ask(() => api.GET('/v1/sites', { params: { query: { ...asked, paginate: true } } }))
  const body = { ...asked, filters: [{ key: 'name' as const, value: name }] }
  return ask(() => api.POST('/v1/sites/search', { body }))
}

/** Sites that the person sees, a page at a time: the server searches and turns, so that ten thousand are like ten. */
export function SitesPage() {
  const page = useSignal(1)
  const name = useSignal('')
  const isCreating = useSignal(false)
  const made = useSignal<{ id: number; name: string } | undefined>(undefined)
  const versions = useLoad(() => ask(() => api.GET('/v1/sites/php-versions')))
  const sites = useLoad(() => readSites(name.value, page.value), [page.value, name.value])
  return (
    <>
      <div class="row spread">
        <h1>{texts.title}</h1>
        <button type="button" class="main" onClick={() => (isCreating.value = true)}>
          {texts.newSite}
        </button>
      </div>
      <label>
        <span>{texts.search}</span>
        <input
          type="search"
          value={name.value}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value.trim()
            page.value = 1
          }}
        />
      </label>
      {made.value && (
        <Progress
          key={made.value.id}
          id={made.value.id}
          about={texts.making(made.value.name)}
          onEnd={() => void sites.reload()}
        />
      )}
      <List
        from={sites}
        caption={texts.title}
        head={texts.head}
        empty={name.value ? texts.noneFound : texts.empty}
        row={(site) => [
          <a href={`#/sites/${site.id}`}>{site.displayName}</a>,
          <span class={`state ${site.state}`}>{site.state}</span>,
          <a href={`${location.protocol === 'https:' ? '//' : 'http://'}${site.url}`} target="_blank" rel="noreferrer">
            {site.url}
          </a>,
          site.phpVersion ?? commonTexts.unknown,
          site.cmsVersion,
        ]}
      />
      <Pages page={sites.got.value?.page} turn={(to) => (page.value = to)} />
      {isCreating.value && (
        <Dialog title={texts.newSite} onClose={() => (isCreating.value = false)}>
          <Form
            fields={[
              { name: 'name', label: texts.name },
              { name: 'php_version', label: texts.php, options: versions.got.value?.data.toReversed() ?? [] },
              { name: 'staging', label: texts.staging, type: 'checkbox' },
            ]}
            button={texts.make}
            submit={async ({ name: asked = '', php_version, staging }) => {
              const body = {
                name: asked,
                php_version: php_version as NewSite['php_version'],
                ...(staging && { staging: true }),
              }
              const { operationId } = await ask(() => api.POST('/v1/sites', { body }))
              isCreating.value = false
              made.value = operationId === undefined ? undefined : { id: operationId, name: asked }
              await sites.reload()
            }}
          />
        </Dialog>
      )}
    </>
  )
}
