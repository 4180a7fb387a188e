import { useSignal } from '@preact/signals'
import { api, ask } from '../../../api.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { HeadActions } from '../../../parts/head-actions.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { List, Pages } from '../../../parts/list.tsx'
import { Menu, MenuItem } from '../../../parts/menu.tsx'
import { Segment } from '../../../parts/segment.tsx'
import { sorted } from '../../../parts/sorted.ts'
import { sortOf } from '../../../parts/sorting.tsx'
import { Stat } from '../../../parts/stat.tsx'
import { Tip } from '../../../parts/tip.tsx'
import { attempt, told } from '../../../parts/toasts.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { sizeOf } from '../../../size.ts'
import { backupsTexts as texts } from '../../../texts/site/backups.ts'
import { dayOf, timeOf } from '../../../time.ts'
import type { PartProps } from '../part.ts'
import { UndoNote } from '../undo-note.tsx'
import { Restore } from './restore.tsx'
import type { Kind, Origin, RestorePoint } from './restore-point.ts'
import { useRestorePoints } from './restore-points.ts'

const PER_PAGE = 25
const KINDS: readonly Kind[] = ['fs', 'db']

const kindsIn = ({ backups }: RestorePoint): readonly Kind[] => KINDS.filter((kind) => backups[kind] !== undefined)
const contentsOf = (point: RestorePoint): string => {
  const kinds = kindsIn(point)
  return texts.of[kinds.length > 1 ? 'both' : (kinds[0] ?? 'db')]
}

/** Shortens `Ada (ada@example.com)` to the name. */
const reasonOf = (point: RestorePoint): string => {
  if (point.origin === 'ondemand') return texts.reason.ondemand((point.createdBy ?? '').replace(/ \(.*/, ''))
  return texts.reason[point.origin](kindsIn(point).every((kind) => kind === 'db'))
}

/** The restore points of a site, and restores. */
export function Backups(props: PartProps) {
  const { id } = props
  const points = useRestorePoints(id)
  const params = { path: { id } }
  const ordered = useLoad(() => ask(() => api.GET('/v1/sites/{id}/ondemand-backups', { params })), [id])
  const asked = useSignal<RestorePoint | undefined>(undefined)
  const reload = async () => {
    await Promise.all([points.reload(), ordered.reload()])
  }
  const creating = (ordered.got.value?.data ?? []).filter(({ status }) => status === 'creating')
  const order = (kinds: readonly Kind[]) => () => {
    for (const kind of kinds)
      props.act(texts.about[kind], async () => {
        const body = { backup_type: kind }
        const got = await ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params, body }))
        await ordered.reload()
        return got
      })()
  }
  const all = points.got.value?.data ?? []
  return (
    <>
      <HeadActions>
        <Menu
          of="createOndemandBackup"
          label={texts.now}
          class="main"
          isNamedByButton
          button={
            <>
              <Icon name="archive" /> {texts.now} <Icon name="chevronDown" />
            </>
          }
        >
          <MenuItem icon="archive" of="createOndemandBackup" onClick={order(KINDS)}>
            {texts.order.both}
          </MenuItem>
          <MenuItem icon="database" of="createOndemandBackup" onClick={order(['db'])}>
            {texts.order.db}
          </MenuItem>
          <MenuItem icon="fileText" of="createOndemandBackup" onClick={order(['fs'])}>
            {texts.order.fs}
          </MenuItem>
        </Menu>
      </HeadActions>
      <UndoNote {...props} of={['site.restore']} />
      <Figures points={all} />
      {creating.length > 0 && (
        <p class="row creating-list">
          {creating.map(({ type, requested }) => (
            <span key={`${type} ${requested}`} class="state running">
              {texts.line(texts.creating, texts.of[type])}
            </span>
          ))}
        </p>
      )}
      <Points
        {...props}
        points={points}
        reload={reload}
        restore={(point) => (asked.value = point)}
        order={order(KINDS)}
      />
      {asked.value && (
        <Restore
          {...props}
          point={asked.value}
          all={all}
          onClose={() => {
            asked.value = undefined
          }}
        />
      )}
    </>
  )
}

function Figures({ points }: { readonly points: readonly RestorePoint[] }) {
  const [newest, oldest] = [points[0], points.at(-1)]
  if (!newest || !oldest) return null
  const bytesOf = (kind: Kind) => points.find((each) => kindsIn(each).join() === kind)?.bytes
  const [both, files, database] = [points.find((each) => kindsIn(each).length === 2), bytesOf('fs'), bytesOf('db')]
  return (
    <div class="grid-12 not-phone">
      <Stat
        class="s4"
        label={texts.count}
        value={points.length.toLocaleString()}
        note={texts.oldest(dayOf(oldest.taken))}
      />
      <Stat class="s4" label={texts.newest} value={timeOf(newest.taken)} />
      <Stat
        class="s4"
        label={texts.size}
        value={sizeOf(both?.bytes ?? (files ?? 0) + (database ?? 0))}
        note={texts.of.both}
      />
    </div>
  )
}

