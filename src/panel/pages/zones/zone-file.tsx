import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
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

type Preview = components['schemas']['ZoneFilePreview']

export function ZoneFilePart({ id, reload }: Props) {
  const params = { path: { zone_id: id } }
  const shown = useSignal('')
  const preview = useSignal<(Preview & { readonly file: string }) | undefined>(undefined)
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
        button={texts.preview}
        submit={async ({ file = '' }) => {
          preview.value = undefined
          const got = await ask(() => api.POST('/v1/zones/{zone_id}/file/preview', { params, body: { file } }))
          preview.value = { ...got.data, file }
        }}
      />
      {preview.value && (
        <ImportPreview
          preview={preview.value}
          take={attempt(async () => {
            const { file = '' } = preview.value ?? {}
            await ask(() => api.PUT('/v1/zones/{zone_id}/file', { params, body: { file } }))
            preview.value = undefined
            told(texts.imported)
            await reload()
          })}
        />
      )}
    </section>
  )
}

/** What is taken of a file, what is not, and why. */
function ImportPreview({ preview: { taken, leftOut }, take }: { readonly preview: Preview; take(): void }) {
  const added = taken.filter(({ isNew }) => isNew).length
  return (
    <div role="status">
      <p>{texts.taken(added, taken.length - added)}</p>
      {leftOut.length > 0 && (
        <>
          <h3>{texts.leftOut(leftOut.length)}</h3>
          <ul class="findings">
            {leftOut.map(({ line, text, reason }) => (
              <li key={line}>
                {texts.lineOf(line)} <code>{text}</code>
                <p class="quiet">{reason}</p>
              </li>
            ))}
          </ul>
        </>
      )}
      {added > 0 && (
        <Button isMain onClick={take}>
          {texts.import(added)}
        </Button>
      )}
    </div>
  )
}
