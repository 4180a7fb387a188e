import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Callout } from '../../parts/callout.tsx'
import { Card } from '../../parts/card.tsx'
import { CopyField } from '../../parts/copy-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { MonitoringState } from '../../parts/monitoring-state.tsx'
import { May } from '../../parts/rights.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { useFigures } from '../../parts/site-figures.ts'
import { Spark } from '../../parts/spark.tsx'
import { Stat } from '../../parts/stat.tsx'
import { StateOf } from '../../parts/state-of.tsx'
import { Switch } from '../../parts/switch.tsx'
import { Thumb } from '../../parts/thumb.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { UptimeBars } from '../../parts/uptime-bars.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { person } from '../../session.ts'
import { sizeOf } from '../../size.ts'
import { siteUptimeTexts, uptimeTexts } from '../../texts/monitoring.ts'
import { cacheTexts } from '../../texts/site/cache.ts'
import { overviewTexts as texts } from '../../texts/site/overview.ts'
import { relocateTexts } from '../../texts/site/relocate.ts'
import { agoOf, timeOf } from '../../time.ts'
import { openDatabase } from '../open-database.ts'
import { openLogin } from '../open-login.ts'
import { siteAddress } from '../site-address.ts'
import { wordpressRelease } from '../wordpress-release.ts'
import { EdgeCache, FlushObjects, PurgeCache } from './cache-controls.tsx'
import { EnvironmentSwitch } from './environment-switch.tsx'
import { type PartProps, turnWith } from './part.ts'
import { QuickLinks } from './quick-links.tsx'
import { Relocate } from './relocate.tsx'
import { connectBy, useSftpUsers } from './ssh-command.ts'
import { Favorite, Tags } from './tags.tsx'
import { type Days, RecentActivity, Traffic } from './traffic/recent.tsx'

/** The dashboard of a site: its state, its visits, and the most common actions. */
export function Overview(props: PartProps) {
  const isMoving = useSignal(false)
  const params = { path: { site_id: props.id } }
  const days = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/statistics/days', { params })), [props.id])
  const ofSite = { params: { path: { id: props.id } } }
  const uptime = useLoad(() => ask(() => api.GET('/v1/sites/{id}/uptime', ofSite)), [props.id])
  return (
    <>
      <Head {...props} uptime={uptime.got.value?.data} move={() => (isMoving.value = true)} />
      {isMoving.value && <Relocate {...props} onClose={() => (isMoving.value = false)} />}
      <QuickLinks id={props.id} />
      <Advice {...props} />
      <DatabaseErrors {...props} />
      <Figures {...props} days={days.got.value?.data} />
      <UptimeFigure id={props.id} known={uptime.got.value?.data} />
      <div class="grid-12">
        <Environment {...props} />
        <Caching {...props} />
        <Traffic days={days.got.value?.data} />
        <RecentActivity {...props} />
      </div>
    </>
  )
}

function Head({ site, act, id, uptime, move }: PartProps & { readonly uptime: SiteUptime; move(): void }) {
  const path = { params: { path: { id } } }
  const figures = useFigures([id])
  const isMovable = useOtherHosts(id)
  return (
    <div class="head">
      <Thumb id={id} isBig picture={figures.get(id)?.pictureLocation} />
      <div>
        <h1 class="row">
          {site.displayName} <Favorite site={site} act={act} id={id} />
        </h1>
        <p class="row quiet">
          <a href={siteAddress(site.url)} target="_blank" rel="noreferrer">
            {site.url}
          </a>
          <span>{site.datacenterName}</span>
          <Tags site={site} act={act} id={id} />
        </p>
        <p class="row">
          {uptime && isTrouble(uptime.state) ? <MonitoringState of={uptime} /> : <StateOf site={site} />}
          <span class="badge">{texts.environments[site.wpEnvironmentType]}</span>
        </p>
      </div>
      <div class="right">
        <EnvironmentSwitch id={id} />
        <a class="button" href={siteAddress(site.url)} target="_blank" rel="noreferrer">
          <Icon name="externalLink" /> {texts.openSite}
        </a>
        <Button isMain icon="keyRound" of="createOneTimeLogin" onClick={attempt(() => openLogin(id))}>
          {texts.login}
        </Button>
        <Menu label={texts.more} class="only-icon" button={<Icon name="ellipsis" />}>
          <MenuItem icon="database" of="getDatabaseAdminUrl" onClick={attempt(() => openDatabase(id))}>
            {texts.database}
          </MenuItem>
          <MenuItem icon="lock" of="resetAdminPassword" onClick={resetPassword(id)}>
            {texts.password}
          </MenuItem>
          {isMovable && (
            <MenuItem icon="server" of="relocateSite" onClick={move}>
              {relocateTexts.menu}
            </MenuItem>
          )}
          {site.state === 'disabled' ? (
            <MenuItem
              icon="play"
              of="enableSite"
              onClick={act(texts.enable, () => ask(() => api.PUT('/v1/sites/{id}/enable', path)))}
            >
              {texts.enable}
            </MenuItem>
          ) : (
            <MenuItem
              icon="power"
              isBad
              of="disableSite"
              onClick={askFirst({
                title: texts.disable,
                text: texts.disableIs,
                button: texts.disable,
                go: async () => act(texts.disabled, () => ask(() => api.PUT('/v1/sites/{id}/disable', path)))(),
              })}
            >
              {texts.disable}
            </MenuItem>
          )}
        </Menu>
      </div>
    </div>
  )
}

