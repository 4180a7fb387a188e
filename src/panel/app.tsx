import { api, ask } from './api.ts'
import { isLive } from './live.ts'
import { AccountPage } from './pages/account.tsx'
import { ActivityPage } from './pages/activity.tsx'
import { OperationsPage } from './pages/operations.tsx'
import { SetPasswordPage, SignInPage } from './pages/sign-in.tsx'
import { SitePage } from './pages/site.tsx'
import { SitesPage } from './pages/sites.tsx'
import { ProofDialog } from './parts/proof.tsx'
import { attempt, Toasts } from './parts/toasts.tsx'
import { route } from './route.ts'
import { session } from './session.ts'

const pages = [
  ['sites', 'Sites'],
  ['operations', 'Operations'],
  ['activity', 'Activity'],
  ['account', 'Account'],
] as const

export function App() {
  const [page, ...rest] = route.value
  if (page === 'set-password') return <SetPasswordPage token={rest[0] ?? ''} />
  if (session.value === undefined) return <p class="narrow quiet">Opening …</p>
  if (session.value === null) return <SignInPage />
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header class="bar">
        <strong>Stead</strong>
        <nav aria-label="Pages of the panel">
          {pages.map(([name, label]) => (
            <a key={name} href={`#/${name}`} aria-current={(page ?? 'sites') === name ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <span class="quiet">{session.value.email}</span>
        <button type="button" onClick={attempt(signOut)}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {!isLive.value && (
          <p class="quiet" role="status">
            Not connected: what others change is shown once the connection is back.
          </p>
        )}
        <Content page={page ?? 'sites'} rest={rest} />
      </main>
      <ProofDialog />
      <Toasts />
    </>
  )
}

function Content({ page, rest }: { readonly page: string; readonly rest: readonly string[] }) {
  if (page === 'sites' && rest[0]) return <SitePage key={rest[0]} id={Number(rest[0])} />
  if (page === 'sites') return <SitesPage />
  if (page === 'operations') return <OperationsPage />
  if (page === 'activity') return <ActivityPage />
  if (page === 'account') return <AccountPage />
  return <p>There is no such page.</p>
}

async function signOut(): Promise<void> {
  await ask(() => api.DELETE('/v1/session'))
  session.value = null
}
