import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { sftpTexts as texts } from '../../texts/site/sftp.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

/** Who comes to the files of the site, and by what. */
export function Sftp({ site, id, act }: PartProps) {
  const params = { path: { site_id: id } }
  const users = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/ftp', { params })), [id])
  const keysOf = useSignal<string | undefined>(undefined)
  const reset = (username: string) =>
    askFirst({
      title: texts.resetOf(username),
      text: texts.resetIs,
      button: texts.reset,
      async go() {
        const path = { site_id: id, username }
        const { data } = await ask(() => api.POST('/v1/sites/{site_id}/ftp/password/{username}', { params: { path } }))
        showSecret(texts.resetOf(username), data)
      },
    })
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>{texts.title}</h2>
        <Button
          of="disconnectSsh"
          onClick={act(texts.ended, () => ask(() => api.GET('/v1/sites/{site_id}/disconnect-ssh', { params })))}
        >
          {texts.end}
        </Button>
      </div>
      <p class="quiet">{texts.how(site.sftpDomain)}</p>
      <List
        from={users}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={({ username: user, email, accessed, created }) => [
          <code>{user}</code>,
          email,
          accessed === created ? texts.never : timeOf(accessed),
          <span class="row">
            <Button of="resetSftpPassword" label={texts.resetOf(user)} onClick={reset(user)}>
              {texts.reset}
            </Button>
            <Button
              of="listSftpKeys"
              label={texts.keysOf(user)}
              onClick={() => {
                keysOf.value = user
              }}
            >
              {texts.keys}
            </Button>
          </span>,
        ]}
      />
      {keysOf.value !== undefined && (
        <Keys
          id={id}
          user={keysOf.value}
          onClose={() => {
            keysOf.value = undefined
          }}
        />
      )}
    </section>
  )
}

function Keys({ id, user, onClose }: { readonly id: number; readonly user: string; onClose(): void }) {
  const params = { path: { site_id: id, username: user } }
  const keys = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/ftp/{username}/keys', { params })))
  const remove = (key: number) =>
    attempt(async () => {
      const path = { ...params.path, id: key }
      await ask(() => api.DELETE('/v1/sites/{site_id}/ftp/{username}/keys/{id}', { params: { path } }))
      await keys.reload()
    })
  return (
    <Dialog title={texts.keysOf(user)} isWide onClose={onClose}>
      <List
        from={keys}
        caption={texts.keysOf(user)}
        head={texts.keysHead}
        empty={texts.noKeys}
        row={(key) => [
          key.name || key.type,
          <code>{key.fingerprint}</code>,
          timeOf(key.created),
          <Button of="deleteSftpKey" isBad label={texts.removeKey(key.name)} onClick={remove(key.id)}>
            {texts.remove}
          </Button>,
        ]}
      />
      <Form
        of="addSftpKey"
        fields={[{ name: 'public_key', label: texts.line, type: 'textarea' }]}
        button={texts.add}
        isEmptied
        submit={async ({ public_key = '' }) => {
          const body = { public_key: public_key.trim() }
          await ask(() => api.POST('/v1/sites/{site_id}/ftp/{username}/keys', { params, body }))
          await keys.reload()
        }}
      />
    </Dialog>
  )
}
