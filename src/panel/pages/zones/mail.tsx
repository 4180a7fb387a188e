import { api, ask } from '../../api.ts'
import { Card } from '../../parts/card.tsx'
import { Form } from '../../parts/form.tsx'
import { told } from '../../parts/toasts.tsx'
import { zonesTexts as texts } from '../../texts/zones.ts'

interface Props {
  readonly id: number
  reload(): Promise<void>
}

export const MailPart = ({ id, reload }: Props) => (
  <Card class="s6" title={texts.mail}>
    <p class="quiet">{texts.mailIs}</p>
    <Form
      fields={[{ name: 'provider', label: texts.provider, options: Object.entries(texts.providers) }]}
      button={texts.apply}
      submit={async ({ provider = '' }) => {
        const params = { path: { zone_id: id } }
        await ask(() => api.POST('/v1/zones/{zone_id}/providers', { params, body: { provider } }))
        told(texts.applied)
        await reload()
      }}
    />
  </Card>
)
