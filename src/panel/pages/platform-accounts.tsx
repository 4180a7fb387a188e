import { useSignal } from '@preact/signals'
import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { Card } from '../parts/card.tsx'
import { CursorPages, placeShown } from '../parts/cursor-pages.tsx'
import { List } from '../parts/list.tsx'
import { Tip } from '../parts/tip.tsx'
import { useLoad } from '../parts/use-load.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { dayOf, timeOf } from '../time.ts'
import { PendingRemoval, RemovalBadge, RemoveAccount, RemoveMenu } from './platform-account-removal.tsx'
import { PlatformSwitch } from './platform-switch.tsx'

type Account = components['schemas']['AccountOfInstallation']

const PER_PAGE = 25

/** All accounts, with their usage of the limits of their plans. */
export function Accounts() {
  const read = (after: number) =>
    ask(() => api.GET('/v1/installation/accounts', { params: { query: { after, per_page: PER_PAGE } } }))
  const accounts = useLoad(() => read(placeShown()), [placeShown()])
  // Not in a row: rows change places while a dialog is open.
  const removed = useSignal<Account | undefined>(undefined)
  const remove = (account: Account) => () => {
    removed.value = account
  }
  return (
    <>
      <Card title={texts.tabs.accounts} isFlush>
        <List
          from={accounts}
          caption={texts.tabs.accounts}
          head={texts.accountsHead}
          hiddenHeads={texts.accountsHead.slice(-1)}
          empty={texts.none}
          columns={['wide', 'whole', 'whole', 'actions']}
          isStacked
          row={(account) => [
            <Named key="name" account={account} />,
            account.plan,
            texts.sitesOf(account.sites, account.max_sites),
            account.operator ? null : account.removal ? (
              <PendingRemoval
                key="action"
                of={account}
                removal={account.removal}
                onChange={accounts.reload}
                onRemove={remove(account)}
              />
            ) : (
              <span key="action" class="row nowrap">
                <Suspension of={account} onChange={accounts.reload} />
                <RemoveMenu of={account} onRemove={remove(account)} />
              </span>
            ),
          ]}
        />
      </Card>
      {removed.value && (
        <RemoveAccount
          of={removed.value}
          onChange={accounts.reload}
          onClose={() => {
            removed.value = undefined
          }}
        />
      )}
      <CursorPages next={accounts.got.value?.next} isOldestFirst />
      <p class="quiet">
        {texts.accountCommands} <code>{texts.accountCommand}</code>
      </p>
    </>
  )
}

const Named = ({ account }: { readonly account: Account }) => (
  <>
    <b>{account.email}</b> {account.operator && <span class="badge accent">{texts.operator}</span>}
    {account.removal ? (
      <RemovalBadge of={account.removal} />
    ) : (
      account.suspended_at !== null && (
        <Tip class="badge warn" text={timeOf(account.suspended_at)}>
          {texts.suspended}
        </Tip>
      )
    )}
    <div class="quiet">{texts.created(account.name, dayOf(account.created_at))}</div>
  </>
)

function Suspension({
  of: { id, email, sites, suspended_at },
  onChange,
}: {
  readonly of: Account
  onChange(): unknown
}) {
  const path = { params: { path: { id } } }
  return (
    <PlatformSwitch
      about={email}
      isOn={suspended_at !== null}
      question={{ title: texts.suspendQuestion(email), text: texts.suspendEffect(sites) }}
      on={{
        ...{ of: 'suspendAccount', name: texts.suspend, did: texts.didSuspend(email) },
        go: () => ask(() => api.PUT('/v1/installation/accounts/{id}/suspend', path)),
      }}
      off={{
        ...{ of: 'resumeAccount', name: texts.resume, did: texts.didResume(email) },
        go: () => ask(() => api.PUT('/v1/installation/accounts/{id}/resume', path)),
      }}
      onChange={onChange}
    />
  )
}
