import { api, ask } from '../api.ts'
import { Card } from '../parts/card.tsx'
import { CursorPages, placeShown } from '../parts/cursor-pages.tsx'
import { List } from '../parts/list.tsx'
import { useLoad } from '../parts/use-load.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { timeOf } from '../time.ts'

const PER_PAGE = 25

/** All accounts, with what they have of what their plan allows. */
export function Accounts() {
  const read = (after: number) =>
    ask(() => api.GET('/v1/installation/accounts', { params: { query: { after, per_page: PER_PAGE } } }))
  const accounts = useLoad(() => read(placeShown()), [placeShown()])
  return (
    <>
      <Card title={texts.tabs.accounts} isFlush>
        <List
          from={accounts}
          caption={texts.tabs.accounts}
          head={texts.accountsHead}
          empty={texts.none}
          isStacked
          row={({ email, name, plan, operator, sites, max_sites, created_at }) => [
            <>
              <b>{email}</b> {operator && <span class="badge accent">{texts.operator}</span>}
              <div class="quiet">{name}</div>
            </>,
            <>
              {plan}
              <div class="quiet">{texts.since(timeOf(created_at))}</div>
            </>,
            texts.sitesOf(sites, max_sites),
          ]}
        />
      </Card>
      <CursorPages next={accounts.got.value?.next} isOldestFirst />
      <p class="quiet">
        {texts.accountCommands} <code>{texts.accountCommand}</code>
      </p>
    </>
  )
}
