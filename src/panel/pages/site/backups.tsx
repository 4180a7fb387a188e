import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { backupsTexts as texts } from '../../texts/site/backups.ts'
import { timeOf, timeOfBackup } from '../../time.ts'
import type { PartProps } from './part.ts'
import { Restore, type RestoreFrom } from './restore.tsx'

const timeOfUnix = (seconds: number): string => timeOf(new Date(seconds * 1000).toISOString())

/** Backups that were ordered and those that come by themselves, and the way back to them. */
export function Backups(props: PartProps) {
  const asked = useSignal<RestoreFrom | undefined>(undefined)
  const damaged = useDamaged(props.id)
  const restore = (from: RestoreFrom) => () => {
    asked.value = from
  }
  return (
    <>
      <OnDemand {...props} damaged={damaged} restore={restore} />
      <Automatic {...props} damaged={damaged} restore={restore} />
      {asked.value && (
        <Restore
          {...props}
          from={asked.value}
          onClose={() => {
            asked.value = undefined
          }}
        />
      )}
    </>
  )
}

type Props = PartProps & { readonly damaged: ReadonlySet<number>; restore(from: RestoreFrom): () => void }

/** Backups that cannot be restored whole any more: the lists of each kind call them so, in their titles. */
function useDamaged(id: number): ReadonlySet<number> {
  const params = { path: { site_id: id } }
  const listed = useLoad(async () => {
    const lists = await Promise.all([
      ask(() => api.GET('/v1/sites/{site_id}/backups/fs', { params })),
      ask(() => api.GET('/v1/sites/{site_id}/backups/db', { params })),
    ])
    return { data: lists.flatMap(({ data }) => data) }
  })
  const damaged = (listed.got.value?.data ?? []).filter(({ title }) => title.includes(', damaged'))
  return new Set(damaged.map((each) => Number(each.id)))
}

function OnDemand({ id, act, damaged, restore }: Props) {
  const params = { path: { id } }
  const backups = useLoad(() => ask(() => api.GET('/v1/sites/{id}/ondemand-backups', { params })))
  const order = (kind: 'fs' | 'db') =>
    act(texts.about[kind], async () => {
      const got = await ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params, body: { backup_type: kind } }))
      await backups.reload()
      return got
    })
  const drop = (backup: number, about: string) =>
    askFirst({
      title: about,
      text: texts.deleteIs,
      button: texts.delete,
      async go() {
        const path = { site_id: id, id: backup }
        const got = await ask(() => api.DELETE('/v1/sites/{site_id}/ondemand-backups/{id}', { params: { path } }))
        act(about, async () => got)()
        await backups.reload()
      },
    })
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>{texts.title}</h2>
        <span class="row">
          <Button of="createOndemandBackup" onClick={order('fs')}>
            {texts.order.fs}
          </Button>
          <Button of="createOndemandBackup" onClick={order('db')}>
            {texts.order.db}
          </Button>
        </span>
      </div>
      <List
        from={backups}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={({ id: backup, type, status, requested, removedIn }) => [
          texts.of[type],
          damaged.has(Number(backup)) ? <Damaged /> : <span class={`state ${status}`}>{status}</span>,
          timeOfUnix(requested),
          texts.removedIn(removedIn),
          status === 'completed' && backup !== null && (
            <span class="row">
              <a
                href={`/v1/sites/${id}/ondemand-backups/${backup}/download`}
                aria-label={texts.downloadOf(texts.of[type], timeOfUnix(requested))}
                download
              >
                {texts.download}
              </a>
              <Button
                of="restoreSite"
                label={texts.restoreOf(timeOfUnix(requested))}
                onClick={restore({ taken: timeOfUnix(requested), [type]: Number(backup) })}
              >
                {texts.restore}
              </Button>
              <Button
                of="deleteOndemandBackup"
                isBad
                label={texts.deleteOf(texts.of[type], timeOfUnix(requested))}
                onClick={drop(Number(backup), texts.deleteOf(texts.of[type], timeOfUnix(requested)))}
              >
                {texts.delete}
              </Button>
            </span>
          ),
        ]}
      />
    </section>
  )
}

const Damaged = () => (
  <span class="state failed" title={texts.damagedIs}>
    {texts.damaged}
  </span>
)

function Automatic({ id, damaged, restore }: Props) {
  const pairs = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/backups', { params: { path: { site_id: id } } })))
  return (
    <section class="sheet">
      <h2>{texts.automatic}</h2>
      <List
        from={pairs}
        caption={texts.automatic}
        head={texts.automaticHead}
        empty={texts.noneAutomatic}
        row={({ timestamp, databaseBackupId: db, filesystemBackupId: fs }) => [
          timeOfBackup(timestamp),
          <>
            {fs === null ? texts.of.db : texts.both}
            {[fs, db].some((backup) => backup !== null && damaged.has(Number(backup))) && (
              <>
                {' '}
                <Damaged />
              </>
            )}
          </>,
          <span class="row">
            {(['fs', 'db'] as const).map((kind) => {
              const backup = { fs, db }[kind]
              return (
                backup !== null && (
                  <a
                    key={kind}
                    href={`/v1/sites/${id}/backups/${backup}`}
                    aria-label={texts.downloadOf(texts.of[kind], timeOfBackup(timestamp))}
                    download
                  >
                    {texts.download}: {texts.of[kind]}
                  </a>
                )
              )
            })}
            <Button
              of="restoreSite"
              label={texts.restoreOf(timeOfBackup(timestamp))}
              onClick={restore({ taken: timeOfBackup(timestamp), db, ...(fs !== null && { fs }) })}
            >
              {texts.restore}
            </Button>
          </span>,
        ]}
      />
    </section>
  )
}
