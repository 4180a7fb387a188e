import { type SiteEntry, sitePages } from '../../frame/navigation.ts'
import { Icon } from '../../parts/icon.tsx'
import { May } from '../../parts/rights.tsx'
import { overviewTexts } from '../../texts/site/overview.ts'
import { siteTexts as texts } from '../../texts/site/page.ts'

/** The pages that most tasks begin on. */
const shown = new Set<string>([
  'backups',
  'plugins',
  'domains',
  'collaborators',
  'copies',
  'logs',
  'statistics',
  'cache',
] satisfies (keyof typeof texts.names)[])

const entries = sitePages.flatMap<SiteEntry>((group) => group.entries).filter(({ name }) => shown.has(name))

/** On a phone, where the side navigation is closed: its most used pages within one tap. */
export const QuickLinks = ({ id }: { readonly id: number }) => (
  <nav class="quick" aria-label={overviewTexts.quick}>
    {entries.map(({ name, icon, readBy }) => (
      <May key={name} do={readBy ?? 'getSite'} what={texts.names[name]}>
        <a href={`#/sites/${id}/${name}`}>
          <Icon name={icon} /> {texts.names[name]}
        </a>
      </May>
    ))}
  </nav>
)
