import { useSignal } from '@preact/signals'
import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { vulnerabilitiesTexts as texts } from '../texts/vulnerabilities.ts'
import { Button } from './button.tsx'
import { Callout } from './callout.tsx'
import { useLoad } from './use-load.ts'

type Vulnerability = components['schemas']['Vulnerability']

const MOST_SHOWN = 3
const MOST_LOADED = 50

const badges: Readonly<Record<NonNullable<Vulnerability['severity']>, string>> = {
  low: '',
  medium: 'warn',
  high: 'bad',
  critical: 'bad',
}

/** Warns of known vulnerabilities of a site, or of all sites. Shows nothing if there is none. */
export function Vulnerabilities({ siteId }: { readonly siteId?: number }) {
  const showsAll = useSignal(false)
  const query = { per_page: MOST_LOADED, ...(siteId !== undefined && { site_id: siteId }) }
  const { got } = useLoad(() => ask(() => api.GET('/v1/vulnerabilities', { params: { query } })), [siteId])
  const all = got.value?.data ?? []
  if (all.length === 0) return null
  const shown = showsAll.value ? all : all.slice(0, MOST_SHOWN)
  return (
    <Callout kind="bad">
      <b>{texts.title(got.value?.page?.totalItems ?? all.length)}.</b> {texts.is}
      <ul class="plain findings">
        {shown.map((one) => (
          <One key={`${one.id} ${one.kind} ${one.slug}`} of={one} isOfSite={siteId !== undefined} />
        ))}
      </ul>
      {shown.length < all.length && (
        <Button
          isSmall
          onClick={() => {
            showsAll.value = true
          }}
        >
          {texts.all}
        </Button>
      )}
    </Callout>
  )
}

function One({ of: one, isOfSite }: { readonly of: Vulnerability; readonly isOfSite: boolean }) {
  const { severity, name, title, link, versions, sites } = one
  const fixes = versions.map(({ fixed_in: version }) => version)
  const newest = fixes.includes(null) ? null : fixes[0]
  return (
    <li>
      <span class={`badge ${severity ? badges[severity] : ''}`}>
        {severity ? texts.severities[severity] : texts.unknown}
      </span>{' '}
      <b>{texts.affected(name, versions.map(({ version }) => version).join(', '))}</b>
      {': '}
      {newest ? texts.fixed(newest) : texts.unfixed}
      {!isOfSite && ` · ${texts.on(sites)}`}
      <p>
        {title}{' '}
        {link && (
          <a href={link} target="_blank" rel="noreferrer">
            {texts.more}
          </a>
        )}
      </p>
    </li>
  )
}
