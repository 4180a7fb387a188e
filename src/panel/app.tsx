import { BottomBar } from './frame/bottom-bar.tsx'
import { Side } from './frame/side.tsx'
import { TopBar } from './frame/top-bar.tsx'
import { isLive } from './live.ts'
import { AccountParts } from './pages/account/account-parts.tsx'
import { SetPasswordPage, SignInAgain, SignInPage } from './pages/sign-in.tsx'
import { SitePage } from './pages/site/site-page.tsx'
import { SitesPage } from './pages/sites/sites-page.tsx'
import { AskFirst } from './parts/ask-first.tsx'
import { Callout } from './parts/callout.tsx'
import { later } from './parts/later.tsx'
import { Palette } from './parts/palette.tsx'
import { ProofDialog } from './parts/proof.tsx'
import { Offered } from './parts/rights.tsx'
import { SecretDialog } from './parts/secret.tsx'
import { Toasts } from './parts/toasts.tsx'
import { useTitle } from './parts/use-title.ts'
import { route } from './route.ts'
import { person, session } from './session.ts'
import { commonTexts as texts } from './texts/common.ts'
import { frameTexts } from './texts/frame.ts'

const pages = [
  'sites',
  'zones',
  'monitoring',
  'alerts',
  'plugins',
  'operations',
  'activity',
  'account',
  'platform',
] as const

const AlertsPage = later(() => import('./pages/alerts.tsx').then((file) => file.AlertsPage))
const ActivityPage = later(() => import('./pages/activity.tsx').then((file) => file.ActivityPage))
const InventoryPage = later<{ slug: string | undefined }>(() =>
  import('./pages/inventory/inventory-page.tsx').then((file) => file.InventoryPage),
)
const MonitoringPage = later(() => import('./pages/monitoring.tsx').then((file) => file.MonitoringPage))
const OperationsPage = later(() => import('./pages/operations.tsx').then((file) => file.OperationsPage))
const ZonesPage = later(() => import('./pages/zones/zones-page.tsx').then((file) => file.ZonesPage))
const PlatformPage = later(() => import('./pages/platform.tsx').then((file) => file.PlatformPage))

export function App() {
  const [page, ...rest] = route.value
  if (page === 'set-password' || page === 'invitation')
    return <SetPasswordPage key={rest[0]} token={rest[0] ?? ''} isInvited={page === 'invitation'} />
  if (session.value === undefined) return <p class="narrow quiet">{texts.opening}</p>
  if (!person.value) return <SignInPage />
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: like all links, it leads to a part of this page */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The part after # is the current page.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        {texts.toContent}
      </a>
      <div class="app">
        <Side />
        <div>
          <TopBar />
          <main id="main" tabIndex={-1}>
            {!isLive.value && session.value && (
              <div role="status">
                <Callout kind="warn">{frameTexts.offline}</Callout>
              </div>
            )}
            <Offered key={`${person.value.account_id} ${page}`}>
              <Content page={page ?? 'sites'} rest={rest} />
            </Offered>
          </main>
        </div>
      </div>
      <BottomBar />
      <Palette />
      <AskFirst />
      <SecretDialog />
      <ProofDialog />
      {session.value === null && <SignInAgain email={person.value.email} />}
      <Toasts />
    </>
  )
}

function Content({ page, rest }: { readonly page: string; readonly rest: readonly string[] }) {
  const known = pages.find((each) => each === page)
  useTitle(known === 'sites' && rest[0] ? undefined : known ? texts.pages[known] : texts.noSuchPage)
  if (page === 'sites' && rest[0]) return <SitePage key={rest[0]} id={Number(rest[0])} part={rest[1] ?? 'overview'} />
  if (page === 'sites') return <SitesPage />
  if (page === 'zones') return <ZonesPage id={rest[0]} />
  if (page === 'plugins') return <InventoryPage slug={rest[0]} />
  if (page === 'monitoring') return <MonitoringPage />
  if (page === 'alerts') return <AlertsPage />
  if (page === 'operations') return <OperationsPage />
  if (page === 'activity') return <ActivityPage />
  if (page === 'platform') return <PlatformPage />
  if (page === 'account') return <AccountParts rest={rest} />
  return <p>{texts.noSuchPage}</p>
}
