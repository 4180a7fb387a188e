import { useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Callout } from '../../parts/callout.tsx'
import { Card } from '../../parts/card.tsx'
import { CopyField } from '../../parts/copy-field.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Form } from '../../parts/form.tsx'
import { HeadActions } from '../../parts/head-actions.tsx'
import { List } from '../../parts/list.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { person } from '../../session.ts'
import { sftpTexts as texts } from '../../texts/site/sftp.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'
import { connectBy, type SftpUser, useSftpUsers } from './ssh-command.ts'

/** How to connect to the files of the site, and the users who may. */
export function Sftp({ site, id }: PartProps) {
  const params = { path: { site_id: id } }
  const users = useSftpUsers(id)
  const keysOf = useSignal<string | undefined>(undefined)
  const reset = (username: string) =>
    askFirst({
      title: texts.resetOf(username),
      text: texts.resetIs,
      button: texts.reset,
      async go() {
        const path = { site_id: id, username }
        const { data } = await ask(() => api.POST('/v1/sites/{site_id}/ftp/password/{username}', { params: { path } }))
        showSecret(texts.passwordOf(username), data)
      },
    })
  const end = askFirst({
    title: texts.end,
    text: texts.endIs,
    button: texts.end,
    async go() {
      await ask(() => api.GET('/v1/sites/{site_id}/disconnect-ssh', { params }))
      told(texts.ended)
    },
  })
  return (
    <>
      <HeadActions>
        <Button icon="power" of="disconnectSsh" onClick={end}>
          {texts.end}
        </Button>
      </HeadActions>
      <Connection site={site} users={users.got.value?.data ?? []} />
      <Card title={texts.title} isFlush>
        <List
          from={users}
          caption={texts.title}
          head={texts.head}
          hiddenHeads={texts.hiddenHeads}
          columns={['wide', 'extra', 'extra', 'below']}
          sorts={sorts}
          isCards
          empty={<Empty icon="squareTerminal" title={texts.emptyTitle} text={texts.empty} />}
          row={({ username: user, email, accessed, created }) => [
            <>
              <code>{user}</code>
              <span class="sub only-phone">{email}</span>
            </>,
            email,
            accessed === created ? texts.never : timeOf(accessed),
            <span class="row nowrap wraps">
              <Button isSmall icon="lock" of="resetSftpPassword" label={texts.resetOf(user)} onClick={reset(user)}>
                {texts.reset}
              </Button>
              <Button
                isSmall
                icon="keyRound"
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
      </Card>
      {keysOf.value !== undefined && (
        <Keys
          id={id}
          user={keysOf.value}
          onClose={() => {
            keysOf.value = undefined
          }}
        />
      )}
    </>
  )
}

const sorts = [
  { key: 'user', by: ({ username }: SftpUser) => username },
  { key: 'person', by: ({ email }: SftpUser) => email },
  {
    key: 'login',
    by: ({ accessed, created }: SftpUser) => (accessed === created ? null : accessed),
    isLargestFirst: true,
  },
]

type ConnectionProps = Pick<PartProps, 'site'> & { readonly users: readonly SftpUser[] }

function Connection({ site: { name, sftpDomain }, users }: ConnectionProps) {
  const own = users.find(({ email }) => email === person.value?.email) ?? users[0]
  if (!own) return null
  const [sftp, ssh] = [connectBy('sftp', own), connectBy('ssh', own)]
  if (!sftp || !ssh) return <Callout kind="warn">{texts.off}</Callout>
  const rows = [
    [texts.host, sftpDomain],
    [texts.port, String(own.sftpPort)],
    [texts.command, sftp],
    [texts.wp, texts.wpOf(ssh)],
    [texts.exportDatabase, texts.exportTo(ssh, `${name}.sql`)],
    [texts.importDatabase, texts.importFrom(ssh, `${name}.sql`)],
  ] as const
  return (
    <Card title={texts.connection}>
      <dl class="facts">
        <dt>{texts.protocol}</dt>
        <dd>{texts.sftp}</dd>
        {rows.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              <CopyField value={value} of={name} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </Card>
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
          <Button isBad of="deleteSftpKey" label={texts.removeKey(key.name)} onClick={remove(key.id)}>
            {texts.remove}
          </Button>,
        ]}
      />
      <Form
        of="addSftpKey"
        fields={[{ name: 'public_key', label: texts.line, hint: texts.lineHint, type: 'textarea' }]}
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
