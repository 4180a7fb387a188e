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
  const restore = (from: RestoreFrom) => () => {
    asked.value = from
  }
  return (
    <>
      <OnDemand {...props} restore={restore} />
      <Automatic {...props} restore={restore} />
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

type Props = PartProps & { restore(from: RestoreFrom): () => void }

function OnDemand({ id, act, restore }: Props) {
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
          <span class={`state ${status}`}>{status}</span>,
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

function Automatic({ id, restore }: Props) {
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
          fs === null ? texts.of.db : texts.both,
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
