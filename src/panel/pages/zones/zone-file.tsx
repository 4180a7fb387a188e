import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { zonesTexts as texts } from '../../texts/zones.ts'

interface Props {
  readonly id: number
  reload(): Promise<void>
}

export const MailPart = ({ id, reload }: Props) => (
  <section class="sheet">
    <h2>{texts.mail}</h2>
    <Form
      fields={[{ name: 'provider', label: texts.provider, options: Object.entries(texts.providers) }]}
      button={texts.apply}
      submit={async ({ provider = '' }) => {
        const params = { path: { zone_id: id } }
        await ask(() => api.POST('/v1/zones/{zone_id}/providers', { params, body: { provider } }))
        told(texts.applied)
        await reload()
      }}
    >
      <p class="quiet">{texts.mailIs}</p>
    </Form>
  </section>
)

export function ZoneFilePart({ id, reload }: Props) {
  const params = { path: { zone_id: id } }
  const shown = useSignal('')
  return (
    <section class="sheet">
      <h2>{texts.file}</h2>
      <p class="quiet">{texts.fileIs}</p>
      <Button
        onClick={attempt(async () => {
          shown.value = (await ask(() => api.GET('/v1/zones/{zone_id}/file', { params }))).data
        })}
      >
        {texts.show}
      </Button>
      <Form
        key={shown.value}
        fields={[{ name: 'file', label: texts.text, type: 'textarea', value: shown.value }]}
        button={texts.import}
        submit={async ({ file = '' }) => {
          await ask(() => api.PUT('/v1/zones/{zone_id}/file', { params, body: { file } }))
          told(texts.imported)
          await reload()
        }}
      />
    </section>
  )
}
