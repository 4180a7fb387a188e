import type { ComponentChildren } from 'preact'
import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { Confirm } from '../parts/ask-first.tsx'
import { Button } from '../parts/button.tsx'
import { Callout } from '../parts/callout.tsx'
import { Change, Changes } from '../parts/changes.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Skeleton } from '../parts/list.tsx'
import { Menu, MenuItem } from '../parts/menu.tsx'
import { Tip } from '../parts/tip.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { showWork } from '../parts/work.ts'
import { sizeOf } from '../size.ts'
import { removalTexts as texts } from '../texts/platform-removal.ts'
import { dayOf, timeOf } from '../time.ts'

type Account = components['schemas']['AccountOfInstallation']
type Removal = NonNullable<Account['removal']>
type Report = components['schemas']['AccountRemovalReport']

/** Days until the deletion, to choose from. */
const DAYS = [0, 1, 3, 7, 14, 30]
const USUAL_DAYS = '7'
/** Entries of each kind that the report names. */
const MOST_NAMED = 5

interface ActionProps {
  readonly of: Account
  /** Reloads the list. */
  onChange(): unknown
}

const pathOf = ({ id }: Account) => ({ params: { path: { id } } })

const cancelRemoval = (account: Account, onChange: () => unknown) =>
  attempt(async () => {
    await ask(() => api.DELETE('/v1/installation/accounts/{id}/removal', pathOf(account)))
    await onChange()
    told(texts.didCancel(account.email))
  })

/** The less common actions on an account. */
export const RemoveMenu = ({ of: { email }, onRemove }: { readonly of: Account; onRemove(): void }) => (
  <Menu of="removeAccount" label={texts.more(email)} class="ghost sm only-icon" button={<Icon name="ellipsis" />}>
    <MenuItem icon="trash2" isBad of="removeAccount" onClick={onRemove}>
      {texts.open}
    </MenuItem>
  </Menu>
)

/** The actions on an account that is being removed. None while it is deleted. */
export function PendingRemoval({
  of: account,
  removal,
  onChange,
  onRemove,
}: ActionProps & { readonly removal: Removal; onRemove(): void }) {
  const { email } = account
  const cancel = cancelRemoval(account, onChange)
  if (removal.state === 'removing') return null
  if (removal.state === 'waiting')
    return (
      <span class="row nowrap">
        <Button isSmall of="cancelAccountRemoval" label={`${texts.cancel}: ${email}`} onClick={cancel}>
          {texts.cancel}
        </Button>
        <Menu of="removeAccount" label={texts.more(email)} class="ghost sm only-icon" button={<Icon name="ellipsis" />}>
          <MenuItem icon="clock" of="removeAccount" onClick={onRemove}>
            {texts.openChange}
          </MenuItem>
        </Menu>
      </span>
    )
  const retry = attempt(async () => {
    await ask(() => api.POST('/v1/operations/{id}/retry', { params: { path: { id: removal.operation_id } } }))
    await onChange()
    told(texts.didRetry(email))
  })
  return (
    <span class="row nowrap">
      <Button isSmall of="retryOperation" label={`${texts.retry}: ${email}`} onClick={retry}>
        {texts.retry}
      </Button>
      <Menu
        of="cancelAccountRemoval"
        label={texts.more(email)}
        class="ghost sm only-icon"
        button={<Icon name="ellipsis" />}
      >
        <MenuItem icon="undo2" of="cancelAccountRemoval" onClick={cancel}>
          {texts.cancel}
        </MenuItem>
      </Menu>
    </span>
  )
}

/** When an account is deleted, or how far that is. */
export const RemovalBadge = ({ of: { state, due_at } }: { readonly of: Removal }) =>
  state === 'waiting' ? (
    <Tip class="badge bad" text={timeOf(due_at)}>
      {texts.on(dayOf(due_at))}
    </Tip>
  ) : (
    <span class="badge bad">{texts.states[state]}</span>
  )

