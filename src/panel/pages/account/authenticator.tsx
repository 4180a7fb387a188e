import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CopyField } from '../../parts/copy-field.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { QrPicture } from '../../parts/qr-picture.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { session } from '../../session.ts'
import { accountTexts as texts } from '../../texts/account.ts'

interface Begun {
  readonly secret: string
  readonly uri: string
}

async function readAgain(): Promise<void> {
  session.value = (await ask(() => api.GET('/v1/session'))).data
}

/** Codes of an authenticator app, in addition to the password. */
export function Authenticator() {
  const begun = useSignal<Begun | undefined>(undefined)
  const codes = useSignal<readonly string[]>([])
  const isOn = session.value?.totp
  return (
    <Card title={texts.app} class="s6">
      <p>{isOn ? texts.appIsOn(session.value?.recovery_codes ?? 0) : texts.appIsOff}</p>
      {isOn ? (
        <Button
          isBad
          onClick={askFirst({
            title: texts.appOff,
            text: texts.appOffIs,
            button: texts.appOff,
            async go() {
              await ask(() => api.DELETE('/v1/totp'))
              await readAgain()
            },
          })}
        >
          {texts.appOff}
        </Button>
      ) : (
        <Button
          icon="shield"
          onClick={attempt(async () => {
            begun.value = (await ask(() => api.POST('/v1/totp'))).data
          })}
        >
          {texts.setUp}
        </Button>
      )}
      {begun.value && (
        <SetUp
          begun={begun.value}
          onClose={() => {
            begun.value = undefined
          }}
          onDone={(given) => {
            codes.value = given
            begun.value = undefined
          }}
        />
      )}
      {codes.value.length > 0 && <Codes codes={codes.value} onClose={() => (codes.value = [])} />}
    </Card>
  )
}

function SetUp(props: { readonly begun: Begun; onClose(): void; onDone(codes: readonly string[]): void }) {
  const { secret, uri } = props.begun
  return (
    <Dialog title={texts.setUp} onClose={props.onClose}>
      <p>{texts.scan}</p>
      <QrPicture text={uri} label={texts.qr} />
      <p>
        {texts.noCamera} <a href={uri}>{texts.openApp}</a>
      </p>
      <CopyField value={secret} of={texts.secret} />
      <Form
        fields={[{ name: 'code', label: texts.shownCode, autocomplete: 'one-time-code' }]}
        button={texts.appOn}
        submit={async ({ code = '' }) => {
          const { data } = await ask(() => api.PUT('/v1/totp', { body: { code } }))
          props.onDone(data.recovery_codes)
          await readAgain()
        }}
      />
    </Dialog>
  )
}

const Codes = ({ codes, onClose }: { readonly codes: readonly string[]; onClose(): void }) => (
  <Dialog title={texts.codes} onClose={onClose}>
    <p>{texts.codesHelp}</p>
    <CopyField value={codes.join('\n')} of={texts.codes} />
  </Dialog>
)
