import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { backupsTexts as texts } from '../../texts/site/backups.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

export function Backups({ id, act }: PartProps) {
  const params = { path: { id } }
  const backups = useLoad(() => ask(() => api.GET('/v1/sites/{id}/ondemand-backups', { params })))
  const asked = useSignal<{ type: string; id: string | null } | undefined>(undefined)
  const order = (kind: 'fs' | 'db') =>
    act(texts.about[kind], async () => {
      const got = await ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params, body: { backup_type: kind } }))
      await backups.reload()
      return got
    })
  const restore = (kind: string, backup: string) =>
    act(texts.restore, () =>
      ask(() =>
        api.POST('/v1/sites/{site_id}/restores', {
          params: { path: { site_id: id } },
          body: { [kind === 'fs' ? 'filesystem_id' : 'database_id']: Number(backup) },
        }),
      ),
    )
  return (
    <section class="sheet">
      <h2>{texts.title}</h2>
      <p class="row">
        <Button onClick={order('fs')}>{texts.order.fs}</Button>
        <Button onClick={order('db')}>{texts.order.db}</Button>
      </p>
      <List
        from={backups}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={(backup) => [
          texts.of[backup.type === 'fs' ? 'fs' : 'db'],
          <span class={`state ${backup.status}`}>{backup.status}</span>,
          timeOf(new Date(backup.requested * 1000).toISOString()),
          texts.removedIn(backup.removedIn),
          backup.status === 'completed' && backup.id !== null && (
            <span class="row">
              <a href={`/v1/sites/${id}/ondemand-backups/${backup.id}/download`} download>
                {texts.download}
              </a>
              <Button isBad onClick={() => (asked.value = backup)}>
                {texts.restore}
              </Button>
            </span>
          ),
        ]}
      />
      {asked.value && (
        <Dialog title={texts.restore} onClose={() => (asked.value = undefined)}>
          <p>{texts.restoreHelp(texts.of[asked.value.type === 'fs' ? 'fs' : 'db'])}</p>
          <Form
            fields={[]}
            button={texts.restoreIt}
            isBad
            submit={async () => {
              const { type, id: backup } = asked.value ?? {}
              asked.value = undefined
              if (type && backup) restore(type, backup)()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}