/** Shows what goes with an account, and removes it after its address is typed. Or changes when that happens. */
export function RemoveAccount({ of: account, onChange, onClose }: ActionProps & { onClose(): void }) {
  const { email } = account
  const report = useLoad(() => ask(() => api.GET('/v1/installation/accounts/{id}/removal', pathOf(account))))
  const known = report.got.value?.data
  const isBlocked = known === undefined || known.blockers.length > 0
  const isChange = account.removal !== null
  const words = texts.dialog[isChange ? 'change' : 'remove']
  return (
    <Dialog title={words.title(email)} isWide onClose={onClose}>
      <div class="stack-14">
        <p>{words.effect}</p>
        {report.fault.value && <p class="fault">{report.fault.value}</p>}
        {!known && !report.fault.value && <Skeleton />}
        {known && <Blockers of={known.blockers} />}
        {known && <WhatGoes of={known} />}
        {!isBlocked && (
          <Confirm
            name={email}
            isEmail
            fields={[
              {
                ...{ name: 'days', label: texts.when, value: USUAL_DAYS },
                options: DAYS.map((days) => [String(days), texts.days(days)] as const),
              },
            ]}
            button={words.button}
            go={async ({ days }) => {
              const body = { email, keep_days: Number(days) }
              const order = { ...pathOf(account), body }
              const { data, operationId } = await ask(() => api.POST('/v1/installation/accounts/{id}/removal', order))
              onClose()
              if (body.keep_days > 0)
                told(
                  texts.didRemove(email, dayOf(data.removal?.due_at ?? null)),
                  isChange ? undefined : cancelRemoval(account, onChange),
                )
              else if (operationId !== undefined) showWork(operationId, texts.removing(email), onChange)
              await onChange()
            }}
          />
        )}
      </div>
    </Dialog>
  )
}

const Blockers = ({ of }: { readonly of: Report['blockers'] }) =>
  of.length > 0 && (
    <Callout kind="bad">
      <b>{texts.blocked}</b>
      {of.map(({ code, message }) => (
        <div key={code}>
          {message} {texts.remedies[code]}
        </div>
      ))}
    </Callout>
  )

/** Lists what the removal deletes, with the first names of each kind, and what stays. */
function WhatGoes({ of: report }: { readonly of: Report }) {
  const { sites, backups, domains, zones, people, shared_sites: shared, stays } = report
  const leaving = people.list.filter(({ deleted }) => deleted)
  const others = people.list.filter(({ deleted }) => !deleted)
  const access = people.total - leaving.length
  const signed = zones.list.filter(({ signed }) => signed).map(({ name }) => name)
  const parts = Object.entries(texts.parts) as [keyof typeof texts.parts, readonly string[]][]
  return (
    <>
      {signed.length > 0 && <Callout kind="warn">{texts.signed(firstOf(signed))}</Callout>}
      <Changes label={texts.report}>
        <Gone
          total={sites.total}
          names={sites.list.map(({ name, staging, in_trash }) => texts.siteOf(name, staging, in_trash))}
        >
          {texts.sites(sites.total, sizeOf(sites.bytes))}
        </Gone>
        <Gone total={backups.total}>{texts.backups(backups.total, sizeOf(backups.bytes))}</Gone>
        <Gone total={domains.total} names={domains.list}>
          {texts.domains(domains.total)}
        </Gone>
        <Gone total={zones.total} names={zones.list.map(({ name }) => name)}>
          {texts.zones(zones.total)}
        </Gone>
        <Gone total={leaving.length} names={leaving.map(({ email }) => email)}>
          {texts.accounts(leaving.length, people.total > people.list.length)}
        </Gone>
        <Gone total={access} names={others.map(({ email }) => email)}>
          {texts.access(access)}
        </Gone>
        <Gone total={shared.total} names={shared.list.map(({ site, owner }) => texts.sharedOf(site, owner))}>
          {texts.shared(shared.total)}
        </Gone>
        <Gone total={1}>
          {texts.account(
            parts.filter(([name]) => report[name] > 0).map(([name, words]) => texts.part(report[name], words)),
          )}
        </Gone>
        {stays.map(({ kind, text }) => (
          <Change key={kind} kind="kept">
            {text}
          </Change>
        ))}
      </Changes>
    </>
  )
}

const firstOf = (names: readonly string[], total = names.length): string =>
  texts.named(names.slice(0, MOST_NAMED), total)

/** A kind of things that are deleted. Without any, it is left out. */
const Gone = (props: {
  readonly total: number
  readonly names?: readonly string[]
  readonly children: ComponentChildren
}) =>
  props.total > 0 && (
    <Change kind="deleted">
      {props.children}
      {props.names && <div class="quiet small">{firstOf(props.names, props.total)}</div>}
    </Change>
  )
