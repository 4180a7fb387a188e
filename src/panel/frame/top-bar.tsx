import { signal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Icon } from '../parts/icon.tsx'
import { openPalette } from '../parts/palette.tsx'
import { useLoad } from '../parts/use-load.ts'
import { route } from '../route.ts'
import { accountPartsTexts } from '../texts/account-parts.ts'
import { commonTexts } from '../texts/common.ts'
import { frameTexts as texts } from '../texts/frame.ts'
import { siteTexts } from '../texts/site/page.ts'
import { Bell } from './bell.tsx'
import { brand } from './brand.ts'
import { BrandHead } from './brand-head.tsx'

/** The current site, whose name is in the breadcrumb. */
export const siteShown = signal<{ readonly id: number; readonly name: string } | undefined>(undefined)

interface Crumb {
  readonly text: string
  readonly to?: string
}

function crumbs(): Crumb[] {
  const [page = 'sites', id, part = 'overview'] = route.value
  const name = (commonTexts.pages as Record<string, string>)[page] ?? page
  if (page === 'account') {
    const names: Record<string, string> = accountPartsTexts.names
    return [{ text: name }, { text: names[id ?? 'you'] ?? '' }]
  }
  if (page !== 'sites' || id === undefined) return [{ text: name }]
  const names: Record<string, string> = siteTexts.names
  const site = siteShown.value?.id === Number(id) ? siteShown.value.name : ''
  return [
    { text: name, to: '#/sites' },
    ...(part === 'overview'
      ? [{ text: site }]
      : [{ text: site, to: `#/sites/${id}/overview` }, { text: names[part] ?? '' }]),
  ]
}

export function TopBar() {
  return (
    <header class="top">
      {brand.value && (
        <span class="only-phone">
          <a class="brand" href="#/sites" aria-label={brand.value.name}>
            <BrandHead of={brand.value} isShort />
          </a>
        </span>
      )}
      <div class="crumbs">
        {crumbs().map(({ text, to }) =>
          to ? (
            <a key={text} href={to}>
              {text}
            </a>
          ) : (
            <span key={text}>{text}</span>
          ),
        )}
      </div>
      <div class="right">
        <button type="button" class="find" onClick={openPalette}>
          <Icon name="search" /> {texts.searchHint} <kbd>{texts.searchKey}</kbd>
        </button>
        <Running />
        <Bell />
      </div>
    </header>
  )
}

/** Running operations of all sites. */
function Running() {
  const query = { state: 'running' as const, page: 1, per_page: 1 }
  const running = useLoad(() => ask(() => api.GET('/v1/operations', { params: { query } })))
  const count = running.got.value?.page?.totalItems ?? 0
  return (
    <a class="button ghost" href="#/operations" aria-label={texts.operations(count)} data-tip={texts.operations(count)}>
      <Icon name="clock" />
      {count > 0 && <span class="badge accent">{texts.running(count)}</span>}
    </a>
  )
}