/** Returns whether the person is the operator, and the installation has several hosts. */
function useOtherHosts(id: number): boolean {
  const { operator = false } = person.value ?? {}
  const hosts = useLoad(async () => {
    if (!operator) return { data: [] }
    return ask(() => api.GET('/v1/sites/{id}/hosts', { params: { path: { id } } }))
  }, [id, operator])
  return (hosts.got.value?.data.length ?? 0) > 1
}

function Figures({ id, days }: PartProps & { readonly days: Days }) {
  const params = { path: { site_id: id } }
  const use = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/statistics', { params })))
  const daily = days ?? []
  const views = daily.map((day) => day.views)
  const people = daily.map((day) => day.people)
  const sum = (of: readonly number[]) => of.reduce((all, each) => all + each, 0)
  const known = use.got.value?.data
  const shown = (value: number | undefined) => value?.toLocaleString() ?? texts.unknown
  return (
    <div class="grid-12">
      <Stat label={texts.views} value={shown(days && sum(views))}>
        <Spark values={views} />
      </Stat>
      <Stat label={texts.visitors} value={shown(days && Math.round(sum(people) / (people.length || 1)))}>
        <Spark values={people} />
      </Stat>
      <Stat
        label={texts.today}
        value={shown(known?.pageViews.today.views)}
        note={known && texts.yesterday(known.pageViews.yesterday.views)}
      >
        <Spark values={views.slice(-7)} />
      </Stat>
      <Stat
        label={texts.disk}
        value={known ? sizeOf(known.fileSystemUsageBytes + known.databaseUsageBytes) : texts.unknown}
        note={known && texts.ofDatabase(sizeOf(known.databaseUsageBytes))}
      >
        {known && (
          <progress
            max={known.fileSystemUsageBytes + known.databaseUsageBytes || 1}
            value={known.databaseUsageBytes}
            aria-label={texts.databaseShare}
          />
        )}
      </Stat>
    </div>
  )
}

type SiteUptime = components['schemas']['SiteUptime'] | undefined

/** A site that is down is not online, whatever its owner has set. */
const isTrouble = (state: string): boolean => state === 'down' || state === 'slow'

function UptimeFigure({ id, known }: { readonly id: number; readonly known: SiteUptime }) {
  if (!known) return null
  return (
    <Card title={siteUptimeTexts.percent} actions={<a href={`#/sites/${id}/uptime`}>{siteUptimeTexts.link}</a>}>
      <p class="row">
        <MonitoringState of={known} />
        <strong>{uptimeTexts.percent(known.percent)}</strong>
      </p>
      <UptimeBars percents={known.days.map(({ percent }) => percent)} />
    </Card>
  )
}

function Environment({ site, act, id }: PartProps) {
  const params = { path: { id } }
  const lastBackupAt = useFigures([id]).get(id)?.lastBackupAt
  const backUp = (kind: 'fs' | 'db') =>
    act(texts.backUp[kind], () =>
      ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params, body: { backup_type: kind } })),
    )
  return (
    <Card class="s8" title={texts.environment}>
      <dl>
        <dt>{texts.wordpress}</dt>
        <dd>{wordpressRelease(site.cmsVersion)}</dd>
        <dt>{texts.php}</dt>
        <dd class="row">
          {site.phpVersion ?? texts.unknown}
          <May do="updateSite" what={texts.changePhp}>
            <a href={`#/sites/${id}/cache`}>{texts.changePhp}</a>
          </May>
        </dd>
        <dt>{texts.backups}</dt>
        <dd class="row">
          {lastBackupAt && (
            <time dateTime={lastBackupAt} data-tip={timeOf(lastBackupAt)}>
              {agoOf(lastBackupAt)}
            </time>
          )}
          {lastBackupAt === null && texts.noBackup}
          <Button isSmall icon="archive" of="createOndemandBackup" onClick={backUp('db')}>
            {texts.backUp.db}
          </Button>
          <Button isSmall icon="archive" of="createOndemandBackup" onClick={backUp('fs')}>
            {texts.backUp.fs}
          </Button>
        </dd>
        <dt>{texts.domains}</dt>
        <dd class="row">
          {texts.domainsOf(site.domainsCount)}
          <a href={`#/sites/${id}/domains`}>{texts.manage}</a>
        </dd>
        <dt>{texts.sftpHost}</dt>
        <dd>
          <CopyField value={site.sftpDomain} of={texts.sftpHost} />
        </dd>
        <May do="listSftpUsers" what={texts.sftp}>
          <SftpCommand id={id} />
        </May>
        <dt>{texts.created}</dt>
        <dd>{timeOf(site.created)}</dd>
      </dl>
    </Card>
  )
}

