import { signal } from '@preact/signals'
import { type ComponentChildren, Fragment } from 'preact'
import { createPortal } from 'preact/compat'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icons.ts'
import { May } from '../parts/rights.tsx'
import { useFigures } from '../parts/site-figures.ts'
import { Thumb } from '../parts/thumb.tsx'
import { route } from '../route.ts'
import { person } from '../session.ts'
import { accountPartsTexts } from '../texts/account-parts.ts'
import { commonTexts } from '../texts/common.ts'
import { frameTexts as texts } from '../texts/frame.ts'
import { siteTexts } from '../texts/site/page.ts'
import { brand } from './brand.ts'
import { BrandHead } from './brand-head.tsx'
import { initialsOf } from './initials-of.ts'
import { accountPages, type MainEntry, mainPages, operatorPages, type SiteEntry, sitePages } from './navigation.ts'
import { PersonMenu } from './person-menu.tsx'

/** Whether a phone shows the side navigation. Wide screens always show it. */
export const isSideOpen = signal(false)
addEventListener('hashchange', () => {
  isSideOpen.value = false
})

/** The place of a page's own navigation. */
const slot = signal<HTMLElement | null>(null)
const setSlot = (element: HTMLElement | null): void => {
  slot.value = element
}

function NavLink(props: {
  readonly to: string
  readonly icon: IconName
  readonly isHere: boolean
  readonly text: string
}) {
  return (
    <a class="nav" href={`#/${props.to}`} aria-current={props.isHere ? 'page' : undefined}>
      <Icon name={props.icon} /> {props.text}
    </a>
  )
}

/** Links to the parts of a page. */
const Pages = (props: { readonly label: string; readonly of: readonly MainEntry[]; readonly here: string }) => (
  <nav aria-label={props.label}>
    {props.of.map(({ name, icon }) => (
      <NavLink key={name} to={name} icon={icon} isHere={props.here === name} text={commonTexts.pages[name]} />
    ))}
  </nav>
)

export function Side() {
  const [page = 'sites', part] = route.value
  const isSite = page === 'sites' && part !== undefined
  const { name = '', operator = false } = person.value ?? {}
  return (
    <>
      {isSideOpen.value && <div class="side-shade" aria-hidden="true" onClick={() => (isSideOpen.value = false)} />}
      <aside class={`side ${isSideOpen.value ? 'open' : ''}`} aria-label={texts.side}>
        <a class="brand" href="#/sites">
          <BrandHead of={brand.value} />
        </a>
        {isSite ? (
          <div ref={setSlot} />
        ) : (
          <>
            <div class="here">
              <span class="avatar" data-initials={initialsOf(name)} />
              <span>
                <b>{name}</b>
                <span class="quiet small">{texts.account}</span>
              </span>
            </div>
            <Pages label={texts.main} of={mainPages} here={page} />
            <h2>{commonTexts.pages.account}</h2>
            <nav aria-label={accountPartsTexts.parts}>
              {accountPages.map((each) => (
                <NavLink
                  key={each.name}
                  to={`account/${each.name}`}
                  icon={each.icon}
                  isHere={page === 'account' && (part ?? 'you') === each.name}
                  text={accountPartsTexts.names[each.name]}
                />
              ))}
            </nav>
            {operator && (
              <>
                <h2>{texts.operator}</h2>
                <Pages label={texts.operator} of={operatorPages} here={page} />
              </>
            )}
          </>
        )}
        <div class="end">
          {isSite && <NavLink to="sites" icon="undo2" isHere={false} text={texts.allSites} />}
          <PersonMenu />
        </div>
      </aside>
    </>
  )
}

/** Replaces the account's navigation on this page. */
export const InSide = ({ children }: { readonly children: ComponentChildren }) =>
  slot.value ? createPortal(children, slot.value) : null

/** The navigation of a site, without pages that the person has no right to. */
export function SiteSide(props: {
  readonly id: number
  readonly name: string
  readonly kind: string
  readonly part: string
}) {
  const figures = useFigures([props.id])
  return (
    <InSide>
      <div class="here">
        <Thumb id={props.id} picture={figures.get(props.id)?.pictureLocation} />
        <span>
          <b>{props.name}</b>
          <span class="quiet small">{props.kind}</span>
        </span>
      </div>
      <nav aria-label={siteTexts.parts}>
        {sitePages.map((group) => (
          <Fragment key={'title' in group ? group.title : ''}>
            {'title' in group && <h2>{texts.groups[group.title]}</h2>}
            {group.entries.map(({ name, icon, readBy }: SiteEntry) => (
              <May key={name} do={readBy ?? 'getSite'} what={siteTexts.names[name]}>
                <NavLink
                  to={`sites/${props.id}/${name}`}
                  icon={icon}
                  isHere={props.part === name}
                  text={siteTexts.names[name]}
                />
              </May>
            ))}
          </Fragment>
        ))}
      </nav>
    </InSide>
  )
}