type Shown = 'all' | Origin

const sorts = [
  { key: 'taken', by: ({ taken }: RestorePoint) => taken, isLargestFirst: true },
  { key: 'contents', by: (point: RestorePoint) => contentsOf(point) },
  { key: 'reason', by: (point: RestorePoint) => reasonOf(point) },
  { key: 'size', by: ({ bytes }: RestorePoint) => bytes, isLargestFirst: true },
  { key: 'until', by: ({ deleteAt }: RestorePoint) => deleteAt },
]

interface PointsProps extends PartProps {
  readonly points: ReturnType<typeof useRestorePoints>
  reload(): Promise<void>
  restore(point: RestorePoint): void
  order(): void
}

function Points(props: PointsProps) {
  const { id, points, reload, restore } = props
  const shown = useSignal<Shown>('all')
  const page = useSignal(1)
  const all = points.got.value?.data ?? []
  const some = sorted(
    all.filter(({ origin }) => shown.value === 'all' || origin === shown.value),
    sorts,
    sortOf(),
  )
  const lastPage = Math.ceil(some.length / PER_PAGE)
  const rows = some.slice((page.value - 1) * PER_PAGE, page.value * PER_PAGE)
  const filter = (to: Shown) => {
    shown.value = to
    page.value = 1
  }
  return (
    <Card
      title={texts.title}
      isFlush
      actions={<Segment label={texts.show} options={texts.shown} value={shown.value} set={filter} />}
    >
      <List
        from={{ fault: points.fault, got: { value: points.got.value && { data: rows } } }}
        caption={texts.title}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        columns={['wide', 'extra', 'extra', 'extra num', 'extra', 'actions']}
        sorts={sorts}
        kept="backups"
        isCards
        empty={
          all.length > 0 ? (
            <Empty icon="search" title={texts.noneTitle} text={texts.none}>
              <Button onClick={() => filter('all')}>{texts.all}</Button>
            </Empty>
          ) : (
            <Empty icon="archive" title={texts.emptyTitle} text={texts.empty}>
              <Button isMain icon="archive" of="createOndemandBackup" onClick={props.order}>
                {texts.now}
              </Button>
            </Empty>
          )
        }
        row={(point) => [
          <span class="who">
            <span>
              <span class="row">
                <b class="name">{timeOf(point.taken)}</b>
                {point.damage.length > 0 && <Damaged of={point} />}
              </span>
              <span class="sub only-phone">{texts.line(contentsOf(point), reasonOf(point), sizeOf(point.bytes))}</span>
            </span>
          </span>,
          contentsOf(point),
          reasonOf(point),
          sizeOf(point.bytes),
          dayOf(point.deleteAt),
          <span class="row nowrap">
            <Button
              isSmall
              icon="undo2"
              of="restoreSite"
              label={texts.restoreOf(timeOf(point.taken))}
              onClick={() => restore(point)}
            >
              {texts.restore}
            </Button>
            <More id={id} point={point} reload={reload} />
          </span>,
        ]}
      />
      <Pages
        page={{ currentPage: page.value, lastPage, totalItems: some.length }}
        turn={(to) => {
          page.value = to
        }}
      />
    </Card>
  )
}

const Damaged = ({ of }: { readonly of: RestorePoint }) => (
  <Tip class="badge bad" text={texts.damagedIs(of.damage.join(' '))}>
    {texts.damaged}
  </Tip>
)

interface MoreProps {
  readonly id: number
  readonly point: RestorePoint
  reload(): Promise<void>
}

function More({ id, point, reload }: MoreProps) {
  const taken = timeOf(point.taken)
  async function drop(): Promise<void> {
    for (const kind of kindsIn(point)) {
      const path = { site_id: id, id: point.backups[kind] ?? 0 }
      await ask(() => api.DELETE('/v1/sites/{site_id}/ondemand-backups/{id}', { params: { path } }))
    }
    told(texts.deleted)
    attempt(reload)()
  }
  return (
    <Menu of="downloadBackup" label={texts.more(taken)} class="ghost sm only-icon" button={<Icon name="ellipsis" />}>
      {kindsIn(point).map((kind) => (
        <MenuItem key={kind} icon="download" isDownload to={`/v1/sites/${id}/backups/${point.backups[kind]}`}>
          {texts.download[kind]}
        </MenuItem>
      ))}
      {point.origin === 'ondemand' && (
        <MenuItem
          icon="trash2"
          isBad
          of="deleteOndemandBackup"
          onClick={askFirst({
            title: texts.delete,
            text: texts.deleteIs(contentsOf(point), taken),
            button: texts.delete,
            go: drop,
          })}
        >
          {texts.delete}
        </MenuItem>
      )}
    </Menu>
  )
}