/** The command of the person's own SFTP user, with the port. */
function SftpCommand({ id }: Pick<PartProps, 'id'>) {
  const users = useSftpUsers(id).got.value?.data
  const own = users?.find(({ email }) => email === person.value?.email)
  const command = own && connectBy('sftp', own)
  if (!command) return null
  return (
    <>
      <dt>{texts.sftp}</dt>
      <dd>
        <CopyField value={command} of={texts.sftp} />
      </dd>
    </>
  )
}

function Caching({ site, act, id }: PartProps) {
  const path = { params: { path: { id } } }
  return (
    <Card class="s4" title={texts.caching} isFlush actions={<PurgeCache id={id} act={act} />}>
      <EdgeCache site={site} id={id} act={act} help={texts.edgeIs} />
      <div class="rowline">
        <div>{cacheTexts.objects}</div>
        <FlushObjects id={id} act={act}>
          {texts.flush}
        </FlushObjects>
      </div>
      <Switch
        label={texts.maintenance}
        help={texts.maintenanceIs}
        of="toggleMaintenance"
        isOn={site.status?.status === 'maintenance'}
        turn={turnWith(
          act,
          (enabled) => texts.turned(texts.maintenance, enabled),
          (enabled) => ask(() => api.PUT('/v1/sites/{id}/maintenance-mode', { ...path, body: { enabled } })),
        )}
      />
      <Switch
        label={texts.safeMode}
        help={texts.safeModeIs}
        of="setSafeMode"
        isOn={site.status?.safeMode ?? false}
        turn={turnWith(
          act,
          (enabled) => texts.turned(texts.safeMode, enabled),
          (enabled) => ask(() => api.PUT('/v1/sites/{id}/cms/safe-mode', { ...path, body: { enabled } })),
        )}
      />
    </Card>
  )
}

/** Advice for the owner, with a button that follows it. */
function Advice({ id, act }: PartProps) {
  const path = { params: { path: { id } } }
  const advice = useLoad(() => ask(() => api.GET('/v1/sites/{id}/advice', path)))
  return (advice.got.value?.data ?? []).map(({ code, phpVersion }) => (
    <Callout key={code}>
      <b>{texts.advice[code].title}</b>
      <p>{texts.advice[code].text(phpVersion)}</p>
      <p class="row">
        <Button
          of="moveSite"
          onClick={askFirst({
            title: texts.advice[code].button,
            text: texts.advice[code].sure,
            button: texts.advice[code].button,
            async go() {
              const body = { runtime: 'native', php_version: phpVersion } as const
              const got = await ask(() => api.PUT('/v1/sites/{id}/runtime', { ...path, body }))
              act(texts.advice[code].button, async () => got)()
            },
          })}
        >
          {texts.advice[code].button}
        </Button>
      </p>
    </Callout>
  ))
}

/** The count stops there. */
const MOST_COUNTED = 1000

/** Reports failed database statements, because a page whose statement failed often just looks empty. */
function DatabaseErrors({ id }: PartProps) {
  const status = 'Database error' as const
  const params = { path: { id }, query: { status } }
  const counted = useLoad(() => ask(() => api.GET('/v1/sites/{id}/logs/php/count', { params })), [id])
  const count = counted.got.value?.data.count ?? 0
  if (count === 0) return null
  return (
    <Callout>
      <b>{texts.databaseErrors.title(count, MOST_COUNTED)}</b>
      <p>{texts.databaseErrors.text}</p>
      <p class="row">
        <a class="button" href={`#/sites/${id}/logs?${new URLSearchParams({ log: 'php', severity: status })}`}>
          {texts.databaseErrors.log}
        </a>
      </p>
    </Callout>
  )
}

const resetPassword = (id: number) =>
  askFirst({
    title: texts.password,
    text: texts.passwordAsk,
    button: texts.password,
    async go() {
      const params = { path: { site_id: id } }
      showSecret(
        texts.passwordOf,
        (await ask(() => api.PUT('/v1/sites/{site_id}/cms/password-reset', { params }))).data,
      )
    },
  })
